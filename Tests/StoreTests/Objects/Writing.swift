import LawHistories
import SyncModel
import SyncStore
import Testing

// Objects in the words of a test: `COLLECTION/ID` and JSON texts.

extension ObjectKey {
    init(_ name: String) {
        let parts = name.split(separator: "/", maxSplits: 1).map { ExactString(String($0)) }
        self.init(collection: parts[0], id: parts[1])
    }
}

extension JSONValue {
    init(json text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        do throws(JSONValueError) { self = try JSONValue(text: text) } catch {
            Issue.record("\(text) is no JSON: \(error)", sourceLocation: sourceLocation)
            self = .null
        }
    }

    var members: [Member] {
        guard case .object(let members) = self else { return [] }
        return members
    }
}

extension ObjectWrite {
    static func putting(
        _ name: String, _ fields: String, replacing: Bool = false, ifVersion: Dot? = nil, ifAbsent: Bool = false
    ) -> ObjectWrite {
        .put(
            ObjectKey(name),
            Put(fields: JSONValue(json: fields).members, replacing: replacing, ifVersion: ifVersion, ifAbsent: ifAbsent)
        )
    }

    static func editing(
        _ name: String, _ path: String, _ action: FieldEdit.Action, creating: Bool = false, ifVersion: Dot? = nil
    ) -> ObjectWrite {
        let keys = path.split(separator: "/").map { ExactString(String($0)) }
        return .edit(
            ObjectKey(name), [FieldEdit(path: keys, action: action)],
            EditOptions(creating: creating, ifVersion: ifVersion))
    }

    static func deleting(_ name: String, ifVersion: Dot? = nil) -> ObjectWrite {
        .delete(ObjectKey(name), ifVersion: ifVersion)
    }

    static func resolving(_ name: String, _ resolution: Resolution) -> ObjectWrite {
        .resolve(ObjectKey(name), resolution)
    }

    static func attaching(_ file: ExactString, to name: String) -> ObjectWrite {
        .attach(ObjectKey(name), .named(file))
    }

    static func detaching(_ attachment: Dot, from name: String) -> ObjectWrite {
        .detach(ObjectKey(name), attachment: attachment)
    }

    static func schema(_ collection: String, _ wish: String) -> ObjectWrite {
        .setSchema(ExactString(collection), JSONValue(json: wish))
    }
}

extension SQLiteStore {
    /// One change.
    @discardableResult
    func write(_ writes: ObjectWrite..., at wallMilliseconds: Int64 = 1_000) throws -> WriteOutcome {
        try write(writes, at: wallMilliseconds)
    }

    @discardableResult
    func write(_ writes: [ObjectWrite], at wallMilliseconds: Int64) throws -> WriteOutcome {
        let result = try append([.planned(writes)], wallMilliseconds: wallMilliseconds)
        return try #require(result.outcomes.first).get()
    }

    /// Why one change with these writes is refused; nil when it is not.
    func refusal(of writes: ObjectWrite...) throws -> WriteRefusal? {
        let result = try append([.planned(writes)], wallMilliseconds: 1_000)
        guard case .failure(let refusal) = try #require(result.outcomes.first) else { return nil }
        return refusal
    }

    func object(_ name: String) throws -> StoredObject? { try object(ObjectKey(name), space: .home) }

    /// What a reader sees of it; nil when it is not live. References count whether they are live or not.
    func json(_ name: String) throws -> JSONValue? {
        guard let object = try object(name), object.summary.standing == .live else { return nil }
        let schema = try schema(of: object.key.collection, space: .home)
        return object.reading(schema, isLive: { _ in true }).json
    }

    /// Newest first.
    func attachments(
        _ selection: AttachmentQuery.Selection = .all, after: CanonicalKey? = nil, limit: Int = .max
    ) throws -> [StoredAttachment] {
        try attachments(AttachmentQuery(space: .home, selection, after: after, limit: limit))
    }

    /// What is attached to an object is called, newest first.
    func attached(to name: String) throws -> [String] {
        try attachments(.ofObject(ObjectKey(name))).map(\.attachment.file.name.string)
    }

    func reference(to file: ExactString) throws -> BlobReference? {
        try reference(to: AttachedFile.named(file).blob, space: .home)
    }

    func find(
        _ collection: String?, _ selection: ObjectQuery.Selection = .standing(.live), where field: String? = nil,
        is value: JSONValue = .null, after: String? = nil, limit: Int = .max
    ) throws -> [String] {
        let condition = field.map { name in
            ObjectQuery.Condition.compare(name.split(separator: "/").map { ExactString(String($0)) }, .equal, value)
        }
        return try objects(
            ObjectQuery(
                space: .home, collection: collection.map { ExactString($0) }, selection: selection,
                condition: condition, after: after.map { ObjectKey($0) }, limit: limit)
        ).map { "\($0.key)" }
    }
}
