import SyncModel

extension LogRows {
    /// The state of the log, from its newest rows: one look per replica, however long the log is.
    func state() throws(StoreError) -> LogState {
        var state = LogState(space: space)
        try access.forEach(
            """
            SELECT replica.replica, segment.end, segment.head, segment.last_stamp
            FROM replica JOIN segment ON segment.replica = replica.id
                AND segment.end = (SELECT max(end) FROM segment WHERE segment.replica = replica.id)
            WHERE replica.space = ? ORDER BY replica.replica
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)), let head = ChainHead(bytes: row.blob(2)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            state.advance(
                replica, to: ReplicaTip(next: UInt64(row.integer(1)), head: head, stamp: Self.stamp(row.integer(3))))
            return true
        }
        try readKnowledge(into: &state)
        for kept in try StreamRows(self).settings() { state.keep(kept) }
        state.dropped = try StreamRows(self).dropped()
        try readSums(into: &state)
        return state
    }

    /// Reads what authors had seen, and the membership facts with their places.
    private func readKnowledge(into state: inout LogState) throws(StoreError) {
        try access.forEach(
            """
            SELECT replica, first_named, named, first_is_hearsay FROM replica
            WHERE space = ? AND (first_named IS NOT NULL OR named IS NOT NULL)
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            let first = row.isNull(1) ? VersionVector() : VectorColumn.decoded(row.blob(1))
            guard let replica = ReplicaID(bytes: row.blob(0)), let first,
                let named = row.isNull(2) ? first : VectorColumn.decoded(row.blob(2))
            else { throw .corrupt(detail: "a replica's row does not read back") }
            state.record(named: named, first: first, isHearsay: row.integer(3) == 1, of: replica)
            return true
        }
        try access.forEach(
            "SELECT replica, first_held FROM replica WHERE space = ? AND first_held > 0", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            state.firstHeld.advance(replica, to: UInt64(row.integer(1)))
            return true
        }
        state.members = try memberFacts()
        state.cuts = try cuts(state.members)
        state.isIncomplete = try isIncomplete()
    }

