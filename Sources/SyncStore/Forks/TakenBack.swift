import SyncModel

/// Work of this device that was taken back for another history: kept aside until it is done again, in the order of writing.
struct TakenBack: Sendable, Equatable {
    /// The part that is left to do.
    let segment: Segment
    /// The changes that the author of its first change had seen and every replica can see, its own history included.
    let known: VersionVector

    /// Returns the work from an operation on.
    func rest(from counter: UInt64) -> TakenBack {
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            guard counter < view.end else { continue }
            let bytes = view.bytes(from: counter, in: segment.bytes) + segment.bytes[view.range.upperBound...]
            let rest = Segment(
                replica: segment.replica, start: counter, end: segment.end, bytes: bytes, signature: segment.signature)
            return TakenBack(segment: rest, known: known)
        }
        return self
    }
}

extension TakenBack {
    /// The same without the words that let them in; nil where there is none.
    func without(_ guests: [MemberFact]) -> TakenBack? {
        var (bytes, isChanged) = ([UInt8](), false)
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            let change = Change(view, in: segment.bytes)
            let operations = change.operations.map { operation in
                guard case .addMember(let fact) = operation, guests.contains(fact) else { return operation }
                isChanged = true
                return .void(span: operation.span)
            }
            bytes +=
                Change(
                    start: change.start, stamp: change.stamp, wallMilliseconds: change.wallMilliseconds,
                    context: change.context, operations: operations
                ).encoded
        }
        guard isChanged else { return nil }
        let rest = Segment(
            replica: segment.replica, start: segment.start, end: segment.end, bytes: bytes,
            signature: segment.signature)
        return TakenBack(segment: rest, known: known)
    }
}

extension LogState {
    /// Returns the members that the work to redo had admitted and that no other fact admits now. The facts that admit them
    /// are written before everything else, and the waiting segments are applied behind them. If the author's own changes
    /// named the guests' changes, no replica could apply them without a check of those facts.
    func guests(of work: some Sequence<TakenBack>, by device: DeviceID, _ faults: StoreFaults) -> [MemberFact] {
        guard hasTakenBack, !faults.contains(.guestsComeLater) else { return [] }
        let members = Set(members.reached(from: device))
        var guests: [MemberFact] = []
        for taken in work {
            taken.segment.forEachAddition { fact, _ in
                if !members.contains(fact.device), !guests.contains(fact) { guests.append(fact) }
            }
        }
        return guests
    }
}

extension ChangeView {
    /// Returns the bytes of the change without its operations before the counter.
    fileprivate func bytes(from counter: UInt64, in bytes: [UInt8]) -> [UInt8] {
        guard start < counter else { return Array(bytes[range]) }
        var next = start
        let operations = Change(self, in: bytes).operations.drop { operation in
            defer { next += operation.span }
            return next < counter
        }
        return Change(
            start: counter, stamp: stamp, wallMilliseconds: wallMilliseconds, context: context,
            operations: Array(operations)
        ).encoded
    }
}

/// The next changes of what was taken back, as writes of one commit.
struct TakenBackWork {
    /// The greatest number of bytes done again in one transaction.
    static let stepBytes = 512 << 10

    /// The end of a step: the number of rows done as a whole, and the operation at which the next row goes on.
    struct Progress: Equatable {
        var wholeRows = 0
        var goesOnAt: UInt64?
    }

    let writes: [LocalWrite]
    private let changes: [VoidChange]
    /// Before each change, and behind the last.
    private let progress: [Progress]

    /// - Parameters:
    ///   - rows: the first ones, at least as much as a step does.
    ///   - places: where what was done again until now is.
    init(_ rows: [TakenBack], places: [Rewriting], limit: Int) {
        var changes: [VoidChange] = []
        var progress: [Progress] = []
        var (done, byteCount) = (Progress(), 0)
        for row in rows {
            var reader = ByteReader(row.segment.bytes)
            while !reader.isAtEnd, done.goesOnAt == nil, let view = try? ChangeView(&reader) {
                guard changes.count < limit, byteCount < Self.stepBytes else {
                    done.goesOnAt = view.start
                    break
                }
                byteCount += view.range.count
                let pieces = VoidChange.pieces(of: view, in: row.segment, known: row.known, .takenBack(places))
                for piece in pieces where !piece.isVoid {
                    changes.append(piece)
                    progress.append(Progress(wholeRows: done.wholeRows, goesOnAt: piece.start))
                }
            }
            if done.goesOnAt != nil { break }
            done.wholeRows += 1
        }
        self.changes = changes
        self.progress = progress + [done]
        writes = changes.map { .again($0) }
    }

    /// True if the step could do nothing: work must not follow an operation that would count nowhere.
    func isWaiting(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) -> Bool { outcomes.first?.isWaiting ?? false }

    func progress(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) -> Progress {
        progress[outcomes.firstIndex(where: \.isWaiting) ?? changes.count]
    }

    /// Returns the new places of what the step did again. Refused operations have none.
    func places(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) -> [Rewriting] {
        zip(changes, outcomes).flatMap { change, outcome in
            guard case .success(let done) = outcome, let dots = done.dots else { return [Rewriting]() }
            return change.places(at: dots.lowerBound)
        }
    }
}

extension Result<WriteOutcome, WriteRefusal> {
    fileprivate var isWaiting: Bool {
        if case .failure(let refusal) = self { [.catchingUp, .readOnly].contains(refusal.reason) } else { false }
    }
}
