import SyncModel

/// Takes in a state delta that is staged as a whole, within one transaction: afterwards the store shows what it would show
/// had the changes come one by one.
///
/// Memory: what one batch of objects or events takes, and one number or vector per replica.
struct StateJoin {
    /// The number of bytes of staged states or events that are taken in between two writes.
    private static let batchBytes = 1 << 20
    private static let birthsPerPage: Int64 = 256
    private static let objectsPerPage: Int64 = 64

    let rows: LogRows
    let objects: ObjectRows
    private let staging: StagingRows
    private let header: StagingRows.Header
    private let wallMilliseconds: Int64
    private let faults: StoreFaults
    /// The changes held before.
    let held: VersionVector
    /// The counters from which on changes were held.
    private let firstHeld: VersionVector
    /// The changes that the sender held.
    let theirs: VersionVector
    private var tips: [StateTip] = []
    /// The first contexts, including those of replicas that are not held yet.
    var firsts: FirstContexts
    private var facts: [StateFact] = []
    private var cuts: StateCuts?
    var schemas: [StateSchema] = []
    var settings: [KeptStream] = []
    private var dropped: [SyncModel.Operation.EventDrop] = []
    /// The state as far as it is written.
    var state: LogState
    private var additions: [Membership.Addition] = []
    var streams: Set<Name.Bytes> = []
    private let cutsBefore: CutTable
    private let strictEnds: [ReplicaID: UInt64]?
    /// True if the sender was asked for every object whole, because objects here may be wrong (`LogState.isIncomplete`). So are
    /// schemas and settings.
    private let isWhole: Bool

    init(
        _ rows: LogRows, _ objects: ObjectRows, on state: LogState, judging strictEnds: [ReplicaID: UInt64]?,
        at wallMilliseconds: Int64, faults: StoreFaults
    ) throws(StoreError) {
        self.rows = rows
        self.strictEnds = strictEnds
        self.objects = objects
        self.wallMilliseconds = wallMilliseconds
        self.faults = faults
        self.state = state
        held = state.held
        firstHeld = state.firstHeld
        firsts = state.firsts
        staging = StagingRows(rows)
        guard let header = try staging.header() else { throw .refused(.incomplete) }
        self.header = header
        cutsBefore = state.cuts
        isWhole = state.isIncomplete && header.since.isEmpty
        var vector: VersionVector?
        for item in try staging.items() {
            switch item {
            case .fact(let fact): facts.append(fact)
            case .cuts(let known): cuts = known
            case .schema(let schema): schemas.append(schema)
            case .stream(let stream): settings.append(KeptStream(stream.setting, at: stream.key))
            case .dropped(let events): dropped.append(events)
            case .tip(let tip):
                tips.append(tip)
                if held.next(of: tip.replica) == 0 { firsts.record(tip.first, of: tip.replica) }
            case .end(let end): vector = end.vector
            case .announcement, .object, .events, .births, .check:
                throw .corrupt(detail: "an item is staged in the wrong place")
            }
        }
        let isLacking = try staging.lacksObjects(header)
        guard let vector, !isLacking || faults.contains(.stateHalfStaged) else { throw .refused(.incomplete) }
        theirs = vector
        try checkTips()
    }

    /// Checks that the sender says of each history how far it goes, and that none of them contradicts what is held. The
    /// signatures were checked by the core.
    private func checkTips() throws(StoreError) {
        let named = Set(tips.map(\.replica))
        guard theirs.entries(beyond: header.since).allSatisfy({ named.contains($0.replica) }) else {
            throw .refused(.incomplete)
        }
        for tip in tips {
            guard theirs.next(of: tip.replica) == tip.tip.next else { throw .refused(.beyondVector) }
            let own = state.tip(of: tip.replica)
            if own.next == tip.tip.next, own.head != tip.tip.head { throw .refused(.fork) }
            // Otherwise one forged stamp would stop every writer.
            let isPossible =
                tip.tip.stamp.milliseconds < Stamp.wallLimitMilliseconds || tip.tip.stamp <= state.greatestStamp
            guard isPossible else { throw .refused(.unreachableStamp) }
        }
    }

    var commit: Commit {
        Commit(
            segments: [], digest: state.digest, counts: state.counts, additions: additions,
            lastPosition: state.lastPosition, streams: streams.sorted().map(\.text),
            objectPosition: state.objectPosition, mayChangeSchemas: true,
            cuts: state.cuts == cutsBefore ? nil : state.cuts,
            isIncomplete: state.isIncomplete)
    }

