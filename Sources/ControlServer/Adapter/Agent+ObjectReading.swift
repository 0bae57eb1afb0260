package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

private typealias StoreQuery = SyncStore.ObjectQuery

// Reading objects.
extension Agent {
    /// Returns the object with the schema as it is now, and without references to objects that are not live now.
    func entry(of object: StoredObject) throws(ControlError) -> ObjectEntry {
        var reader = ObjectReader(store)
        return try read { () throws(StoreError) in try reader.entry(object) }
    }

    /// Returns the object as readers see it now. Throws the error that says why it is not shown.
    func shownObject(_ name: ObjectName) throws(ControlError) -> StoredObject {
        let object = try read { () throws(StoreError) in try store.shownObject(ObjectKey(name), space: .home) }
        switch object?.summary.standing {
        case .nothing, nil: throw .noObject
        case .deleted: throw .objectGone
        case .undecided: throw .undecided
        case .live: break
        }
        guard let object else { throw .noObject }
        return object
    }

    /// Returns the object. Throws `not_found`; `object_incomplete` when its state cannot be served now; `undecided` while it is
    /// hidden until a user decides.
    package func object(space: String, _ name: ObjectName) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        do throws(ControlError) {
            return try await reading { () throws(ControlError) in try entry(of: name) }
        } catch {
            throw try await explained(error, name)
        }
    }

    /// Returns the error; where nothing else is known of the object than work that counts nowhere, one that says so.
    private func explained(_ error: ControlError, _ name: ObjectName) async throws(ControlError) -> ControlError {
        guard error == .noObject else { return error }
        let authors = try await stored { () throws(StoreError) in
            try store.authorsOfVoidWork(on: ObjectKey(name), space: .home)
        }
        guard let author = authors.first else { return error }
        let now = try await controlled { try await snapshot() }
        return .workCountsNowhere(now.shownName(of: author), now.typedWord(for: author))
    }

    /// The object as readers see it now, with the state of its attachments.
    func entry(of name: ObjectName) throws(ControlError) -> ObjectEntry {
        let object = try shownObject(name)
        var entry = try entry(of: object)
        let attached = object.state.shownAttachments.newestFirst
        guard !attached.isEmpty else { return entry }
        entry.attachments = try attached.map { attachment throws(ControlError) in
            try self.entry(of: StoredAttachment(owner: object.key, attachment: attachment))
        }
        return entry
    }

    /// Returns the object as the author of this version left it: with all that it had seen, and nothing that was written apart. The
    /// same on every node. Throws `not_found`, also for a version that is not one of this object's.
    package func object(
        space: String, _ name: ObjectName, at version: DotText
    ) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        return try await reading { () throws(ControlError) in try entry(of: name, at: version) }
    }

    /// The object as the author of this version left it.
    func entry(of name: ObjectName, at version: DotText) throws(ControlError) -> ObjectEntry {
        let (state, dot) = try self.state(of: name, behind: version, in: try past(of: name))
        guard state.isShown else { throw .notThen }
        var object = StoredObject(key: ObjectKey(name))
        object.state = state
        object.version = dot
        return try entry(of: object)
    }

    /// Returns live objects of one collection, in the order of the query; any order but by id and by an indexed field looks at
    /// all of them. Throws `unknown_collection` if no object was ever put there and it has no schema; `invalid_argument` for an
    /// invalid cursor.
    ///
    /// - Parameter memory: the same for all pages that one request reads.
    package func objects(
        _ query: ObjectListQuery, _ memory: PageMemory
    ) async throws(ControlError) -> EntryPage<ObjectEntry> {
        try checkSpace(query.space)
        let collection = ExactString(query.collection)
        var wanted = StoreQuery(
            space: .home, collection: collection, selection: .standing(.live),
            condition: try query.condition.map { condition throws(ControlError) in try StoreQuery.Condition(condition)
            },
            limit: query.limit)
        let isById = query.order == ListOrder()
        if isById, let cursor = query.after { wanted.after = try ObjectKey(cursor: cursor) }
        return try await reading { [wanted] () throws(ControlError) in
            isById
                ? try page(of: wanted, in: collection)
                : try page(of: wanted, in: query.order, behind: query.after, memory)
        }
    }

    private func page(
        of query: StoreQuery, in collection: ExactString
    ) throws(ControlError) -> EntryPage<ObjectEntry> {
        let objects = try read { () throws(StoreError) in try store.objects(query) }
        if objects.isEmpty, query.after == nil { try checkIsKnown(collection) }
        var reader = ObjectReader(store)
        let entries = try read { () throws(StoreError) in
            var entries: [ObjectEntry] = []
            for object in objects { entries.append(try reader.entry(object)) }
            return entries
        }
        return EntryPage(entries: entries, next: objects.next(limit: query.limit, \.key.cursor))
    }

    /// Counts the live objects of one collection; with an order those of the list, up to its limit. Throws
    /// `unknown_collection` as `objects` does; `invalid_argument` for a limit without an order.
    package func objectCount(
        space: String, collection: String, where condition: ObjectCondition?, order: ListOrder = ListOrder(),
        limit: Int? = nil
    ) async throws(ControlError) -> ObjectCount {
        try checkSpace(space)
        let collection = ExactString(collection)
        var query = StoreQuery(
            space: .home, collection: collection, selection: .standing(.live),
            condition: try condition.map { condition throws(ControlError) in try StoreQuery.Condition(condition) },
            limit: limit ?? .max)
        if order != ListOrder() {
            query.order = try self.order(order, of: collection, behind: nil)
        } else if limit != nil {
            throw ControlError(
                .invalidArgument, "A count takes a limit only with an order.",
                hint: "Give \"sort\" with \"limit\", or leave it out to count all objects.")
        }
        return try await reading { [query] () throws(ControlError) in
            let cost = try read { () throws(StoreError) in try store.cost(of: query) }
            if cost.matched == 0 { try checkIsKnown(collection) }
            return ObjectCount(
                count: cost.matched, index: cost.index?.string, order: cost.order?.string, examined: cost.examined)
        }
    }

    func checkIsKnown(_ collection: ExactString) throws(ControlError) {
        let known = try read { () throws(StoreError) in try store.collections(of: .home) }
        guard known.contains(where: { $0.name == collection }) else { throw .unknownCollection }
    }

    /// Returns the records of deletions that are kept here, of one collection or all, by collection, then id.
    package func deletedObjects(_ query: DeletedQuery) async throws(ControlError) -> EntryPage<DeletedEntry> {
        try checkSpace(query.space)
        var after: ObjectKey?
        if let cursor = query.after { after = try ObjectKey(cursor: cursor) }
        let wanted = StoreQuery(
            space: .home, collection: query.collection.map { ExactString($0) }, selection: .standing(.deleted),
            after: after, limit: query.limit)
        let objects = try await stored { () throws(StoreError) in try store.objects(wanted) }
        let entries = objects.compactMap { object in
            object.deletion.map { deletion in
                DeletedEntry(
                    id: object.key.id.string, collection: object.key.collection.string,
                    device: "\(deletion.dot.replica.device)",
                    time: Timestamp(millisecondsSinceEpoch: deletion.wallMilliseconds),
                    policy: .init(rawValue: deletion.policy.name))
            }
        }
        return EntryPage(entries: entries, next: objects.next(limit: query.limit, \.key.cursor))
    }

    // MARK: Watching

    /// Returns the position behind which changes are to come.
    package func objectPosition(space: String) async throws(ControlError) -> UInt64 {
        try checkSpace(space)
        return UInt64(clamping: try await stored { () throws(StoreError) in try store.objectPosition() })
    }

    /// Returns the objects that changed behind `query.after`, each once and as it is now, by position; at most `query.limit`. It
    /// waits until there is one, the agent stops, or the task is cancelled (then it is empty).
    package func nextObjectChanges(_ query: WatchQuery) async throws(ControlError) -> [ObjectChange] {
        try checkSpace(query.space)
        while true {
            // Read before looking: what is committed after the look wakes the wait.
            let version = objectSignal.version
            let changes = try await reading { () throws(ControlError) in try self.changes(query) }
            if !changes.isEmpty || objectSignal.isFinished || Task.isCancelled { return changes }
            await objectSignal.wait(beyond: version)
            if Task.isCancelled { return changes }
        }
    }

    private func changes(_ query: WatchQuery) throws(ControlError) -> [ObjectChange] {
        var reader = ObjectReader(store)
        return try read { () throws(StoreError) in
            let objects = try store.shownChanges(
                of: query.collection.map { ExactString($0) }, space: .home, after: Int64(clamping: query.after),
                limit: query.limit)
            var changes: [ObjectChange] = []
            for object in objects {
                let position = UInt64(clamping: object.position)
                guard object.summary.standing == .live else {
                    changes.append(ObjectChange(position: position, deleted: object.key.name))
                    continue
                }
                changes.append(ObjectChange(position: position, try reader.entry(object)))
            }
            return changes
        }
    }
}

