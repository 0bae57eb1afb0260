import SyncModel

/// The check at every start that the newest rows belong together. It costs the same for any size of log, so it also runs
/// after a clean stop; `doctor --deep` reads every page.
///
/// A lost or torn tail shows in the newest segments, in whether their bytes still give the heads stored beside them, and in
/// whether the sums of the space end where the newest segment does.
struct StructureCheck {
    /// 256 KiB each at most: some 2 ms.
    private static let segmentsWalked = 8

    private let rows: LogRows

    init(_ rows: LogRows) { self.rows = rows }

    func run(against state: LogState) throws(StoreError) {
        var checked = 0
        // Nothing came since the newest was taken back.
        let isCutThere = try rows.takenBackPosition() == state.lastPosition
        try rows.access.forEach(
            """
            SELECT replica.replica, segment.start, segment.end, segment.head, segment.change_count,
                segment.first_position + segment.event_count - 1, segment.signature, segment.bytes
            FROM segment CROSS JOIN replica ON replica.id = segment.replica -- CROSS: from the newest backwards, no sort
            WHERE replica.space = ? ORDER BY segment.id DESC LIMIT ?
            """, .integer(rows.spaceRow), .integer(Int64(Self.segmentsWalked))
        ) { row throws(StoreError) in
            if checked == 0, row.integer(5) != state.lastPosition, !isCutThere {
                throw .corrupt(detail: "the newest segment does not end at the newest position")
            }
            // A residue has no chain to walk; its encoding is checked when it is read.
            if row.integer(4) > 0 { try walk(row, state) }
            checked += 1
            return true
        }
        if checked == 0, state.lastPosition != 0, !isCutThere { throw .corrupt(detail: "positions without segments") }
    }

    private func walk(_ row: SQLRow, _ state: LogState) throws(StoreError) {
        guard let replica = ReplicaID(bytes: row.blob(0)), let head = ChainHead(bytes: row.blob(3)) else {
            throw .corrupt(detail: "a segment's row does not read back")
        }
        let start = UInt64(bitPattern: row.integer(1))
        guard let before = try rows.head(of: replica, at: start) else {
            throw .corrupt(detail: "a segment without the one before it")
        }
        let segment = Segment(
            replica: replica, start: start, end: UInt64(bitPattern: row.integer(2)), bytes: row.blob(7),
            signature: row.blob(6))
        // Stamps before it are not at hand; the head covers them.
        guard let walked = try? segment.walked(from: ReplicaTip(next: start, head: before, stamp: .zero)),
            walked.tip.head == head, Int64(walked.changeCount) == row.integer(4)
        else { throw .corrupt(detail: "a segment does not give the head stored with it") }
    }
}