    /// - Parameter reached: called between the parts, in the middle of the transaction; what it throws undoes all.
    mutating func run(_ reached: (StateJoinPart) throws(StoreError) -> Void) throws(StoreError) {
        guard try settleCuts() else { return try staging.discard() }
        for tip in tips where held.next(of: tip.replica) == 0 && !faults.contains(.stateForgetsFirstContexts) {
            state.recordFirst(tip.first, of: tip.replica, isHearsay: true)
        }
        try writeFacts()
        try joinSchemas()
        try joinObjects()
        if isWhole { try clearUnannounced() }
        try reached(.objects)
        if faults.contains(.stateInPieces) {
            try rows.access.run("COMMIT")
            try rows.access.run("BEGIN IMMEDIATE")
        }
        if !faults.contains(.stateWithoutBirths) { try dropGoneLives() }
        try reached(.births)
        try joinEvents()
        try reached(.events)
        try moveTips()
        if isWhole {
            state.isIncomplete = false
            try rows.write(state.cuts, isIncomplete: false)
        }
        try staging.discard()
        try reached(.tips)
    }

    // MARK: Cuts

    /// Before anything else: what counts has to be the same for what is here and for what comes. Where the sender did not know
    /// enough for that, or this node cannot undo here what is void, only the cuts are taken, with all that is said for and
    /// against them; the rest is asked for again, once the other side has learned as much.
    /// - Returns: whether all else is to be joined.
    private mutating func settleCuts() throws(StoreError) -> Bool {
        var members = state.members
        for fact in facts where fact.fact.isBound { members.add(fact.fact, at: fact.dot) }
        var known = CutTable()
        // The sender judges, and it need not hold every fact that is held here. Its table has a row for the fact that
        // admitted a member again only if it holds that fact. Without the row the fact alone would say that this one depends
        // on a void fact.
        do throws(CodecError) { if let cuts { known = try cuts.table(members.held(at: theirs)) } } catch {
            throw .refused(.malformed(error))
        }
        guard known.trust.isWithin(theirs, besides: state.cuts.trust) else { throw .refused(.beyondVector) }
        // Of a change in its log this node knows itself what to think.
        known = known.keepingStatements { row in
            row.statement.isRecovery || !state.held.covers(row.dot)
                || row.dot.counter < state.firstHeld.next(of: row.dot.replica)
                || state.cuts.trust.row(at: row.dot) != nil
        }
        // Both are judged alike: by the founder that is followed here.
        known.follow(
            state.cuts.founder, recoveryKey: state.cuts.recoveryKey, in: state.space, members: members.held(at: theirs))
        if let strictEnds { known.record(strictEnds: strictEnds, members: members.held(at: theirs)) }
        var joined = state.cuts
        joined.join(known, members: members)
        if known.endsNothing, state.cuts.endsNothing, joined.endsNothing { return true }
        var plan = try settled(known, tips, members)
        let agrees = known.agrees(with: plan.after.cuts, on: theirs) || faults.contains(.stateIgnoresCuts)
        // The rows alone: histories that stay the sender's speak for nothing here, or two that hold the same would differ.
        if !agrees { plan = try settled(known, [], state.members) }
        let rebuilt = try plan.applyObjects(on: state, objects)
        let streams = try plan.applyStreams(on: state, StreamRows(rows))
        _ = try rows.write(plan)
        try objects.write(rebuilt, segments: [], at: wallMilliseconds)
        try StreamRows(rows).write(streams)
        self.streams.formUnion(plan.streams)
        // The sender's table does not say when each retirement was written.
        let new = plan.after.cuts.cuts.filter { !cutsBefore.cuts.contains($0) }
        try TrustRows(rows).record(
            new.map { TrustFact($0.fact, at: $0.dot, wallMilliseconds: nil) }, at: wallMilliseconds)
        state = plan.after
        guard agrees else { return false }
        // Changes that came as state are not in the log: a peer without them cannot say what is missing of an object. Of void
        // ones nothing is missing.
        guard isWhole else { return !state.isIncomplete }
        return state.firstHeld.entries.allSatisfy { entry in
            theirs.next(of: entry.replica) >= min(entry.next, state.cuts.strictEnd(of: entry.replica) ?? .max)
        }
    }

    private func settled(
        _ known: CutTable, _ tips: [StateTip], _ members: MemberFacts
    ) throws(StoreError) -> LogPlan {
        var plan = try LogPlan([], on: state)
        plan.join(known, tips, firsts, members: members, judging: strictEnds, on: state)
        try plan.settleCuts(on: state, rows, faults: faults)
        return plan
    }

    // MARK: Objects

