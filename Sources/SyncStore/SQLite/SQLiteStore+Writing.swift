import Synchronization
package import SyncModel

// The log: what is written here, and what peers wrote.
extension SQLiteStore {
    /// Plans each write against what is stored by then, authors one change for each that has something to write, chains,
    /// signs and commits all of them in one transaction. A refused write leaves nothing behind; the others stand.
    /// Mints a new incarnation first when the lease does not prove that this store lost nothing, or the clock was set.
    /// After `leaveOpen` a commit may stay open: its segments are then no part of the result.
    package func append(_ writes: [LocalWrite], wallMilliseconds: Int64) throws(StoreError) -> AppendResult {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            let mayStayOpen = writing.mayStayOpen && LocalWrite.mayStayOpen(writes)
            if mayStayOpen { try foldFullTail(&writing) }
            let state = writing.log
            let isRecovery = writes.allSatisfy(\.isOfRecoveryKey)
            try writing.own.heedCuts(state.cuts, isRecovery: isRecovery, faults: faults)
            writing.own.heedClock()
            let next = writing.own.nextAuthor(on: state)
            let isSealed = !mayStayOpen || writing.tail?.isFull ?? false
            if isSealed || writing.tail.map({ $0.replica != next.replica }) ?? false {
                try seal(&writing)
                writing.tail = nil
                let result = try append(writes, wallMilliseconds, isSealed: true, &writing)
                return result.serving(writing.takeUnserved(), andOwn: true)
            }
            return try append(writes, wallMilliseconds, isSealed: false, &writing).serving([], andOwn: false)
        }
    }

    /// Writes one change per group of operations, unchanged.
    package func append(_ groups: [[Operation]], wallMilliseconds: Int64) throws(StoreError) -> Commit {
        try append(groups.map { .operations($0) }, wallMilliseconds: wallMilliseconds).commit
    }

    /// - Parameter recording: what else is written in the same transaction.
    func append(
        _ writes: [LocalWrite], _ wallMilliseconds: Int64, isSealed: Bool, _ writing: inout Writing,
        recording: (LogRows, AppendResult) throws(StoreError) -> Void = { _, _ in }
    ) throws(StoreError) -> AppendResult {
        var state = writing.log
        let own = writing.own.device
        let writes = try state.adoptFounder(writes, by: own) { () throws(StoreError) in
            try readLog(space) { rows throws(StoreError) in try rows.namesHost(own) } ?? false
        }
        let before = writing.own.author
        let founderBefore = writing.log.founder
        let followedBefore = writing.log.cuts.founder
        let sign = isSealed ? sign : { _ in [] }
        let commit = LocalCommit(writing.own, on: state, wallMilliseconds: wallMilliseconds, faults: faults.model)
        let generation = published.withLock(\.generation)
        let (planned, settled) = try write(&writing) { [hot = writing.hot] access throws(StoreError) in
            let rows = try spaceRows(access)
            let objects = ObjectRows(rows, hot: hot)
            var commit = commit
            if !writes.allSatisfy(\.isAgain) { commit.wait(for: try waitingWork(in: rows, generation)) }
            for write in writes { try commit.take(write, reading: objects, sign: sign) }
            let planned = try commit.finish(reading: objects, StreamRows(rows), sign: sign)
            try recording(rows, planned.result)
            guard planned.writesAnything else {
                objects.giveBack(planned.objects)
                return (planned, LogPlan?.none)
            }
            try objects.write(planned.objects, segments: try rows.write(planned.log), at: wallMilliseconds)
            try TrustRows(rows).record(planned.log.trust, at: wallMilliseconds)
            try StreamRows(rows).write(planned.streams)
            if !faults.contains(.answersKeptLater) { try AnsweredWriteRows(access: access).write(planned.answers) }
            if !planned.log.entries.isEmpty { try rows.remember(planned.author, before: before) }
            if let founder = planned.log.after.founder, founder != founderBefore { try rows.write(founder: founder) }
            let settled = try rows.settleStrictEnds(
                from: state.cuts, of: state.held, to: planned.log.after, objects, at: wallMilliseconds, faults: faults)
            return (planned, settled)
        }
        guard planned.writesAnything else { return planned.result }
        if faults.contains(.answersKeptLater) { try keep(planned.answers, &writing) }
        writing.log = settled?.after ?? planned.log.after
        if !planned.log.entries.isEmpty {
            if !isSealed {
                var tail = writing.tail ?? OpenTail(planned.author.replica, before: state)
                tail.add(planned)
                writing.tail = tail
            }
            writing.own.committed(planned.author, sealed: writing.tail?.sealedTip)
        }
        publish(writing, movesOwn: false)
        let result = planned.result.settled(by: settled)
        // Adopted before the plan was made, which so did not see it as a change.
        return writing.log.cuts.founder == followedBefore ? result : result.judged(by: writing.log.cuts)
    }

    /// Applies verified segments in one transaction, in the order given: each begins at its replica's tip and its
    /// context is covered by what is held or comes before it. Idempotent: a segment that is wholly held is skipped.
    ///
    /// - Parameter strictEnds: given by a judgement outside the log, in place of those that follow from the segments. For
    ///   tests.
    package func apply(
        _ segments: [VerifiedSegment], judging strictEnds: [ReplicaID: UInt64]? = nil, wallMilliseconds: Int64
    ) throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            return try apply(segments, judging: strictEnds, wallMilliseconds, &writing)
        }
    }

    func apply(
        _ segments: [VerifiedSegment], judging strictEnds: [ReplicaID: UInt64]? = nil, _ wallMilliseconds: Int64,
        _ writing: inout Writing
    ) throws(StoreError) -> Commit {
        let state = writing.log
        let waiting =
            writing.holdsBack ? try readLog(space) { rows throws(StoreError) in try rows.heldBack() } ?? [] : []
        let released = state.applicable(
            waiting, behind: segments, but: waiting.isEmpty ? [] : try guests(&writing))
        var plan = try LogPlan(segments + released, on: state, judging: strictEnds)
        guard !plan.entries.isEmpty || plan.changesCuts else {
            return plan.commit.serving(writing.takeUnserved(), andOwn: true)
        }
        let (hot, own) = (writing.hot, writing.own.device)
        let settled: LogPlan?
        (plan, settled) = try write(&writing) { access throws(StoreError) in
            let rows = try spaceRows(access)
            let objects = ObjectRows(rows, hot: hot)
            var plan = plan
            var settled: LogPlan?
            try plan.settleCuts(on: state, rows, faults: faults)
            lookForWaitingWork(by: plan.after.cuts)
            let planned = try plan.applyObjects(on: state, objects, faults: faults.model)
            let streams = try plan.applyStreams(on: state, StreamRows(rows))
            try objects.write(planned, segments: try rows.write(plan), at: wallMilliseconds)
            try TrustRows(rows).record(plan.trust, at: wallMilliseconds)
            try StreamRows(rows).write(streams)
            if plan.after.founder == nil, plan.entries.contains(where: { !$0.scan.additions.isEmpty }) {
                settled = try rows.followFounder(of: own, &plan.after, objects, at: wallMilliseconds)
                plan.changesCuts = plan.after.cuts != state.cuts
            }
            if !waiting.isEmpty { try rows.releaseHeldBack(upTo: plan.after.held) }
            return (plan, settled)
        }
        if !waiting.isEmpty {
            writing.holdsBack = try readLog(space) { rows throws(StoreError) in try rows.holdsBack() } ?? true
        }
        writing.log = plan.after
        if !plan.commit.additions.isEmpty { writing.guests = nil }
        writing.own.applied(plan)
        publish(writing, movesOwn: plan.entries.contains { $0.verified.segment.replica.device == device })
        let commit = settled.map { plan.commit.settled(by: $0) } ?? plan.commit
        return commit.serving(writing.takeUnserved(), andOwn: true)
    }

    // Open and sealed

    /// Lets commits of objects and events stay open from now on: durable and shown, but not signed and not served.
    package func leaveOpen() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.mayStayOpen = true
        }
    }

    /// Folds and signs what is open, in one transaction; from now on every commit is sealed at once, also when this fails.
    /// Nothing that was shown changes. So do a commit that cannot stay open, `apply` and `close`, which come first.
    /// - Returns: the segments that may be served now, none when nothing was open. What was sealed by a call that then
    ///   failed is part of the next answer.
    package func seal() throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.mayStayOpen = false
            try signWhatWasLeft(&writing)
            try seal(&writing)
            return Commit(nothingOn: writing.log).serving(writing.takeUnserved(), andOwn: true)
        }
    }

    func seal(_ writing: inout Writing) throws(StoreError) {
        guard let tail = writing.tail else { return }
        let sealing = try rewrite(tail, &writing, sign: sign)
        writing.log = sealing.after
        writing.own.sealed(tail.replica, sealing.tip)
        writing.unserved += sealing.log.entries.map(\.verified)
        writing.tail = faults.contains(.foldWhatWasSeen) ? tail.seen(as: sealing) : nil
        publish(writing, movesOwn: false)
    }

    /// Seals, and runs `body` before anything else is written.
    func sealed<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            return try body()
        }
    }

    func signWhatWasLeft(_ writing: inout Writing) throws(StoreError) {
        guard let replica = writing.leftOpen else { return }
        try write(&writing) { access throws(StoreError) in try spaceRows(access).signTail(of: replica, sign) }
        writing.leftOpen = nil
    }

    /// Completes our own acknowledgement with the ends of our histories as they are now, signs it and keeps it. Whatever
    /// is appended later knows all that it covers.
    package func acknowledge(_ acknowledgement: Acknowledgement) throws(StoreError) -> SignedAcknowledgement {
        try writing.withLock { writing throws(StoreError) in
            let signed = SignedAcknowledgement(writing.log.completing(acknowledgement), space: space, sign: sign)
            try write(&writing) { access throws(StoreError) in try spaceRows(access).keep([signed]) }
            return signed
        }
    }

    /// Runs one step of collection in one transaction: looks at no more than `limit` objects, in the order of their newest
    /// deletions' dots behind `after`, and forgets the deletions of those whose deletions `stable` covers. What readers see,
    /// the digest and positions in the feed stay.
    /// - Throws: also `notApplicable` while changes of our own are open: what they are folded into must be what they saw.
    package func collect(upTo stable: VersionVector, after: Dot?, limit: Int) throws(StoreError) -> CollectionStep {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            if let tail = writing.tail { throw .notApplicable(tail.replica, at: tail.sealedTip.next) }
            let state = writing.log
            let hot = writing.hot
            let planned = try write(&writing) { access throws(StoreError) in
                let objects = ObjectRows(try spaceRows(access), hot: hot)
                let plan = try CollectionPlan(stable, on: state, objects) { () throws(StoreError) in
                    try objects.deletions(upTo: stable, after: after, limit: limit)
                }
                if plan.isChanged { try objects.write(plan) }
                return plan
            }
            guard planned.isChanged else { return planned.step(limit: limit) }
            writing.log = planned.log.after
            publish(writing, movesOwn: false)
            return planned.step(limit: limit)
        }
    }

    /// The next append begins a new incarnation: called when a verified signature of our own key shows our current one
    /// with a greater end or another head. Applying segments of our current incarnation has the same effect.
    package func closeIncarnation() throws(StoreError) {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            writing.own.end()
            publish(writing, movesOwn: false)
        }
    }

    /// Ends the incarnation if it is `replica`.
    package func closeIncarnation(of replica: ReplicaID) throws(StoreError) {
        if try state().ownReplica == replica { try closeIncarnation() }
    }

    /// Returns the state that the agent needs before its first step. Memory needed does not grow with the log.
    package func state() throws(StoreError) -> StoreState {
        let known = published.withLock { $0 }
        if known.isClosed { throw .closed }
        let additions = try readLog(space) { rows throws(StoreError) in try rows.additions() } ?? []
        return StoreState(
            tips: known.log.tips, additions: additions, digest: known.log.digest, counts: known.log.counts,
            ownReplica: known.ownReplica, addresses: try addresses(), lastPosition: known.log.lastPosition,
            acknowledgements: try readLog(space) { rows throws(StoreError) in try rows.acknowledgements() } ?? [],
            floor: known.log.floor, firstHeld: known.log.firstHeld, cuts: known.log.cuts,
            isIncomplete: known.log.isIncomplete,
            settled: try readLog(space) { rows throws(StoreError) in try rows.settled() } ?? [],
            gaveWay: try readLog(space) { rows throws(StoreError) in try rows.gaveWay() } ?? [:],
            awaited: try readLog(space) { rows throws(StoreError) in
                try rows.heldBack().awaited(on: known.log)
            } ?? [],
            hasTakenBack: try readLog(space) { rows throws(StoreError) in try rows.hasTakenBack() } ?? false,
            blocked: try blockedDevices(), founder: known.log.founder)
    }

    var cuts: CutTable { get throws(StoreError) { try logState().cuts } }

    /// Returns the membership facts, with the operations that admitted each member.
    package func members() throws(StoreError) -> MemberFacts { try logState().members }

    /// Returns what the author of the replica's newest stored change had seen.
    package func context(of replica: ReplicaID) throws(StoreError) -> VersionVector {
        try logState().context(of: replica)
    }

    /// Returns the position of the newest change to an object, 0 before the first.
    package func objectPosition() throws(StoreError) -> Int64 { try logState().objectPosition }

    /// Returns the log as it is behind the newest commit, without reading the disk.
    package func logState() throws(StoreError) -> LogState {
        try published.withLock { known throws(StoreError) in
            if known.isClosed { throw .closed }
            return known.log
        }
    }
}
