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