    private mutating func writeFacts() throws(StoreError) {
        var trust: [TrustFact] = []
        for fact in facts where !held.covers(fact.dot) {
            let addition = Membership.Addition(
                author: fact.dot.replica.device, fact: fact.fact, wallMilliseconds: fact.wallMilliseconds)
            try rows.insert(addition, fact.dot)
            let isBound = fact.fact.isBound
            if isBound { state.members.add(fact.fact, at: fact.dot) }
            additions.append(addition)
            trust.append(TrustFact(addition, at: fact.dot, isBound: isBound))
        }
        try TrustRows(rows).record(trust, at: wallMilliseconds)
    }

    /// Writes one batch of changes to objects.
    mutating func write(
        _ body: (inout ObjectPlan) throws(StoreError) -> Void
    ) throws(StoreError) {
        var plan = ObjectPlan(on: state)
        try body(&plan)
        try plan.finish(objects)
        var log = try LogPlan([], on: state)
        log.take(plan)
        _ = try rows.write(log)
        try objects.write(plan, segments: [], at: wallMilliseconds)
        let beginnings = BeginningRows(objects)
        for entry in plan.changed {
            if let row = try objects.objectRow(entry.object.key) { try beginnings.begin(at: row) }
        }
        state = log.after
    }

    private mutating func joinSchemas() throws(StoreError) {
        if isWhole { return try replaceSchemas() }
        let (schemas, held, theirs) = (schemas, held, theirs)
        try write { [objects] plan throws(StoreError) in
            for schema in schemas { try plan.join(schema, held: held, theirs: theirs, objects) }
        }
    }

    private mutating func joinObjects() throws(StoreError) {
        var row: Int64 = 0
        var isMore = true
        let (staging, header, held, theirs, isWhole) = (staging, header, held, theirs, isWhole)
        let removes = !faults.contains(.stateWithoutLiveDots)
        while isMore {
            try write { [objects] plan throws(StoreError) in
                var byteCount = 0
                while byteCount < Self.batchBytes {
                    guard let next = try staging.object(behind: row, header) else {
                        isMore = false
                        return
                    }
                    row = next.row
                    byteCount += next.bytes.count
                    let object: StateObject = try ObjectRows.value(next.bytes, "a staged object does not read back")
                    guard object.delta.isCovered(by: theirs) else { throw .refused(.beyondVector) }
                    if isWhole {
                        try plan.replace(next.key, with: object, theirs: theirs, objects)
                    } else {
                        try plan.join(object, to: next.key, held: held, theirs: theirs, removes: removes, objects)
                    }
                }
            }
        }
    }

    /// Empties the objects that void operations have touched and that the sender did not announce: nothing of them counts.
    ///
    /// `dropGoneLives` does not remove all of their lives: it knows only those that the sender's vector covers, and void work may
    /// have begun one beyond that.
    private mutating func clearUnannounced() throws(StoreError) {
        let (staging, header, theirs, cuts) = (staging, header, theirs, state.cuts)
        let touched = try TouchedVectors(rows)
        var row: Int64 = 0
        while true {
            let page = try staging.unannounced(behind: row, limit: Self.objectsPerPage, header)
            guard let last = page.last else { return }
            row = last.row
            var wrong: [ObjectKey] = []
            for object in page where cuts.isVoid(anyOf: try touched.vector(object.touched)) { wrong.append(object.key) }
            guard !wrong.isEmpty else { continue }
            try write { [objects] plan throws(StoreError) in
                for key in wrong { try plan.replace(key, with: nil, theirs: theirs, objects) }
            }
        }
    }

    /// Removes lives that the sender has no more. It could not send their deletions, because it has forgotten those.
    private mutating func dropGoneLives() throws(StoreError) {
        let (staging, header) = (staging, header)
        for entry in theirs.entries {
            var counter: Int64 = -1
            while true {
                let gone = try staging.goneBirths(of: entry, behind: counter, limit: Self.birthsPerPage, header)
                guard let last = gone.last else { break }
                counter = Int64(last.birth.counter)
                try write { [objects] plan throws(StoreError) in
                    for (birth, key) in gone { try plan.dropLife(birth, of: key, objects) }
                }
            }
        }
    }

    // MARK: Events and tips

