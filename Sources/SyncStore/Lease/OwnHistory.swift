package import SyncModel

/// The replica this store writes under, and the lease that will let the next start go on with it.
///
/// Begins without one; `resume` takes the old incarnation over when the lease allows it, else the first write mints a new
/// one. Used under the store's write lock.
package struct OwnHistory: Sendable {
    let device: DeviceID
    private let space: SpaceID
    private let keeper: (any LeaseKeeper)?
    private let incarnations: @Sendable () -> UInt64
    private let clockAhead: @Sendable () -> Int64
    /// The number that `clockAhead` gave at the start, or when it last ended a history.
    private var knownAhead: Int64
    private var endedByClock: ContinuousClock.Instant?
    package private(set) var author: ChangeAuthor?
    private var lease: (any HeldLease)?
    /// True if at the start the store held work by authors that no fact connected to this device: its key is new, its data is
    /// older.
    private let isNewOnOldData: Bool

    /// - Parameter state: at the start of the store.
    package init(
        device: DeviceID, on state: LogState, keeper: (any LeaseKeeper)?, faults: StoreFaults = [],
        incarnations: @escaping @Sendable () -> UInt64, clockAhead: @escaping @Sendable () -> Int64
    ) {
        self.device = device
        space = state.space
        self.keeper = keeper
        self.incarnations = incarnations
        self.clockAhead = clockAhead
        knownAhead = clockAhead()
        let connected = Set(state.members.connected(with: device))
        isNewOnOldData =
            !faults.contains(.strangersNamed) && state.tips.contains { !connected.contains($0.replica.device) }
    }

    /// Goes on under the replica it last wrote under if the lease proves that this store wrote last and lost no tail.
    ///
    /// - Parameter head: the chain head at a counter where a stored segment of it ends; nil elsewhere.
    package mutating func resume(
        _ replica: ReplicaID, on state: LogState, faults: StoreFaults,
        head: (UInt64) throws(StoreError) -> ChainHead?
    ) throws(StoreError) {
        precondition(author == nil, "resumes once, at the start")
        guard replica.device == device else { return }
        let tip = state.tip(of: replica)
        let found = keeper?.open(replica, creating: false)
        var mayGoOn = faults.contains(.reuseCounterAfterCrash)
        if !mayGoOn, let keeper, let record = found?.record {
            mayGoOn = try record.permits(replica, bootID: keeper.bootID, next: tip.next, ahead: knownAhead, head: head)
            if faults.contains(.leaseIgnoresTail) { mayGoOn = record.bootID == keeper.bootID }
        }
        guard mayGoOn else {
            found?.discard()
            return
        }
        lease = found
        author = ChangeAuthor(space: space, replica: replica, tip: tip, named: state.context(of: replica))
    }

    /// Ends a history that was cut. A new one begins only after the device is admitted again: its first change must know
    /// that. The recovery key also speaks on a device that was revoked: then its statement begins the new history.
    package mutating func heedCuts(
        _ cuts: CutTable, isRecovery: Bool = false, faults: StoreFaults = []
    ) throws(StoreError) {
        guard !cuts.endsNothing else { return }
        let mayBegin = isRecovery && cuts.isBarred(device)
        if cuts.isAway(device), !mayBegin, !faults.contains(.beginUninvited) { throw .retired }
        if let author, cuts.end(of: author.replica) != nil { end() }
    }

    /// Ends the history if the wall clock was set since it began. A virtual machine that was put back with its memory shows it
    /// in nothing else: lease, counters and the time since the start went back together.
    mutating func heedClock() {
        let ahead = clockAhead()
        guard LeaseRecord.isSet(from: knownAhead, to: ahead) else { return }
        // Two sources of time that disagree would else end one after the other, and a vector has room for so many only.
        let now = ContinuousClock.now
        if let endedByClock, now - endedByClock < .seconds(3_600) { return }
        (knownAhead, endedByClock) = (ahead, now)
        end()
    }

    /// The author of the next change: the one we have, else of a new incarnation that nothing held uses.
    package func nextAuthor(on state: LogState) -> ChangeAuthor {
        if let author { return author }
        for _ in 0..<100 {
            let replica = ReplicaID(device: device, incarnation: incarnations())
            let tip = state.tip(of: replica)
            if tip.next == 0 {
                let before = state.tips.lazy.map(\.replica).filter { $0.device == device }
                return ChangeAuthor(
                    space: space, replica: replica, tip: tip, named: state.firsts.said(by: before))
            }
        }
        preconditionFailure("the generator of incarnations repeats itself")
    }

    /// The vector that changes of this device may name. Work of a device with which no fact connects this one could not be checked
    /// by a member that knows this device alone: it would wait for ever, also for the fact that admits the other device.
    func nameable(on state: LogState) -> VersionVector {
        guard state.hasTakenBack || isNewOnOldData else { return state.held }
        let facts = state.members
        let devices = Set(state.hasTakenBack ? facts.reached(from: device) : facts.connected(with: device))
        return VersionVector(state.held.entries.filter { devices.contains($0.replica.device) })
    }

    /// Takes over what a durable commit wrote and renews the lease, before the commit is answered.
    ///
    /// - Parameter sealed: how far it is signed; nil: as far as it is written.
    package mutating func committed(_ next: ChangeAuthor, sealed: ReplicaTip? = nil) {
        if next.replica != author?.replica {
            lease?.discard()
            lease = keeper?.open(next.replica, creating: true)
        }
        author = next
        guard let keeper, let held = lease else { return }
        let sealed = sealed ?? next.tip
        let record = LeaseRecord(
            bootID: keeper.bootID, replica: next.replica, next: next.tip.next, sealedEnd: sealed.next,
            sealedHead: sealed.head, clockAhead: knownAhead)
        if !held.replace(record) {
            // A lease that says less than we answered for is worse than none.
            held.discard()
            lease = nil
        }
    }

    /// After the open tail of `replica` was sealed: its chain was made anew.
    package mutating func sealed(_ replica: ReplicaID, _ tip: ReplicaTip) {
        guard let author, author.replica == replica else { return }
        committed(ChangeAuthor(space: author.space, replica: replica, tip: tip, named: author.named))
    }

    /// After it was folded and stays open.
    ///
    /// - Parameter sealed: how far it is signed.
    package mutating func folded(_ replica: ReplicaID, _ tip: ReplicaTip, sealed: ReplicaTip) {
        guard let author, author.replica == replica else { return }
        committed(
            ChangeAuthor(space: author.space, replica: replica, tip: tip, named: author.named), sealed: sealed)
    }

    /// Ends the history if applied segments are of our replica: another store with our incarnation continues it now.
    package mutating func applied(_ plan: LogPlan) {
        if let author, plan.entries.contains(where: { $0.verified.segment.replica == author.replica }) { end() }
    }

    /// After state was joined: the same, whichever of its segments are here.
    package mutating func joined(_ state: LogState) {
        if let author, state.held.next(of: author.replica) != author.tip.next { end() }
    }

    /// The next write begins a new incarnation.
    package mutating func end() {
        lease?.discard()
        lease = nil
        author = nil
    }

    /// Leaves the lease in place for the next start.
    package mutating func release() {
        lease?.release()
        lease = nil
    }
}
