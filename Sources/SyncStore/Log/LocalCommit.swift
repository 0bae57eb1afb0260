package import SyncModel

/// The local writes of one commit while they are planned and authored, one after the other, each seeing those before it.
/// Pure but for what it reads; the same for every store.
package struct LocalCommit {
    private var batch: ChangeBatch
    private let state: LogState
    private var objects: ObjectPlan
    private var refusedRows: [UInt64: WriteRefusal] = [:]
    /// The refusal of a rewritten operation. Later operations in the same change may be about its result.
    private var refusedAgain: WriteRefusal?
    /// The new places of rewritten work, from earlier commits and this one.
    private var rewritten: [Rewriting]
    private var outcomes: [Result<WriteOutcome, WriteRefusal>] = []
    private var answers: [AnsweredWrite] = []
    /// Indices in `answers`, by the names of keys.
    private var answered: [[UInt8]: Int] = [:]
    private let wallMilliseconds: Int64
    /// The reason why no writes of this device count anywhere now; nil if they do.
    private let refusal: ObjectRefusal?

    /// Everything a store has to make durable.
    package struct Planned: Sendable {
        package let author: ChangeAuthor
        package let log: LogPlan
        package let objects: ObjectPlan
        package let streams: StreamPlan
        package let result: AppendResult
        /// The answers to the writes that have a key.
        package let answers: [AnsweredWrite]

        /// False when every write was refused or had nothing to write.
        package var writesAnything: Bool { !log.entries.isEmpty || objects.isChanged || !answers.isEmpty }
    }

    private let faults: ModelFaults

    package init(
        _ own: OwnHistory, on state: LogState, wallMilliseconds: Int64, faults: ModelFaults = []
    ) {
        self.state = state
        self.faults = faults
        self.wallMilliseconds = wallMilliseconds
        rewritten = state.cuts.rewritten
        let (author, held) = (own.nextAuthor(on: state), own.nameable(on: state))
        refusal = Self.refusal(of: author, naming: held, on: state)
        batch = ChangeBatch(
            author, held: held, greatestStamp: state.greatestStamp,
            wallMilliseconds: wallMilliseconds)
        // What is written here counts: a new history is known to lie behind a return only when its first change is taken.
        objects = ObjectPlan(on: state, cuts: CutTable(), faults: faults)
    }

    /// True if work of this device, new or again, would count nowhere now.
    var refusesWork: Bool { refusal != nil }

    /// Refuses writes of applications to what waits to be written again.
    mutating func wait(for work: WaitingWork?) { objects.waiting = work }

    /// Takes the next write. A refused one leaves nothing behind; those before and behind it stand.
    package mutating func take(
        _ write: LocalWrite, reading: some ObjectSource, sign: ([UInt8]) -> [UInt8]
    ) throws(StoreError) {
        guard case .once(let key, let inner) = write else {
            return try takeUnkeyed(write, reading: reading, sign: sign)
        }
        if let known = try answer(to: key, reading) {
            outcomes.append(known.key == key ? .success(known.outcome) : .failure(WriteRefusal(step: 0, .keyReused)))
            return
        }
        try takeUnkeyed(inner, reading: reading, sign: sign)
        guard case .success(let outcome)? = outcomes.last else { return }
        answered[key.name] = answers.count
        answers.append(AnsweredWrite(key: key, wallMilliseconds: wallMilliseconds, outcome: outcome))
    }

    /// Returns the answer to an earlier write with the key's name, in this commit or within a day before it.
    private func answer(to key: WriteKey, _ reading: some ObjectSource) throws(StoreError) -> AnsweredWrite? {
        if let index = answered[key.name] { return answers[index] }
        return try reading.answeredWrite(key.name)?.remembered(at: wallMilliseconds)
    }

    private mutating func takeUnkeyed(
        _ write: LocalWrite, reading: some ObjectSource, sign: ([UInt8]) -> [UInt8]
    ) throws(StoreError) {
        if case .planned(_, let row?) = write, let refusal = refusedRows[row] {
            outcomes.append(.failure(refusal))
            return
        }
        if case .again = write, let refusedAgain {
            outcomes.append(.failure(refusedAgain))
            return
        }
        if let refusal, write.needsWriter {
            outcomes.append(.failure(WriteRefusal(step: 0, refusal)))
            return
        }
        guard let origin = batch.nextOrigin?.planting(faults) else { throw .stampsExhausted }
        var change = ObjectPlan.Change(origin: origin, wallMilliseconds: batch.displayMilliseconds)
        objects.begin()
        if let refusal = try apply(write, in: &change, reading, sign) {
            objects.takeBack()
            if case .planned(_, let row?) = write { refusedRows[row] = refusal }
            outcomes.append(.failure(refusal))
            return
        }
        guard !change.operations.isEmpty else {
            outcomes.append(.success(WriteOutcome(dots: nil, steps: change.steps)))
            return
        }
        batch.add(change.operations, sign: sign)
        let last = Dot(replica: origin.dot.replica, counter: batch.author.tip.next - 1)
        outcomes.append(.success(WriteOutcome(dots: origin.dot...last, steps: change.steps)))
    }

    /// - Parameter held: what the author's changes may name.
    private static func refusal(
        of author: ChangeAuthor, naming held: VersionVector, on state: LogState
    ) -> ObjectRefusal? {
        guard let verdicts = state.cuts.verdicts else { return nil }
        let device = author.replica.device
        if verdicts.roles[device] == .reader { return .readOnly }
        func isVoid(by cuts: CutTable) -> Bool { (cuts.strictEnd(of: author.replica) ?? .max) <= author.tip.next }
        guard isVoid(by: state.cuts) else { return nil }
        // A new history counts where it begins behind what gave the device its role. That may have come apart, and cannot be
        // named yet.
        let isApart = state.cuts.trust.rows.contains {
            $0.statement.device == device && $0.statement.role != nil && verdicts.counting.contains($0.dot)
                && !state.held.covers($0.dot)
        }
        guard isApart, author.tip.next == 0 else { return nil }
        var cuts = state.cuts
        _ = cuts.record(Dot(replica: author.replica, counter: 0), context: held, [], members: state.members)
        return isVoid(by: cuts) ? .catchingUp : nil
    }

    private mutating func apply(
        _ write: LocalWrite, in change: inout ObjectPlan.Change, _ reading: some ObjectSource,
        _ sign: ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> WriteRefusal? {
        switch write {
        case .operations(let operations):
            for operation in operations { try objects.apply(operation, in: &change, reading) }
        case .planned(let writes, row: _): return try plan(writes, in: &change, reading)
        case .prepared(.planned(let writes, row: _), let prepared):
            return try plan(writes, prepared, in: &change, reading)
        case .once(_, let inner), .prepared(let inner, _): return try apply(inner, in: &change, reading, sign)
        case .retire(let device):
            // It would say nothing (`LogPlan.note`).
            guard state.members.knows(change.origin.dot.replica.device, at: change.origin) else {
                return WriteRefusal(step: 0, .catchingUp)
            }
            try objects.apply(Self.retiring(device, in: state), in: &change, reading)
        case .trust(let order):
            guard order.isInformed(at: change.origin, on: state) else {
                return WriteRefusal(step: 0, .catchingUp)
            }
            let statement = order.statement(at: change.origin, on: state, sign: sign)
            try objects.apply(.trust(statement), in: &change, reading)
        case .again(let old):
            let before = rewritten
            let isAdmitted = try objects.writeAgain(
                old, in: &change, reading, &rewritten, isVoid: state.cuts.isVoid
            ) { [state] fact in Self.retiring(fact.device, in: state) }
            if !isAdmitted {
                rewritten = before
                refusedAgain = WriteRefusal(step: 0, .catchingUp)
                return refusedAgain
            }
        }
        return refusal(of: change)
    }

    private mutating func plan(
        _ writes: [ObjectWrite], _ prepared: [PreparedWrite] = [], in change: inout ObjectPlan.Change,
        _ reading: some ObjectSource
    ) throws(StoreError) -> WriteRefusal? {
        for (step, write) in writes.enumerated() {
            let ahead = prepared.first { $0.step == step }
            if let reason = try objects.plan(write, ahead, in: &change, reading) {
                return WriteRefusal(step: step, reason)
            }
        }
        return refusal(of: change)
    }

    private func refusal(of change: ObjectPlan.Change) -> WriteRefusal? {
        if change.operations.isEmpty || ChangeAuthor.canAuthor(change.operations) { return nil }
        return WriteRefusal(step: 0, .tooLarge(limitBytes: Limits.operationsBytes))
    }

    /// Returns the operation that retires a device at the tips held here.
    private static func retiring(_ device: DeviceID, in state: LogState) -> SyncModel.Operation {
        .cut(.retiring(device, at: state.tips.map { (replica: $0.replica, tip: $0.tip) }))
    }

    package consuming func finish(
        reading: some ObjectSource, _ events: some EventSource, sign: ([UInt8]) -> [UInt8]
    ) throws(StoreError) -> Planned {
        var log = try LogPlan(batch.finish(sign: sign), on: state)
        let streams = try log.applyStreams(on: state, events)
        try objects.finish(reading)
        log.take(objects)
        return Planned(
            author: batch.author, log: log, objects: objects, streams: streams,
            result: AppendResult(commit: log.commit, outcomes: outcomes), answers: answers)
    }
}
