package import SyncModel

extension SQLiteStore {
    package func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment] {
        try readLog(space) { rows throws(StoreError) in
            try rows.segments(of: replica, from: start, byteBudget: byteBudget)
        } ?? []
    }

    package func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        try readLog(query.space) { rows throws(StoreError) in try EventRows(rows).events(query) } ?? []
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
        try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).object(key) } ?? nil
    }

    package func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject] {
        try readLog(query.space) { rows throws(StoreError) in try ObjectRows(rows).objects(query) } ?? []
    }

    package func changedObjects(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        try readLog(space) { rows throws(StoreError) in
            try ObjectRows(rows).changes(of: collection, after: position, limit: limit)
        } ?? []
    }

    package func collections(of space: SpaceID) throws(StoreError) -> [StoredCollection] {
        try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).collections() } ?? []
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
        try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).touches(of: key) } ?? []
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
