import SyncModel

/// A node with one object, that writes as an application asks and hears of others: a store without storage.
struct Desk {
    struct Entry {
        let origin: Origin
        let operation: Operation
    }

    static let key = ObjectKey(collection: "notes", id: "one")

    let replica: ReplicaID
    private(set) var object = ObjectState()
    private(set) var localFields: [JSONValue.Member] = []
    private(set) var version: Dot?
    private(set) var members = MemberFacts()
    private(set) var log: [Entry] = []
    private var held = VersionVector()
    private var stamp = Stamp.zero
    var schema: CollectionSchema?

    init(_ number: Int, schema: CollectionSchema? = nil) {
        replica = Self.replica(number)
        self.schema = schema
    }

    private static func replica(_ number: Int) -> ReplicaID {
        let device = DeviceID(bytes: [UInt8](repeating: UInt8(number + 1), count: DeviceID.byteCount))!
        return ReplicaID(device: device, incarnation: 7)
    }

    /// Nodes that were told of each other before anything else.
    static func among(_ count: Int, schema: CollectionSchema? = nil) -> [Desk] {
        var desks = (0..<count).map { Desk($0, schema: schema) }
        for index in desks.indices {
            for number in 0..<count {
                let author = replica((number + 1) % count)
                desks[index].members.add(replica(number).device, role: .writer, at: Dot(replica: author, counter: 0))
                desks[index].held.advance(author, to: 1)
            }
        }
        return desks
    }

    // MARK: Writing

    var origin: Origin {
        let next = Dot(replica: replica, counter: held.next(of: replica))
        guard let stamp = Stamp.next(after: stamp, wallMilliseconds: 1_000) else {
            preconditionFailure("a test's clock does not run out")
        }
        return Origin(dot: next, stamp: stamp, context: held)
    }

    func plan(_ write: ObjectWrite) throws(ObjectRefusal) -> PlannedWrite {
        let planner = ObjectPlanner(
            Self.key, object, localFields: localFields, version: version, schema: schema, origin: origin,
            members: members)
        return try planner.plan(write) ?? PlannedWrite()
    }

    @discardableResult
    mutating func write(_ write: ObjectWrite) throws(ObjectRefusal) -> PlannedWrite {
        let written = try plan(write)
        var origin = origin
        for operation in written.operations {
            take(Entry(origin: origin, operation: operation))
            origin = origin.advanced(by: operation.span)
        }
        if let fields = written.localFields { localFields = fields }
        return written
    }

    private mutating func take(_ entry: Entry) {
        guard let (_, action) = entry.operation.objectAction else {
            preconditionFailure("a write to an object comes to operations on it")
        }
        let outcome = object.apply(action, at: entry.origin, wallMilliseconds: 0, members: members) { [] }
        if case .applied = outcome { version = entry.origin.advanced(by: entry.operation.span - 1).dot }
        held.advance(entry.origin.dot.replica, to: entry.origin.dot.counter + entry.operation.span)
        stamp = max(stamp, entry.origin.stamp)
        log.append(entry)
    }

    /// Everything the other holds.
    mutating func hear(_ other: Desk) {
        for entry in other.log where !held.covers(entry.origin.dot) { take(entry) }
    }

    /// Holds what the other wrote from this counter on, of which it counts nothing: the other was revoked.
    mutating func hold(_ other: Desk, from end: UInt64) {
        for entry in other.log where entry.origin.dot.replica == other.replica && !held.covers(entry.origin.dot) {
            guard entry.origin.dot.counter >= end else { continue }
            held.advance(other.replica, to: entry.origin.dot.counter + entry.operation.span)
            stamp = max(stamp, entry.origin.stamp)
            log.append(entry)
        }
    }

    // MARK: Reading

    var reading: ObjectReading { ObjectReading(object, schema: schema) { _ in true } }

    /// What an application reads: shipped and local fields; nil when there is no object.
    var json: JSONValue? {
        guard case .live = object.judgement else { return nil }
        let local = Set(localFields.map(\.key))
        return try? .members(reading.fields.filter { !local.contains($0.key) } + localFields)
    }
}

// MARK: Saying what to write

extension Desk {
    @discardableResult
    mutating func put(
        _ json: String, replacing: Bool = false, ifVersion: Dot? = nil, ifAbsent: Bool = false
    ) throws -> PlannedWrite {
        try write(
            .put(
                Self.key,
                ObjectWrite.Put(
                    fields: try JSONValue(text: json).members, replacing: replacing, ifVersion: ifVersion,
                    ifAbsent: ifAbsent)))
    }

    @discardableResult
    mutating func edit(_ path: String, _ action: FieldEdit.Action, creating: Bool = false) throws -> PlannedWrite {
        try edit([(path, action)], creating: creating)
    }

    @discardableResult
    mutating func edit(_ edits: [(String, FieldEdit.Action)], creating: Bool = false) throws -> PlannedWrite {
        try write(
            .edit(
                Self.key, edits.map { FieldEdit(path: $0.0.keys, action: $0.1) },
                ObjectWrite.EditOptions(creating: creating)))
    }

    @discardableResult
    mutating func delete(ifVersion: Dot? = nil) throws -> PlannedWrite {
        try write(.delete(Self.key, ifVersion: ifVersion))
    }

    @discardableResult
    mutating func resolve(_ resolution: ObjectWrite.Resolution) throws -> PlannedWrite {
        try write(.resolve(Self.key, resolution))
    }
}

extension String {
    var keys: [ExactString] { split(separator: "/", omittingEmptySubsequences: false).map { ExactString(String($0)) } }
}

extension JSONValue {
    var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }
}

extension CollectionSchema {
    /// As somebody set it once.
    init(_ json: String) throws {
        self.init()
        let edit = try setting(try JSONValue(text: json), collection: "notes")
        let author = Desk(200).replica
        let origin = Origin(dot: Dot(replica: author, counter: 0), stamp: .zero, context: VersionVector())
        if let edit { apply(edit, at: origin) }
    }
}

extension PlannedWrite {
    /// The edits of fields, of all lives.
    var edits: [ObjectFields.Operation] {
        var edits: [ObjectFields.Operation] = []
        for case .editObject(let edit) in operations { edits += edit.edits }
        return edits
    }
}