    /// Returns what the first change of each replica named.
    func readFirstContexts() throws(StoreError) -> FirstContexts {
        var contexts = FirstContexts()
        try access.forEach(
            "SELECT replica, first_named FROM replica WHERE space = ? AND first_named IS NOT NULL", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)), let first = VectorColumn.decoded(row.blob(1)) else {
                throw .corrupt(detail: "a replica's row does not read back")
            }
            contexts.record(first, of: replica)
            return true
        }
        return contexts
    }

    /// Returns the membership facts with their places.
    func memberFacts() throws(StoreError) -> MemberFacts {
        var members = MemberFacts()
        try access.forEach(
            "SELECT fact, replica, counter FROM addition WHERE space = ? ORDER BY id", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(1)) else {
                throw .corrupt(detail: "an add-fact does not say where it stands")
            }
            let fact = try Self.fact(row.blob(0))
            if BoundFacts.shared.isBound(fact) {
                members.add(fact, at: Dot(replica: replica, counter: UInt64(row.integer(2))))
            }
            return true
        }
        return members
    }

    static func fact(_ bytes: [UInt8]) throws(StoreError) -> MemberFact {
        guard let fact = try? MemberFact(encoded: bytes, 0..<bytes.count) else {
            throw .corrupt(detail: "an add-fact does not read back")
        }
        return fact
    }

    private func readSums(into state: inout LogState) throws(StoreError) {
        let sums: Void? = try access.first(
            """
            SELECT digest, changes, events, last_position, objects, deleted_objects, object_position,
                late_operations, floor, attachments, dropped_changes, taken_back_position
            FROM space WHERE id = ?
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let digest = Sum256(bytes: row.blob(0)) else { throw .corrupt(detail: "the digest is not 32 bytes") }
            state.digest = digest
            state.counts = StoreCounts(
                changes: row.integer(1), events: row.integer(2), objects: row.integer(4),
                deletedObjects: row.integer(5), attachments: row.integer(9), lateOperations: row.integer(7))
            state.counts.droppedChanges = row.integer(10)
            state.lastPosition = row.integer(3)
            state.objectPosition = row.integer(6)
            guard let floor = VectorColumn.decoded(row.blob(8)) else {
                throw .corrupt(detail: "the floor is no vector")
            }
            state.floor = floor
            state.hasTakenBack = !row.isNull(11)
        }
        if sums == nil { throw .corrupt(detail: "the space has no row") }
        try readFounding(into: &state)
    }

    /// True if the log has statements on roles.
    func holdsStatements() throws(StoreError) -> Bool {
        var isFound = false
        try access.forEach(
            """
            SELECT segment.bytes FROM segment JOIN replica ON replica.id = segment.replica WHERE replica.space = ?
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            let bytes = row.blob(0)
            var reader = ByteReader(bytes)
            while !reader.isAtEnd, let view = try? ChangeView(&reader) {
                view.forEachOperation(in: bytes) { _, operation in
                    if operation.kind == SyncModel.Operation.Kind.trust { isFound = true }
                }
            }
            return !isFound
        }
        return isFound
    }

    func lastPosition() throws(StoreError) -> Int64 {
        try access.first("SELECT last_position FROM space WHERE id = ?", .integer(spaceRow)) {
            row throws(StoreError) in row.integer(0)
        } ?? 0
    }

    /// The newest of our own replicas.
    func remembered() throws(StoreError) -> ReplicaID? {
        try access.first(
            "SELECT replica.replica FROM space JOIN replica ON replica.id = space.own_replica WHERE space.id = ?",
            .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else {
                throw .corrupt(detail: "our own replica's row does not read back")
            }
            return replica
        }
    }

    /// The chain head at a counter where a stored segment ends; nil elsewhere.
    func head(of replica: ReplicaID, at end: UInt64) throws(StoreError) -> ChainHead? {
        if end == 0 { return ChainHead(space: space, replica: replica) }
        guard end < 1 << 63, let row = try findReplica(replica) else { return nil }
        let bytes = try access.first(
            "SELECT head FROM segment WHERE replica = ? AND end = ?", .integer(row), .integer(Int64(end))
        ) { row throws(StoreError) in row.blob(0) }
        return bytes.flatMap { ChainHead(bytes: $0) }
    }

    func additions() throws(StoreError) -> [Membership.Addition] {
        var additions: [Membership.Addition] = []
        try forEachAddition { addition, _ in additions.append(addition) }
        return additions
    }

    func forEachAddition(_ body: (Membership.Addition, Dot) throws(StoreError) -> Void) throws(StoreError) {
        try access.forEach(
            "SELECT author, fact, wall, replica, counter FROM addition WHERE space = ? ORDER BY id", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let author = DeviceID(bytes: row.blob(0)), let replica = ReplicaID(bytes: row.blob(3)) else {
                throw .corrupt(detail: "an add-fact does not read back")
            }
            try body(
                Membership.Addition(
                    author: author, fact: try Self.fact(row.blob(1)), wallMilliseconds: row.integer(2)),
                Dot(replica: replica, counter: UInt64(row.integer(4))))
            return true
        }
    }

    func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment] {
        guard start < 1 << 63, let row = try findReplica(replica) else { return [] }
        var merge = SegmentMerge(byteBudget: byteBudget)
        var isFirst = true
        try access.forEach(
            """
            SELECT start, end, signature, bytes, change_count FROM segment
            WHERE replica = ? AND end > ? AND signature <> x'' ORDER BY end
            """,
            .integer(row), .integer(Int64(start))
        ) { row throws(StoreError) in
            // A residue cannot be served as changes, and the changes behind it do not join on.
            if row.integer(4) == 0 { return false }
            let stored = Segment(
                replica: replica, start: UInt64(row.integer(0)), end: UInt64(row.integer(1)), bytes: row.blob(3),
                signature: row.blob(2))
            guard isFirst else { return merge.add(stored) }
            isFirst = false
            guard let suffix = stored.suffix(covering: start) else { throw .notApplicable(replica, at: start) }
            return merge.add(suffix)
        }
        return merge.joined()
    }

    /// Sums what is stored anew: events from the log, objects and schemas from what is kept of them.
    func recomputedDigest() throws(StoreError) -> Sum256 {
        var sum = Sum256.zero
        var latest = LatestEvents()
        let state = try state()
        let collecting = state.latestOnlyStreams
        try forEachSegment { segment, _ in
            let scan = SegmentScan(
                segment, collecting: collecting, dropped: state.dropped,
                strictEnd: state.cuts.strictEnd(of: segment.segment.replica))
            sum += scan.digest
            latest.take(scan.collected)
        }
        sum += latest.digest
        let objects = ObjectRows(self)
        for collection in try objects.collections() {
            if let term = collection.schema?.digestTerm(collection: collection.name) { sum += term }
            try objects.objects(of: collection.name) { object throws(StoreError) in
                let summary = object.summarized(collection.schema)
                if let term = summary.digest { sum += term }
                for attachment in summary.attachments { sum += attachment.digestTerm(of: object.key) }
                return true
            }
        }
        return sum
    }

    /// Every segment in the order of arrival, with its row.
    func forEachSegment(
        _ body: (VerifiedSegment, _ row: Int64) throws(StoreError) -> Void
    ) throws(StoreError) {
        try access.forEach(
            """
            SELECT replica.replica, segment.start, segment.end, segment.head, segment.last_stamp, segment.bytes,
                segment.id, segment.change_count
            FROM segment JOIN replica ON replica.id = segment.replica WHERE replica.space = ? ORDER BY segment.id
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            try body(row.integer(7) == 0 ? try Self.residue(row) : try Self.walked(row), row.integer(6))
            return true
        }
    }

    /// Columns: as below. What came as state has no chain to walk.
    private static func residue(_ row: SQLRow) throws(StoreError) -> VerifiedSegment {
        guard let replica = ReplicaID(bytes: row.blob(0)) else {
            throw .corrupt(detail: "a replica's row does not read back")
        }
        let segment = Segment(
            replica: replica, start: UInt64(row.integer(1)), end: UInt64(row.integer(2)), bytes: row.blob(5),
            signature: [])
        guard let changes = StoredChanges(segment.bytes) else { throw .corrupt(detail: "a residue does not read back") }
        let residue = changes.segment(segment)
        return ChainHead(bytes: row.blob(3)).map { residue.with($0) } ?? residue
    }

    /// Columns: replica, start, end, head, last stamp, bytes. Reads the changes again; the chain is not checked here, and the head
    /// is the one that was kept.
    private static func walked(_ row: SQLRow) throws(StoreError) -> VerifiedSegment {
        guard let replica = ReplicaID(bytes: row.blob(0)), let head = ChainHead(bytes: row.blob(3)) else {
            throw .corrupt(detail: "a segment's row does not read back")
        }
        let segment = Segment(
            replica: replica, start: UInt64(row.integer(1)), end: UInt64(row.integer(2)), bytes: row.blob(5),
            signature: [])
        let before = ReplicaTip(next: segment.start, head: head, stamp: .zero)
        guard let walked = try? segment.walked(from: before) else {
            throw .corrupt(detail: "a segment's changes do not read back")
        }
        return walked.with(head)
    }
}
