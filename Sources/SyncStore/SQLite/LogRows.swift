import SyncModel

/// The log's rows: how a `LogPlan` is written and the state of a start is read. One space for now.
struct LogRows {
    let access: SQLiteAccess
    let space: SpaceID
    /// `space.id`.
    let spaceRow: Int64
    private let known = Known()

    /// The values that many callers read within one transaction.
    private final class Known {
        var firsts: FirstContexts?
        var members: MemberFacts?
    }

    /// The row of `space`, made when it is not there; nil from a reader when nothing was written yet.
    init?(_ access: SQLiteAccess, space: SpaceID) throws(StoreError) {
        let found = try access.first("SELECT id FROM space WHERE uuid = ?", .blob(space.bytes)) {
            row throws(StoreError) in row.integer(0)
        }
        guard let found else { return nil }
        self.access = access
        self.space = space
        spaceRow = found
    }

    static func create(_ space: SpaceID, _ access: SQLiteAccess) throws(StoreError) {
        try access.run(
            """
            INSERT OR IGNORE INTO space (uuid, digest, changes, events, last_position) VALUES (?, ?, 0, 0, 0)
            """, .blob(space.bytes), .blob(Sum256.zero.bytes))
    }

    /// Stamps are unsigned, SQLite's integers signed: moved down by 2^63 they keep their order.
    static func column(_ stamp: Stamp) -> Int64 { Int64(bitPattern: stamp.rawValue ^ (1 << 63)) }

    static func stamp(_ column: Int64) -> Stamp { Stamp(rawValue: UInt64(bitPattern: column) ^ (1 << 63)) }

    // Writing

    /// - Returns: the segments it added.
    func write(_ plan: LogPlan) throws(StoreError) -> [WrittenSegment] { try write(plan, after: plan.after) }

    func write(_ plan: LogPlan, after: LogState) throws(StoreError) -> [WrittenSegment] {
        var written: [WrittenSegment] = []
        for entry in plan.entries {
            let replica = try replicaRow(entry.verified.segment.replica)
            try insertSegment(entry, replica)
            let segment = access.lastInsertedRow
            written.append(WrittenSegment(segment, entry.verified.segment))
            for run in entry.scan.runs { try insertRun(run, of: entry, segment, replica) }
            try writeKnowledge(entry, after)
        }
        try access.run(
            "UPDATE space SET digest = ?, changes = ?, events = ?, last_position = ? WHERE id = ?",
            .blob(after.digest.bytes), .integer(after.counts.changes), .integer(after.counts.events),
            .integer(after.lastPosition), .integer(spaceRow))
        if plan.changesCuts { try write(after.cuts, isIncomplete: after.isIncomplete) }
        try writeStrictEnds(of: plan.changesCuts ? after.held.entries.map(\.replica) : plan.begun, after.cuts)
        return written
    }

    /// Writes the members that a segment admits, and what its author had seen.
    func writeKnowledge(_ entry: LogPlan.Entry, _ after: LogState) throws(StoreError) {
        for (addition, dot) in zip(entry.scan.additions, entry.scan.additionDots) { try insert(addition, dot) }
        guard !entry.verified.context.isEmpty else { return }
        try writeNamed(by: entry.verified.segment.replica, after)
    }

    func writeNamed(by replica: ReplicaID, _ after: LogState) throws(StoreError) {
        let (named, first) = (after.named(by: replica), after.firsts.context(of: replica))
        // Most replicas have named nothing since.
        try access.run(
            "UPDATE replica SET first_named = ?, first_is_hearsay = ?, named = ? WHERE id = ?",
            .blob(VectorColumn.encoded(first)), .integer(after.firsts.isHearsay(replica) ? 1 : 0),
            .blob(named == first ? nil : VectorColumn.encoded(named)), .integer(try replicaRow(replica)))
        known.firsts = nil
    }

    func firstContexts() throws(StoreError) -> FirstContexts {
        if let firsts = known.firsts { return firsts }
        let firsts = try readFirstContexts()
        known.firsts = firsts
        return firsts
    }

