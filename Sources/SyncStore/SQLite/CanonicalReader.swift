import SyncModel

/// Canonical order without an index of events: within one replica, events come in it already, so the whole is a merge of
/// replicas. Of each replica at most one run is in memory, and that only once the merge has come to its first stamp.
///
/// Bounds: one look-up per replica of the space and page; loaded events per replica ≤ the query's limit.
struct CanonicalReader {
    private let log: LogRows
    private let query: EventQuery
    private let stream: Int64
    private let hidden: HiddenEvents

    init(_ log: LogRows, _ query: EventQuery, stream: Int64) throws(StoreError) {
        hidden = try StreamRows(log).hidden(of: stream)
        self.log = log
        self.query = query
        self.stream = stream
    }

    /// The place of one replica in the merge.
    private struct Lane {
        let replica: ReplicaID
        let replicaRow: Int64
        /// The last stamp of the run it stands at, or last left.
        var lastStamp: Int64
        var segment: Int64
        /// Ascending; empty before the run is read.
        var events: ArraySlice<StoredEvent> = []
        /// The lower bound of all events still to come from this replica.
        var bound: CanonicalKey

        /// The first event, and those behind it that come before every other lane.
        mutating func drain(into page: inout EventPage, before others: CanonicalKey?) {
            while !page.isFull, let event = events.popFirst() {
                _ = page.take(event)
                guard let next = events.first else { return }
                if let others, others < next.canonicalKey { return }
            }
        }
    }

    func page(after key: CanonicalKey?) throws(StoreError) -> [StoredEvent] {
        var page = EventPage(query)
        var lanes = try firstLanes(after: key)
        while !page.isFull, let least = lanes.indices.min(by: { lanes[$0].bound < lanes[$1].bound }) {
            if lanes[least].events.isEmpty {
                lanes[least].events = try load(lanes[least], after: key)[...]
            } else {
                let others = lanes.indices.filter { $0 != least }.map { lanes[$0].bound }.min()
                lanes[least].drain(into: &page, before: others)
            }
            if let first = lanes[least].events.first {
                lanes[least].bound = first.canonicalKey
            } else if try !advance(&lanes[least]) {
                lanes.remove(at: least)
            }
        }
        return page.events
    }

    private func firstLanes(after key: CanonicalKey?) throws(StoreError) -> [Lane] {
        var replicas: [(Int64, ReplicaID)] = []
        try log.access.forEach("SELECT id, replica FROM replica WHERE space = ?", .integer(log.spaceRow)) {
            row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(1)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            replicas.append((row.integer(0), replica))
            return true
        }
        var lanes: [Lane] = []
        for (row, replica) in replicas {
            // Runs that end at the key's own stamp may hold events behind it: the same change goes on, or another replica's.
            let from = key.map { LogRows.column($0.stamp) } ?? .min
            if let lane = try run(of: replica, row, lastStamp: from, orEqual: true) { lanes.append(lane) }
        }
        return lanes
    }

    /// Puts the lane at its replica's next run.
    /// - Returns: false when there is none.
    private func advance(_ lane: inout Lane) throws(StoreError) -> Bool {
        guard
            let next = try run(of: lane.replica, lane.replicaRow, lastStamp: lane.lastStamp, orEqual: false)
        else { return false }
        lane = next
        return true
    }

    private func run(of replica: ReplicaID, _ row: Int64, lastStamp: Int64, orEqual: Bool) throws(StoreError) -> Lane? {
        try log.access.first(
            """
            SELECT last_stamp, first_stamp, segment FROM run
            WHERE stream = ? AND replica = ? AND last_stamp \(orEqual ? ">=" : ">") ? ORDER BY last_stamp LIMIT 1
            """, .integer(stream), .integer(row), .integer(lastStamp)
        ) { found throws(StoreError) in
            Lane(
                replica: replica, replicaRow: row, lastStamp: found.integer(0), segment: found.integer(2),
                bound: CanonicalKey(
                    stamp: LogRows.stamp(found.integer(1)), dot: Dot(replica: replica, counter: 0)))
        }
    }

    private func load(_ lane: Lane, after key: CanonicalKey?) throws(StoreError) -> [StoredEvent] {
        var events: [StoredEvent] = []
        let wasRead: Void? = try log.access.first(
            """
            SELECT replica.replica, segment.first_position, run.places, segment.bytes
            FROM run JOIN segment ON segment.id = run.segment JOIN replica ON replica.id = run.replica
            WHERE run.stream = ? AND run.replica = ? AND run.last_stamp = ?
            """, .integer(stream), .integer(lane.replicaRow), .integer(lane.lastStamp)
        ) { row throws(StoreError) in
            try EventRows.check(
                try EventRows.reader(row, stream: query.stream, hidden: hidden).forEach(after: key) { event in
                    events.append(event)
                    return events.count < max(1, query.limit)
                })
        }
        if wasRead == nil { throw .corrupt(detail: "a run has lost its segment") }
        return events
    }
}
