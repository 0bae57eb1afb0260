public import ControlAPI
import LanyardClient

extension Lanyard {
    /// Attaches bytes to an object as they come; durable on return, and on its way to the other devices.
    ///
    /// What is attached never changes, and equal bytes are kept and sent once. The object must have been saved: throws
    /// `not_found`, `object_deleted`, `quota_exceeded`, `disk_full`, and the errors of `bytes`; nothing is attached then. It is not
    /// repeated when the agent stops.
    ///
    /// - Parameters:
    ///   - name: the file's name; may be empty.
    ///   - mediaType: type and subtype; nil: by content.
    ///   - size: the number of bytes, if it is known: then too much is refused before a byte is read.
    @discardableResult
    public func attach<Object: LanyardObject, Chunks: AsyncSequence & Sendable>(
        _ bytes: Chunks, to object: Object, name: String = "", mediaType: String? = nil, size: UInt64? = nil
    ) async throws -> AttachmentEntry where Chunks.Element == [UInt8] {
        let owner = try LanyardTransaction.name(object)
        return try await client.attach(
            bytes, AttachRequest(to: owner, space: space, name: name, mediaType: mediaType, size: size))
    }

    /// The same with bytes in memory.
    @discardableResult
    public func attach<Object: LanyardObject>(
        _ bytes: [UInt8], to object: Object, name: String = "", mediaType: String? = nil
    ) async throws -> AttachmentEntry {
        let chunks = AsyncStream { continuation in
            continuation.yield(bytes)
            continuation.finish()
        }
        return try await attach(chunks, to: object, name: name, mediaType: mediaType, size: UInt64(bytes.count))
    }

    /// Attaches a file.
    ///
    /// - Parameter name: the name to attach it under; nil: that of the file.
    @discardableResult
    public func attach<Object: LanyardObject>(
        file path: String, to object: Object, name: String? = nil, mediaType: String? = nil
    ) async throws -> AttachmentEntry {
        let file = try FileReading(path)
        let own = path.split(separator: "/").last.map(String.init) ?? ""
        return try await attach(file, to: object, name: name ?? own, mediaType: mediaType, size: file.size)
    }

    /// The attachments of all objects of a type, newest first.
    public func attachments<Object: LanyardObject>(
        of type: Object.Type
    ) async throws(ControlError) -> [ObjectID: [AttachmentEntry]] {
        var found: [ObjectID: [AttachmentEntry]] = [:]
        do {
            try await client.listAttachments(space: space) { entries in
                for entry in entries {
                    let owner = try ObjectName(parsing: entry.owner)
                    if owner.collection == Object.collection { found[ObjectID(owner.id), default: []].append(entry) }
                }
            }
        } catch let error as ControlError { throw error } catch { throw .unexpected(error) }
        return found
    }

    /// The attachments of an object, newest first.
    public func attachments<Object: LanyardObject>(of object: Object) async throws(ControlError) -> [AttachmentEntry] {
        let owner = try LanyardTransaction.name(object)
        var found: [AttachmentEntry] = []
        do {
            try await client.listAttachments(of: owner, space: space) { found += $0 }
        } catch let error as ControlError { throw error } catch { throw .unexpected(error) }
        return found
    }

    /// The bytes of an attachment, in order; each was checked by the agent. Bytes that are not on this machine are fetched first.
    ///
    /// Throws `nobody_has` where no connected device has them, and `damaged`, also in the middle: then what came is not all. If the
    /// agent stops, it throws `connection_lost`; another call fetches what is lacking still.
    ///
    /// - Parameter progress: is told how far the fetching is, a few times a second, and at its end.
    public func bytes(
        of attachment: AttachmentEntry, progress: @escaping @Sendable (ByteProgress) -> Void = { _ in }
    ) -> PulledSequence<[UInt8]> {
        PulledSequence { give in
            if attachment.state != .present {
                _ = try await client.fetch(attachment.record.id, space: space) { progress($0) }
                let size = attachment.record.size
                progress(ByteProgress(doneBytes: size, totalBytes: size, bytesPerSecond: 0))
            }
            try await client.readAttachment(attachment.record.id, space: space) { try await give($0) }
        }
    }

    /// Writes the bytes of an attachment to a file, which is there whole or not at all, and durable. See
    /// ``bytes(of:progress:)``.
    public func write(
        _ attachment: AttachmentEntry, to path: String,
        progress: @escaping @Sendable (ByteProgress) -> Void = { _ in }
    ) async throws {
        let file = try FileWriting(path)
        for try await chunk in bytes(of: attachment, progress: progress) { try await file.append(chunk) }
        try await file.finish()
    }

    /// Takes an attachment off its object, on every device. Returns false when it was off already.
    @discardableResult
    public func detach(_ attachment: AttachmentEntry) async throws(ControlError) -> Bool {
        try await client.detach(attachment.record.id, space: space)
    }
}