    /// Notes under which replica this store writes from now on.
    func remember(_ next: ChangeAuthor, before: ChangeAuthor?) throws(StoreError) {
        guard next.replica != before?.replica else { return }
        let replica = try replicaRow(next.replica)
        try access.run("UPDATE space SET own_replica = ? WHERE id = ?", .integer(replica), .integer(spaceRow))
    }

    func insert(_ addition: Membership.Addition, _ dot: Dot) throws(StoreError) {
        try access.run(
            "INSERT INTO addition (space, author, fact, wall, replica, counter) VALUES (?, ?, ?, ?, ?, ?)",
            .integer(spaceRow), .blob(addition.author.bytes), .blob(addition.fact.encoded),
            .integer(addition.wallMilliseconds), .blob(dot.replica.bytes), .integer(Int64(dot.counter)))
        // What is read from here on may be work of the new member.
        known.members = nil
    }

    /// Returns the membership facts with their places, read once for all objects of a transaction, and again when one more is
    /// written. Facts that came later than an edit do not matter to it, and neither does one that is deleted meanwhile.
    func knownMembers() throws(StoreError) -> MemberFacts {
        if let members = known.members { return members }
        let members = try memberFacts()
        known.members = members
        return members
    }

    private func insertSegment(_ entry: LogPlan.Entry, _ replica: Int64) throws(StoreError) {
        let segment = entry.verified.segment
        // The head of a residue that is not the last of its replica is unknown: the row has none, and no head is asked of it.
        let isHeadless = entry.verified.changeCount == 0 && segment.signature.isEmpty
        try access.run(
            """
            INSERT INTO segment
                (replica, start, end, change_count, first_position, event_count, last_stamp, head, signature, bytes)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(replica), .integer(Int64(segment.start)), .integer(Int64(segment.end)),
            .integer(Int64(entry.verified.changeCount)), .integer(entry.firstPosition),
            .integer(entry.scan.ordinalCount), .integer(Self.column(entry.verified.tip.stamp)),
            .blob(isHeadless ? [] : entry.verified.tip.head.bytes),
            .blob(isHeadless ? [UInt8](repeating: 0, count: ChainSignature.byteCount) : segment.signature),
            .blob(segment.bytes))
    }

    private func insertRun(
        _ run: SegmentScan.Run, of entry: LogPlan.Entry, _ segment: Int64, _ replica: Int64
    ) throws(StoreError) {
        let stream = try streamRow(run.stream)
        let total = try access.first(
            "SELECT total FROM run WHERE stream = ? ORDER BY last_position DESC LIMIT 1", .integer(stream)
        ) { row throws(StoreError) in row.integer(0) }
        try access.run(
            """
            INSERT INTO run (stream, last_position, segment, replica, first_stamp, last_stamp, total, places)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, .integer(stream), .integer(entry.firstPosition + run.lastOrdinal), .integer(segment),
            .integer(replica), .integer(Self.column(run.firstStamp)), .integer(Self.column(run.lastStamp)),
            .integer((total ?? 0) + run.count), .blob(run.places.bytes))
    }

    func replicaRow(_ replica: ReplicaID) throws(StoreError) -> Int64 {
        if let row = try findReplica(replica) { return row }
        try access.run("INSERT INTO replica (space, replica) VALUES (?, ?)", .integer(spaceRow), .blob(replica.bytes))
        return access.lastInsertedRow
    }

    func findReplica(_ replica: ReplicaID) throws(StoreError) -> Int64? {
        try access.first(
            "SELECT id FROM replica WHERE space = ? AND replica = ?", .integer(spaceRow), .blob(replica.bytes)
        ) { row throws(StoreError) in row.integer(0) }
    }

    func streamRow(_ name: String) throws(StoreError) -> Int64 {
        if let row = try findStream(name) { return row }
        try access.run("INSERT INTO stream (space, name) VALUES (?, ?)", .integer(spaceRow), .text(name))
        return access.lastInsertedRow
    }

    func findStream(_ name: String) throws(StoreError) -> Int64? {
        try access.first("SELECT id FROM stream WHERE space = ? AND name = ?", .integer(spaceRow), .text(name)) {
            row throws(StoreError) in row.integer(0)
        }
    }
}
