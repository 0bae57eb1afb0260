package import SyncModel

extension SQLiteStore {
    package func answeredWrite(_ name: [UInt8], wallMilliseconds: Int64) throws(StoreError) -> AnsweredWrite? {
        let found = try read { access throws(StoreError) in try AnsweredWriteRows(access: access).find(name) }
        return found?.remembered(at: wallMilliseconds)
    }

    package func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment] {
        try readLog(space) { rows throws(StoreError) in
            try rows.segments(of: replica, from: start, byteBudget: byteBudget)
        } ?? []
    }

    package func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        try readLog(query.space) { rows throws(StoreError) in try EventRows(rows).events(query) } ?? []
    }

    package func start(of last: LastEvents, space: SpaceID) throws(StoreError) -> LastEvents.Place {
        try readLog(space) { rows throws(StoreError) in try EventRows(rows).start(of: last) }
            ?? LastEvents.Place(after: .max, count: 0)
    }

    package func dropped(of space: SpaceID) throws(StoreError) -> DroppedByStream {
        let known = try known()
        return known.space == space ? known.dropped : DroppedByStream()
    }

    package func keptEvents(
        of stream: String, space: SpaceID, after key: CanonicalKey?, limit: Int
    ) throws(StoreError) -> [StoredEvent] {
        let query = EventQuery(
            space: space, stream: stream, order: .canonical(after: key), limit: limit,
            byteBudget: RetentionTerms.pageBytes)
        return try readLog(space) { rows throws(StoreError) in
            guard let row = try rows.findStream(stream) else { return [] }
            return try CanonicalReader(rows, query, stream: row).page(after: key)
        } ?? []
    }

    package func eventCount(stream: String, space: SpaceID, after position: Int64) throws(StoreError) -> Int64 {
        try readLog(space) { rows throws(StoreError) in
            try EventRows(rows).count(stream: stream, after: position)
        } ?? 0
    }

    package func streams(of space: SpaceID) throws(StoreError) -> [StreamSummary] {
        try readLog(space) { rows throws(StoreError) in try EventRows(rows).streams() } ?? []
    }

    package func recomputedDigest(of space: SpaceID) throws(StoreError) -> Sum256 {
        try readLog(space) { rows throws(StoreError) in try rows.recomputedDigest() } ?? .zero
    }
}

// Objects
extension SQLiteStore {
    package func object(_ key: ObjectKey, space: SpaceID) throws(StoreError) -> StoredObject? {
        try readLog(space) { rows throws(StoreError) in
            let object = try ObjectRows(rows).object(key)
            guard object?.summary.standing ?? .nothing == .nothing else { return object }
            return try ArrivingObjects(rows).object(key) ?? object
        } ?? nil
    }

    package func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject] {
        try readLog(query.space) { rows throws(StoreError) in
            let objects = try ObjectRows(rows).page(query).objects
            let arriving = try ArrivingObjects(rows).page(query).objects
            if arriving.isEmpty { return objects }
            return Array((objects + arriving).sorted { $0.key < $1.key }.prefix(query.limit))
        } ?? []
    }

    package func places(_ query: ObjectQuery) throws(StoreError) -> [ObjectOrder.Place] {
        try readLog(query.space) { rows throws(StoreError) in
            let places = try ObjectRows(rows).page(query).places
            let arriving = try ArrivingObjects(rows).page(query).places
            guard let order = query.order, !arriving.isEmpty else { return places }
            return Array((places + arriving).sorted(by: order.isBefore).prefix(query.limit))
        } ?? []
    }

    package func changedObjects(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        try readLog(space) { rows throws(StoreError) in
            try ObjectRows(rows).changes(of: collection, after: position, limit: limit)
        } ?? []
    }

    package func collections(of space: SpaceID) throws(StoreError) -> [StoredCollection] {
        try readLog(space) { rows throws(StoreError) in
            let collections = try ObjectRows(rows).collections()
            let arriving = try ArrivingObjects(rows).collections().filter { name in
                !collections.contains { $0.name == name }
            }
            if arriving.isEmpty { return collections }
            return (collections + arriving.map { StoredCollection(name: $0, schema: nil) }).sorted { $0.name < $1.name }
        } ?? []
    }

    package func schema(of collection: ExactString, space: SpaceID) throws(StoreError) -> CollectionSchema? {
        try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).schema(of: collection) } ?? nil
    }

    package func beginning(of key: ObjectKey, space: SpaceID) throws(StoreError) -> ObjectBeginning? {
        try readLog(space) { rows throws(StoreError) in
            try BeginningRows(ObjectRows(rows)).beginning(of: key)
        } ?? nil
    }

    package func touches(of key: ObjectKey, space: SpaceID) throws(StoreError) -> [PastOperation] {
        let cuts = try cuts
        let touches = try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).touches(of: key) } ?? []
        return touches.filter { !cuts.isVoid($0.origin.dot) }
    }

    /// Reads every page (SQLite's integrity_check): for `doctor --deep`, and slow on a large store.
    /// - Throws: `corrupt` with the first finding.
    package func checkIntegrity() throws(StoreError) {
        try read { access throws(StoreError) in
            let finding = try access.first("PRAGMA integrity_check(1)") { row throws(StoreError) in row.text(0) }
            if finding != "ok" { throw .corrupt(detail: finding ?? "integrity_check says nothing") }
        }
    }
}
