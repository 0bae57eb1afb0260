public import ControlAPI

extension LanyardClient {
    // MARK: Writing objects

    /// Creates or changes an object by the least edits, and returns it as it is then; it is durable.
    ///
    /// Fields that are not named stay, unless `put.replace`. Without an id the agent makes a fresh one. Throws
    /// `version_mismatch` (with the current version), `already_exists`, `object_deleted`, `type_mismatch` and others.
    public func put(_ put: ObjectPut, space: String = "home") async throws(ControlError) -> ObjectEntry {
        var request = ClientRequest(
            put.id == nil ? .POST : .PUT, objects: put.collection, id: put.id, space: space)
        request.query = [("replace", put.replace ? "true" : nil)] + put.condition.query
        request.body = put.fields.bytes
        return try await value(request)
    }

    /// Puts each line of `chunks` as an object of its own, in groups as they come. The chunks may end anywhere.
    ///
    /// A line is a JSON object of fields; its member `id`, if there is one, names the object and is not a field. A line as
    /// `ObjectEntry` is written is taken as that object. Returns when all are durable. At a line that is refused it stops;
    /// the error has its number (`line`) and how many were written before it (`written`), which stay.
    public func putLines<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks, to collection: String, replace: Bool = false, ifAbsent: Bool = false,
        space: String = "home"
    ) async throws -> EmitResponse where Chunks.Element == [UInt8] {
        var request = ClientRequest(.POST, objects: collection, id: nil, space: space)
        request.query = [("replace", replace ? "true" : nil), ("ifAbsent", ifAbsent ? "true" : nil)]
        request.contentType = ContentType.lines
        return try await withCaller { connection in
            try await connection.check(try await connection.send(try keyed(request), chunks: chunks))
            return try JSONDecoding.value(
                EmitResponse.self, from: try await connection.collect(), unknownKeys: .ignore)
        }
    }

    /// Edits an object and returns it as it is then; all of the edits are done, or none.
    public func edit(_ edit: ObjectEdit, space: String = "home") async throws(ControlError) -> ObjectEntry {
        try await value(Self.request(edit, space), body: edit.operations)
    }

    /// Edits an object without being shown it: what an editor asks for at every keystroke in a long text.
    public func editBriefly(_ edit: ObjectEdit, space: String = "home") async throws(ControlError) -> ObjectVersion {
        var request = Self.request(edit, space)
        request.query.append(("brief", "true"))
        return try await value(request, body: edit.operations)
    }

    private static func request(_ edit: ObjectEdit, _ space: String) -> ClientRequest {
        var request = ClientRequest(.PATCH, object: edit.name, space: space)
        request.query =
            [("create", edit.create ? "true" : nil), ("wholeCharacters", edit.wholeCharacters ? "true" : nil)]
            + edit.condition.query
        return request
    }

    /// Deletes an object everywhere. False when there was nothing to delete; then nothing is written.
    @discardableResult
    public func delete(
        _ name: ObjectName, ifVersion: DotText? = nil, space: String = "home"
    ) async throws(ControlError) -> Bool {
        var request = ClientRequest(.DELETE, object: name, space: space)
        request.query = [("ifVersion", ifVersion?.description)]
        let answer: DeletedResponse = try await value(request)
        return answer.deleted
    }

    /// Several writes as one change: all are done, or none.
    public func perform(_ transaction: Transaction) async throws(ControlError) -> TransactionResponse {
        try await value(ClientRequest(.POST, "v1", "transactions"), body: transaction)
    }

    // MARK: Reading objects

    /// An object as it is, or as the author of an earlier version left it. Throws `not_found`.
    public func object(
        _ name: ObjectName, at version: DotText? = nil, space: String = "home"
    ) async throws(ControlError) -> ObjectEntry {
        var request = ClientRequest(.GET, object: name, space: space)
        request.query = [("at", version?.description)]
        return try await value(request)
    }

    /// Calls `body` with batches of the objects of a collection for which the condition holds, by id or in another order. A
    /// slow `body` slows down the agent's reading, nothing piles up.
    ///
    /// - Parameter after: the id of an object of the list; the list begins behind it.
    public func listObjects(
        _ collection: String, where condition: ObjectCondition? = nil, order: ListOrder = ListOrder(),
        after: String? = nil, limit: Int? = nil, space: String = "home",
        _ body: ([ObjectEntry]) async throws -> Void
    ) async throws {
        try condition?.check()
        var request = ClientRequest(.GET, objects: collection, id: nil, space: space)
        request.query =
            order.query + [
                ("where", condition?.text), ("after", after.map { "\(collection)/\($0)" }),
                ("limit", limit.map(String.init)),
            ]
        try await readLines(request, body)
    }

    /// Returns the number of objects of a collection for which the condition holds, and what it took to find them. With an
    /// order it is that of the list which `listObjects` gives up to the limit. A limit without an order is refused.
    public func countObjects(
        _ collection: String, where condition: ObjectCondition? = nil, order: ListOrder = ListOrder(),
        limit: Int? = nil, space: String = "home"
    ) async throws(ControlError) -> ObjectCount {
        try condition?.check()
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "collections", .name(collection), "count")
        request.query = order.query + [("where", condition?.text), ("limit", limit.map(String.init))]
        return try await value(request)
    }

    /// Calls `body` with batches of the records of deletions that this node keeps, by collection and id.
    public func listDeletedObjects(
        of collection: String? = nil, limit: Int? = nil, space: String = "home",
        _ body: ([DeletedEntry]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "deleted")
        request.query = [("collection", collection), ("limit", limit.map(String.init))]
        try await readLines(request, body)
    }

    /// Calls `body` with batches of an object's history, oldest first; of one field, or of all.
    public func readHistory(
        of name: ObjectName, field: FieldPath? = nil, limit: Int? = nil, space: String = "home",
        _ body: ([HistoryEntry]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, object: name, space: space)
        request.path += "/history"
        request.query = [("field", field?.description), ("limit", limit.map(String.init))]
        try await readLines(request, body)
    }

    /// Calls `body` with batches of the authors of a field's parts, in the order in which the parts are shown; now, or at a
    /// version. Throws `unknown_field` if the field has no value there.
    public func readBlame(
        of name: ObjectName, field: FieldPath, at version: DotText? = nil, space: String = "home",
        _ body: ([BlameEntry]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, object: name, space: space)
        request.path += "/blame"
        request.query = [("field", field.description), ("at", version?.description)]
        try await readLines(request, body)
    }

    /// Returns the fields in which two versions of an object differ, or version `from` and now. Throws `not_found` for a
    /// version that is not one of the object's, `unknown_field` for a field that it has at neither.
    public func difference(
        of name: ObjectName, from: DotText, at version: DotText? = nil, field: FieldPath? = nil, space: String = "home"
    ) async throws(ControlError) -> [DifferenceEntry] {
        var request = ClientRequest(.GET, object: name, space: space)
        request.path += "/difference"
        request.query = [("from", from.description), ("at", version?.description), ("field", field?.description)]
        return try await value(request)
    }

    func readLines<Entry: Decodable & Sendable>(
        _ request: ClientRequest, _ body: ([Entry]) async throws -> Void
    ) async throws {
        try await readLines(of: request) { lines -> Never? in
            var entries: [Entry] = []
            for line in lines {
                entries.append(try JSONDecoding.value(Entry.self, from: line, unknownKeys: .ignore))
            }
            if !entries.isEmpty { try await ClientConnection.handing { try await body(entries) } }
            return nil
        }
    }
}

extension ClientRequest {
    init(_ method: HTTPMethod, objects collection: String, id: String?, space: String) {
        self.init(method, "v1", "spaces", .name(space), "collections", .name(collection), "objects")
        if let id { path += "/" + PercentEncoding.encode(id) }
    }

    init(_ method: HTTPMethod, object name: ObjectName, space: String) {
        self.init(method, objects: name.collection, id: name.id, space: space)
    }
}

extension ListOrder {
    var query: [(key: String, value: String?)] {
        steps.map { ("sort", $0.text) } + [("reverse", reverse ? "true" : nil)]
    }
}

extension WriteCondition {
    fileprivate var query: [(key: String, value: String?)] {
        switch self {
        case .none: []
        case .version(let version): [("ifVersion", version.description)]
        case .absent: [("ifAbsent", "true")]
        }
    }
}
