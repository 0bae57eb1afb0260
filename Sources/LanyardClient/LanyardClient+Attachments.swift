public import ControlAPI

/// A file that is to be attached, and its description.
public struct AttachRequest: Sendable {
    /// The object to attach it to.
    public var owner: ObjectName
    /// The space of the object.
    public var space: String
    /// The file name; may be empty.
    public var name: String
    /// Type, slash, subtype; nil: by content.
    public var mediaType: String?
    /// The size in bytes; nil if unknown before the end. With it, a file that has no room is refused before a byte is read.
    public var size: UInt64?

    /// A request to attach something to `owner`.
    public init(
        to owner: ObjectName, space: String = "home", name: String = "", mediaType: String? = nil, size: UInt64? = nil
    ) {
        self.owner = owner
        self.space = space
        self.name = name
        self.mediaType = mediaType
        self.size = size
    }

    /// The same for bytes that the node has: `source` is their hash, or an attachment with them.
    fileprivate func request(from source: String) -> ClientRequest {
        var request = ClientRequest(.POST, object: owner, space: space)
        request.path += "/attachments"
        request.query = [("name", name.isEmpty ? nil : name), ("type", mediaType), ("from", source)]
        return request
    }

    fileprivate var request: ClientRequest {
        var request = ClientRequest(.POST, object: owner, space: space)
        request.path += "/attachments"
        request.query = [("name", name.isEmpty ? nil : name), ("type", mediaType)]
        request.contentType = "application/octet-stream"
        request.streamedBytes = size
        request.awaitsAdmission = true
        return request
    }
}

extension LanyardClient {
    // MARK: Attachments: records

    /// Calls `body` with batches of attachments, newest first: of an object, or of a whole space.
    public func listAttachments(
        of owner: ObjectName? = nil, limit: Int? = nil, space: String = "home",
        _ body: ([AttachmentEntry]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space))
        if let owner { request = ClientRequest(.GET, object: owner, space: space) }
        request.path += "/attachments"
        request.query = [("limit", limit.map(String.init))]
        try await readLines(request, body)
    }

    /// Returns an attachment, by its id or a beginning of it that no other has. Throws `unknown_attachment`,
    /// `ambiguous_attachment`.
    public func attachment(_ id: String, space: String = "home") async throws(ControlError) -> AttachmentEntry {
        try await value(ClientRequest(.GET, attachment: id, space: space))
    }

    /// Takes an attachment off its object. False when it was off already; then nothing is written.
    @discardableResult
    public func detach(_ id: String, space: String = "home") async throws(ControlError) -> Bool {
        let answer: DetachedResponse = try await value(ClientRequest(.DELETE, attachment: id, space: space))
        return answer.detached
    }

    /// Pins or unpins: a pinned attachment is fetched and kept on this node, whatever the policy of the space.
    public func setPinned(
        _ isPinned: Bool, _ id: String, space: String = "home"
    ) async throws(ControlError) -> AttachmentEntry {
        try await value(ClientRequest(isPinned ? .PUT : .DELETE, attachment: id, "/pin", space: space))
    }

    // MARK: Attachments: bytes

    /// Attaches `chunks`, which are asked for only once the agent has room for them, and then as fast as they are written to
    /// disk. Durable on return.
    ///
    /// Throws the errors of `chunks`; nothing is attached then.
    public func attach<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, _ attaching: AttachRequest
    ) async throws -> AttachmentEntry where Chunks.Element == [UInt8] {
        try ControlError.checkAttachmentName(attaching.name)
        if let size = attaching.size, size > ControlLimits.attachmentBytes { throw ControlError.attachmentTooLarge }
        return try await withCaller { connection in
            try await connection.check(try await connection.send(try keyed(attaching.request), chunks: chunks))
            return try JSONDecoding.value(
                AttachmentEntry.self, from: try await connection.collect(), unknownKeys: .ignore)
        }
    }

    /// Attaches bytes that this node has, also those that were detached and are not cleaned up yet: `source` is their hash,
    /// or another attachment, whose name and type are taken where `attaching` has none. Throws `not_found` where they are
    /// not on this node.
    public func attach(
        from source: String, _ attaching: AttachRequest
    ) async throws(ControlError) -> AttachmentEntry {
        try ControlError.checkAttachmentName(attaching.name)
        return try await value(attaching.request(from: source))
    }

    /// Brings the bytes to this node, if they are not here. `progress` is told how far it is, a few times a second.
    /// What came stays, also when this is cancelled. Throws `nobody_has`.
    public func fetch(
        _ id: String, space: String = "home", progress: (ByteProgress) async throws -> Void = { _ in }
    ) async throws -> AttachmentEntry {
        try await result(of: ClientRequest(.POST, attachment: id, "/fetch", space: space), progress)
    }

    /// Calls `body` with the bytes, in order; each was checked by the agent. A slow `body` holds back the agent.
    ///
    /// Throws `not_found` where they are not on this node, `damaged` also in the middle: then what came is not all.
    public func readAttachment(
        _ id: String, space: String = "home", _ body: ([UInt8]) async throws -> Void
    ) async throws {
        let request = ClientRequest(.GET, attachment: id, "/content", space: space)
        let isWhole = try await withCaller { connection in
            let head = try await connection.send(request)
            try await connection.check(head)
            var rest = head.first(name: "Content-Length").flatMap { UInt64($0) } ?? 0
            while rest > 0, let chunk = try await connection.nextBodyChunk() {
                rest -= min(rest, UInt64(chunk.count))
                try await ClientConnection.handing { try await body(chunk) }
            }
            return rest == 0
        }
        if isWhole { return }
        // What an agent finds damaged counts as missing from then on.
        guard try await attachment(id, space: space).state == .present else { throw ControlError.attachmentDamaged }
        throw ClientConnection.lost
    }

    // MARK: Spaces

    /// Returns the attachment policy of this node for each space.
    public func spaces() async throws(ControlError) -> [SpaceEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces"))
    }

    /// Sets this node's attachment policy for a space; settings that are nil stay as they are.
    public func setSpace(_ space: String, _ settings: SpaceSettings) async throws(ControlError) -> SpaceEntry {
        try await value(ClientRequest(.PUT, "v1", "spaces", .name(space)), body: settings)
    }

    /// Removes the bytes that no attachment needs any more, for longer than a day.
    public func compact() async throws(ControlError) -> CompactResponse {
        try await value(ClientRequest(.POST, "v1", "compact"))
    }

    // MARK: What takes a while

    /// The last line of a stream of `ProgressLine`s.
    func result<Value: Codable & Sendable>(
        of request: ClientRequest, _ progress: (ByteProgress) async throws -> Void
    ) async throws -> Value {
        let result = try await readLines(of: request) { lines -> Value? in
            for line in lines {
                switch try JSONDecoding.value(ProgressLine<Value>.self, from: line, unknownKeys: .ignore) {
                case .progress(let now): try await ClientConnection.handing { try await progress(now) }
                case .result(let value): return value
                }
            }
            return nil
        }
        guard let result else { throw ClientConnection.lost }
        return result
    }
}

extension ClientRequest {
    fileprivate init(_ method: HTTPMethod, attachment id: String, _ rest: String = "", space: String) {
        self.init(method, "v1", "spaces", .name(space), "attachments", .name(id))
        path += rest
    }
}