    /// Joins events in an order that contexts allow: the residues of each replica one after the other, each once all that its
    /// author had seen is there.
    private mutating func joinEvents() throws(StoreError) {
        if isWhole { try replaceSettings() }
        try write(residues: [])
        var lanes: [StagingRows.ResidueHead] = []
        var begun: Set<ReplicaID> = []
        for replica in try staging.replicasWithEvents() {
            if let head = try staging.residue(of: replica, from: 0) { lanes.append(head) }
        }
        var batch: [EventResidue] = []
        var byteCount = 0
        while !lanes.isEmpty {
            var isStuck = true
            for index in lanes.indices.reversed() {
                while index < lanes.count, isReady(lanes[index], lanes, isFirst: !begun.contains(lanes[index].replica))
                {
                    isStuck = false
                    let head = lanes[index]
                    begun.insert(head.replica)
                    let whole = try staging.residue(head)
                    let wanted =
                        held.next(of: head.replica)..<max(held.next(of: head.replica), theirs.next(of: head.replica))
                    if let residue = whole.within(wanted) {
                        batch.append(residue)
                        byteCount += residue.bytes.count
                    }
                    if byteCount >= Self.batchBytes {
                        try write(residues: batch)
                        (batch, byteCount) = ([], 0)
                    }
                    if let next = try staging.residue(of: head.replica, from: whole.end) {
                        lanes[index] = next
                    } else {
                        lanes.remove(at: index)
                        break
                    }
                }
            }
            // Two authors that follow the rules cannot each have seen the other's later work.
            if isStuck { throw .refused(.outOfOrder) }
        }
        try write(residues: batch)
    }

    private func isReady(
        _ head: StagingRows.ResidueHead, _ lanes: [StagingRows.ResidueHead], isFirst: Bool
    ) -> Bool {
        func isReady(_ context: VersionVector) -> Bool {
            lanes.allSatisfy { $0.replica == head.replica || $0.start >= context.next(of: $0.replica) }
        }
        return isReady(head.context) && (!isFirst || isReady(firsts.inherited(by: head.replica)))
    }

    private mutating func write(residues: [EventResidue]) throws(StoreError) {
        var next: [ReplicaID: UInt64] = [:]
        let segments = residues.map { residue in
            let start = next[residue.replica] ?? state.held.next(of: residue.replica)
            next[residue.replica] = residue.end
            return segment(residue, from: start)
        }
        try write(segments)
    }

    private mutating func write(_ segments: [VerifiedSegment]) throws(StoreError) {
        var plan = try LogPlan(residues: segments, settings: settings, dropped: dropped, on: state)
        let streams = try plan.applyStreams(on: state, StreamRows(rows))
        for tip in tips where segments.contains(where: { $0.segment.replica == tip.replica }) {
            plan.raiseFirstHeld(of: tip.replica, to: plan.after.held.next(of: tip.replica))
        }
        _ = try rows.write(plan)
        try StreamRows(rows).write(streams)
        self.streams.formUnion(plan.streams)
        state = plan.after
    }

    /// The last one of a history ends as its tip says.
    private func segment(_ residue: EventResidue, from start: UInt64) -> VerifiedSegment {
        let last = tips.first { $0.replica == residue.replica && $0.tip.next == residue.end }
        let head = last?.tip.head ?? ChainHead(space: state.space, replica: residue.replica)
        return VerifiedSegment(
            segment: Segment(
                replica: residue.replica, start: start, end: residue.end, bytes: residue.bytes,
                signature: last?.signature ?? []),
            context: last.map(\.named.entries) ?? residue.context, changeCount: 0,
            tip: ReplicaTip(next: residue.end, head: head, stamp: last?.tip.stamp ?? residue.lastStamp))
    }

    private mutating func moveTips() throws(StoreError) {
        try write(tips.filter { state.held.next(of: $0.replica) < $0.tip.next }.map(segment))
        for entry in state.firstHeld.entries(beyond: firstHeld) {
            try rows.writeNamed(by: entry.replica, state)
            try rows.access.run(
                "UPDATE replica SET first_held = ?, first_context = ? WHERE id = ?", .integer(Int64(entry.next)),
                .blob(VectorColumn.encoded(state.named(by: entry.replica))),
                .integer(try rows.replicaRow(entry.replica)))
        }
        state.floor.join(theirs)
        try rows.write(floor: state.floor)
    }

    /// Returns the segment that brings a history to its tip behind its last event: one void operation with the context that
    /// its author gained since the last event, for peers that request it later.
    private func segment(_ tip: StateTip) -> VerifiedSegment {
        let named = VersionVector(tip.named.entries(beyond: state.named(by: tip.replica)))
        let bytes = Change.naming(named, before: tip.tip.next, stamp: tip.tip.stamp)
        return VerifiedSegment(
            segment: Segment(
                replica: tip.replica, start: state.held.next(of: tip.replica), end: tip.tip.next, bytes: bytes,
                signature: tip.signature),
            context: named.entries, changeCount: 0, tip: tip.tip)
    }
}

/// A part of a join that is done.
package enum StateJoinPart: Sendable, CaseIterable {
    case objects
    case births
    case events
    case tips
}
