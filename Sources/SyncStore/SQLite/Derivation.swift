import SyncModel

/// Fills the tables that follow from the log, for a store that an older program wrote: it kept every operation byte for
/// byte, also those it did not understand.
///
/// One transaction; one pass over the log in the order of arrival, so every node that does it comes to the same.
struct Derivation {
    /// Grows when this program understands operations that the one before did not.
    static let version: Int64 = 8
    /// Programs of this version understood all that this one does but statements on roles. So their tables stand where the log
    /// has none.
    private static let withoutStatements: Int64 = 7
    /// The tables of programs since this version are read correctly by this one: they show what that program understood.
    /// Set to `version` when a table gets another meaning.
    static let readableSince: Int64 = 6
    /// The number of bytes of segments whose objects are held in memory before they are written.
    private static let batchBytes = 1 << 20

    let rows: LogRows
    var report = UpgradeReport(nil)
    /// The time at which blobs become unneeded; nil: by the clock of the system.
    var wallMilliseconds: Int64?

    /// True if the tables must be derived again. That is also so if an older program gave effect to strict cuts (`CutFact.hasEffect`).
    ///
    /// Never where history came as state: what follows from that is not in the log. The tables stay as an older program
    /// understood the operations; a state of the objects that it did not understand has to be asked for.
    var isDue: Bool {
        get throws(StoreError) {
            let residue = try rows.access.first(
                "SELECT 1 FROM replica WHERE space = ? AND first_held > 0 LIMIT 1", .integer(rows.spaceRow)
            ) { row throws(StoreError) in row.integer(0) }
            if residue != nil { return false }
            let done = try done
            var isUnderstood = done == Self.version
            if done == Self.withoutStatements { isUnderstood = try !rows.holdsStatements() }
            if !isUnderstood { return true }
            return CutTable.holdsStrictCut(encoded: try rows.cutBytes())
        }
    }

    /// The version of the rules that the tables were filled by; 0 if they never were.
    private var done: Int64 {
        get throws(StoreError) {
            try rows.access.first("SELECT derived FROM space WHERE id = ?", .integer(rows.spaceRow)) {
                row throws(StoreError) in row.isNull(0) ? 0 : row.integer(0)
            } ?? 0
        }
    }

    /// Notes that the tables are right as they are, unless history came as state: then they never are quite.
    func recordUnderstood() throws(StoreError) {
        guard try done == Self.withoutStatements else { return }
        try rows.access.run(
            """
            UPDATE space SET derived = ?1
            WHERE id = ?2 AND NOT EXISTS (SELECT 1 FROM replica WHERE space = ?2 AND first_held > 0)
            """, .integer(Self.version), .integer(rows.spaceRow))
    }

    /// True if the tables may be read before they are derived again.
    var isReadableBefore: Bool {
        get throws(StoreError) { (Self.readableSince...Self.version).contains(try done) }
    }

    func run() throws(StoreError) {
        var state = LogState(space: rows.space)
        state.dropped = try StreamRows(rows).dropped()
        try rows.readFounding(into: &state)
        // A reader that watches asks for objects behind a position: every derived object is behind it.
        let position = try rows.access.first("SELECT object_position FROM space WHERE id = ?", .integer(rows.spaceRow))
        {
            row throws(StoreError) in row.integer(0)
        }
        state.objectPosition = position ?? 0
        let strictEnds = try rows.strictEnds()
        // Statements of the recovery key may have come apart from the histories that they stand in.
        for row in try rows.cuts(MemberFacts()).trust.rows {
            _ = state.cuts.record(PlacedStatement(dot: row.dot, statement: row.statement), members: state.members)
        }
        try empty()
        var batch: [(VerifiedSegment, Int64)] = []
        var byteCount = 0
        let last = try rows.access.first("SELECT max(id) FROM segment") { row throws(StoreError) in row.integer(0) }
        // Where something was taken back, arrival numbers have gaps.
        let hasGaps = try rows.takenBackPosition() != nil
        var reported = 0.0
        try rows.forEachSegment { segment, row throws(StoreError) in
            // The digest, which comes last, takes about a tenth.
            let share = 0.9 * Double(row) / Double(max(1, last ?? 1))
            if share - reported >= 0.005 {
                report(.deriving, share)
                reported = share
            }
            if hasGaps {
                try derive(batch, &state)
                (batch, byteCount) = ([], 0)
                state.lastPosition = try rows.firstPosition(ofSegment: row) - 1
            }
            batch.append((segment, row))
            byteCount += segment.segment.bytes.count
            guard byteCount >= Self.batchBytes else { return }
            try derive(batch, &state)
            (batch, byteCount) = ([], 0)
        }
        try derive(batch, &state)
        if !state.cuts.isEmpty { try rows.write(state.cuts, isIncomplete: state.isIncomplete) }
        try settleStrictEnds(state, before: strictEnds)
        try AttachmentRows(rows).releaseUnneeded(at: wallMilliseconds)
        try rows.access.run(
            "UPDATE space SET derived = ?, digest = ?, events = ? WHERE id = ?", .integer(Self.version),
            .blob(try rows.recomputedDigest().bytes), .integer(try StreamRows(rows).eventCount()),
            .integer(rows.spaceRow))
    }

