import SyncModel

/// What this device did, and took back for another history: kept aside until it is done again. In the order it was done.
struct TakenBack: Sendable, Equatable {
    /// What of it is left to do.
    var segment: Segment
    /// What the author of its first change had seen and everybody can see, its own history included.
    let known: VersionVector
}

/// The next changes of what was taken back, as writes of one commit.
struct TakenBackWork {
    /// One transaction's worth.
    static let stepBytes = 512 << 10

    let writes: [LocalWrite]
    /// How many rows are done as a whole, and from where on the one behind them goes on.
    let wholeRows: Int
    let goesOnAt: UInt64?
    private let changes: [VoidChange]

    /// - Parameters:
    ///   - rows: the first ones, at least as much as a step does.
    ///   - places: where what was done again until now is.
    init(_ rows: [TakenBack], places: [Rewriting], limit: Int) {
        var changes: [VoidChange] = []
        var (wholeRows, goesOnAt, byteCount): (Int, UInt64?, Int) = (0, nil, 0)
        for row in rows {
            var reader = ByteReader(row.segment.bytes)
            while !reader.isAtEnd, goesOnAt == nil, let view = try? ChangeView(&reader) {
                guard changes.count < limit, byteCount < Self.stepBytes else {
                    goesOnAt = view.start
                    break
                }
                byteCount += view.range.count
                changes += VoidChange.pieces(of: view, in: row.segment, known: row.known, .takenBack(places))
            }
            if goesOnAt != nil { break }
            wholeRows += 1
        }
        self.changes = changes
        self.wholeRows = wholeRows
        self.goesOnAt = goesOnAt
        writes = changes.map { .again($0) }
    }

    /// Where what the step did again is now: what of it was refused is nowhere.
    func places(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) -> [Rewriting] {
        zip(changes, outcomes).compactMap { change, outcome in
            guard case .success(let done) = outcome, let dots = done.dots else { return nil }
            return change.place(at: dots.lowerBound)
        }
    }
}
