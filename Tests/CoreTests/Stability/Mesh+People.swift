import SyncModel
import SyncSimulator
import SyncStore
import Testing

// What people write on the machines of a mesh, and what they see there.
extension Mesh {
    static let note = ObjectKey(collection: "note", id: "1")

    static func key(_ id: String) -> ObjectKey { ObjectKey(collection: "note", id: ExactString(id)) }

    @discardableResult
    mutating func put(_ node: Int, _ title: String) throws -> Result<WriteOutcome, WriteRefusal> {
        try put(node, Self.note, title)
    }

    @discardableResult
    mutating func put(_ node: Int, _ key: ObjectKey, _ title: String) throws -> Result<WriteOutcome, WriteRefusal> {
        let fields = [JSONValue.Member(key: "title", value: .string(ExactString(title)))]
        return try append(node, .planned([.put(key, .init(fields: fields))]))
    }

    /// Counts one up on an object that the first to do so begins.
    /// - Returns: whether that was taken.
    @discardableResult
    mutating func count(_ node: Int, _ name: String) throws -> Bool {
        let edit = FieldEdit(path: [ExactString(name)], action: .increment(1))
        let outcome = try append(
            node, .planned([.edit(Self.key("counts"), [edit], .init(creating: true))]))
        if case .success = outcome { return true }
        return false
    }

    /// Returns the sum of each counter over all lives of the object `counts`.
    func counts(_ node: Int) throws -> [String: Int64] {
        guard let object = try nodes[node].store.object(Self.key("counts"), space: .home) else { return [:] }
        var counts: [String: Int64] = [:]
        for life in object.state.lives.lives {
            let fields = object.state.fields(of: life.birth) ?? ObjectFields()
            for name in fields.keys { counts[name.string, default: 0] += fields.state(of: name).counter.value }
        }
        return counts
    }

    mutating func delete(_ node: Int, _ key: ObjectKey = note) throws {
        try append(node, .planned([.delete(key, ifVersion: nil)]))
    }

    /// Appends an event.
    mutating func say(_ node: Int, _ body: String) throws {
        let payload = Array("\"\(body)\"".utf8)
        try append(node, .operations([.appendEvent(.init(stream: "log", type: nil, payload: payload))]))
    }

    /// The bodies of all events, sorted.
    func said(_ node: Int) throws -> [String] {
        try nodes[node].store.events(
            EventQuery(space: .home, stream: "log", order: .arrival(after: 0), limit: 10_000, byteBudget: .max)
        ).map { String(decoding: $0.payload.dropFirst().dropLast(), as: UTF8.self) }.sorted()
    }

    mutating func setPolicy(_ node: Int, _ policy: String) throws {
        let wish = JSONValue.object([
            JSONValue.Member(key: "deletePolicy", value: .string(ExactString(policy)))
        ])
        try append(node, .planned([.setSchema("note", wish)]))
    }

    mutating func retire(_ node: Int, _ other: Int) throws {
        try append(node, .retire(nodes[other].device.id))
    }

    /// Returns the titles that the note shows, those written concurrently included.
    func titles(_ node: Int, _ key: ObjectKey = note) throws -> [String] {
        guard let object = try nodes[node].store.object(key, space: .home),
            case .live(let births) = object.state.judgement
        else { return [] }
        return births.flatMap { birth in
            object.state.fields(of: birth)?["title"]?.register.values.compactMap { value -> String? in
                if case .string(let text) = value { text.string } else { nil }
            } ?? []
        }
    }

    func standing(_ node: Int, _ key: ObjectKey = note) throws -> ObjectStanding {
        try nodes[node].store.object(key, space: .home)?.summary.standing ?? .nothing
    }

    func kept(_ node: Int) throws -> Int64 { try nodes[node].store.state().counts.deletedObjects }

    func digests() throws -> Set<Sum256> {
        for node in nodes { #expect(try node.store.recomputedDigest(of: .home) == node.store.state().digest) }
        return Set(try nodes.map { try $0.store.state().digest })
    }
}