    /// The rows of runs stay, but not all of their events are shown that were; and what a stream shows was worked out while later
    /// segments could still move an end.
    private func settleStrictEnds(_ state: LogState, before: [ReplicaID: UInt64]) throws(StoreError) {
        try rows.writeStrictEnds(of: state.held.entries.map(\.replica), state.cuts)
        let moved = Set(before.keys).union(try rows.strictEnds().keys)
        if moved.isEmpty { return }
        let streams = StreamRows(rows)
        try streams.recount(moved)
        try rows.access.run("DELETE FROM latest_event")
        try streams.write(
            StreamPlan(
                from: [:], to: state.streams, ends: StrictEndMove(staying: state.cuts), collected: [], streams))
    }

    /// Objects keep their rows, and so what belongs to this node alone.
    private func empty() throws(StoreError) {
        let access = rows.access
        try access.run("DELETE FROM addition WHERE space = ?", .integer(rows.spaceRow))
        try access.run(
            "UPDATE replica SET first_named = NULL, first_is_hearsay = 0, named = NULL, strict_end = NULL WHERE space = ?",
            .integer(rows.spaceRow))
        try access.run("UPDATE collection SET schema = NULL WHERE space = ?", .integer(rows.spaceRow))
        try access.run("DELETE FROM field_value")
        try access.run("DELETE FROM stream_setting")
        try access.run("DELETE FROM latest_event")
        try access.run("DELETE FROM touch")
        try access.run("DELETE FROM birth")
        try access.run("DELETE FROM snapshot")
        try access.run("DELETE FROM edit")
        try AttachmentRows(rows).empty()
        try access.run(
            """
            UPDATE object SET standing = 0, has_conflict = 0, position = -id, digest = NULL, version_replica = NULL,
                version_counter = NULL, deletion_replica = NULL, deletion_counter = NULL, state = ?,
                snapshot_bytes = 0, edit_bytes = 0, touched = x'', touched_stamp = NULL
            """, .blob(ObjectState().canonicalBytes))
        try access.run(
            "UPDATE space SET objects = 0, deleted_objects = 0, attachments = 0, late_operations = 0, cuts = NULL WHERE id = ?",
            .integer(rows.spaceRow))
    }

    private func derive(_ batch: [(VerifiedSegment, Int64)], _ state: inout LogState) throws(StoreError) {
        var plan = try LogPlan(batch.map(\.0), on: state)
        let objects = ObjectRows(rows)
        try plan.settleCuts(on: state, rows)
        let planned = try plan.applyObjects(on: state, objects)
        let streams = try plan.applyStreams(on: state, StreamRows(rows))
        try StreamRows(rows).write(streams, countsRuns: false)
        for entry in plan.entries { try rows.writeKnowledge(entry, plan.after) }
        let segments = batch.map { WrittenSegment($0.1, $0.0.segment) }
        try objects.write(planned, segments: segments, at: 0)
        if plan.changesCuts { try rows.write(plan.after.cuts, isIncomplete: plan.after.isIncomplete) }
        state = plan.after
    }
}