/// Reads many objects with each schema and each reference looked up once.
struct ObjectReader {
    private let store: SQLiteStore
    private var schemas: [ExactString: CollectionSchema?] = [:]
    private var live: [ObjectKey: Bool] = [:]

    init(_ store: SQLiteStore) { self.store = store }

    mutating func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema? {
        if let known = schemas[collection] { return known }
        let schema = try store.schema(of: collection, space: .home)
        schemas[collection] = .some(schema)
        return schema
    }

    mutating func entry(_ object: StoredObject) throws(StoreError) -> ObjectEntry {
        let schema = try schema(of: object.key.collection)
        // First which references there are, then which of them are live: a closure cannot throw on the way.
        var wanted: Set<ObjectKey> = []
        let reading = object.reading(schema) { key in
            wanted.insert(key)
            return true
        }
        for key in wanted where live[key] == nil {
            live[key] = try store.shownObject(key, space: .home)?.summary.standing == .live
        }
        // Read again only for what must be left out: a reading holds a copy of the longest text.
        let known = live
        guard wanted.contains(where: { known[$0] != true }) else { return object.entry(reading) }
        return object.entry(object.reading(schema) { known[$0] ?? false })
    }
}

extension ObjectKey {
    var name: ObjectName {
        guard let name = try? ObjectName(collection: collection.string, id: id.string) else {
            preconditionFailure("a stored object has a valid name")
        }
        return name
    }
}

extension ObjectState {
    /// True if readers see it.
    var isShown: Bool {
        if case .live = judgement { true } else { false }
    }
}
