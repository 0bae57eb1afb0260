import SyncModel

/// Keeps what is known of histories of which two may exist, for this node and for each session.
///
/// It decides nothing: `SpaceMachine+Forks.swift` and its neighbours do, with the log and the peers' claims.
struct ForkDetector: Sendable {
    /// Replicas of which two histories were seen and neither was reverted here, with the devices that showed the other: they are
    /// not asked for.
    private var holders: [ReplicaID: Set<DeviceID>] = [:]
    /// The number of times that a peer proved a head of our own beyond what is held, with bytes that do not continue it.
    private var unfitOwnSegments = 0
    private var exchanges = PerSession(initial: ForkExchange())
    /// The inquiry under way, one at a time.
    private(set) var inquiry: ForkInquiry?
    /// Our own replicas whose history here is the one that stays: a peer that holds another reverts it.
    private(set) var settled: [ReplicaID]
    /// Our own replicas of which changes were reverted, and are redone elsewhere: the ends of those changes.
    private(set) var gaveWay: [ReplicaID: Set<ChainEnd>]
    /// The ends of histories of which the store has the rest, until what their authors had seen is held. Before that no peer
    /// is asked for them, since it may hold the one that gave way.
    private(set) var awaited: [KnownReplica]
    /// Our own replicas under which this device has written since the start, or may go on to write.
    private(set) var written: Set<ReplicaID> = []
    /// Those of which another history was dropped by all, and ours could not be taken back for it.
    private(set) var hidden: Set<ReplicaID> = []
    /// The ends of the histories that come as state in place of what was taken back.
    private(set) var coming: [KnownReplica] = []
    /// The vectors of this device's histories that each peer has claimed since the start.
    private(set) var shown: [DeviceID: VersionVector] = [:]
    /// The replicas of which a peer that is not their author was walked and had altered something, since the start.
    private var altered: [AlteredHistory] = []
    /// The number of claims about our own history that were believed without a signature since the start.
    private(set) var believed = 0
    /// True if reverted work of this device is kept, to be redone.
    private(set) var hasTakenBack: Bool
    /// True if the store may be able to apply what is awaited: no other input may come that would make it try.
    private(set) var mayRelease: Bool
    private(set) var isRedoing = false
    private(set) var hold = RewritingHold()
    /// The store refused; at `redoAt` again.
    private(set) var hasRedoFailed = false
    /// True if the next redone change would count nowhere: the device that had admitted this one reverted that fact, and has
    /// not written it again. The step is tried again as soon as a device was admitted, and at `redoAt`.
    private(set) var isRedoWaiting = false
    /// True if a device was admitted, or a role or an end changed, since the last step began.
    private(set) var hasAdditions = false
    /// The latest time to redo: it is better once we hold what the others hold.
    private(set) var redoAt: Tick

    /// The store could not look up where ours stands; nothing is looked into before.
    private(set) var lookAt: Tick?

    var isTakingBack: Bool { inquiry?.stage == .takingBack }

    init(
        settled: [ReplicaID], gaveWay: [ReplicaID: Set<ChainEnd>], awaited: [KnownReplica], hasTakenBack: Bool,
        mayRelease: Bool, redoAt: Tick
    ) {
        self.settled = settled
        self.gaveWay = gaveWay
        self.awaited = awaited
        self.hasTakenBack = hasTakenBack
        self.mayRelease = mayRelease
        self.redoAt = redoAt
    }

    mutating func open(_ id: ConnectionID) { exchanges.open(id) }
    mutating func close(_ id: ConnectionID) { exchanges.close(id) }

    /// Takes over what does not depend on the log from the detector before, after the store reverted a history.
    mutating func continueSessions(of old: ForkDetector) {
        (exchanges, shown, altered) = (old.exchanges, old.shown, old.altered)
        (written, hidden, coming) = (old.written, old.hidden, old.coming)
        (believed, unfitOwnSegments) = (old.believed, old.unfitOwnSegments)
    }

    // MARK: Forked replicas

    var forked: [ReplicaID] { holders.keys.sorted() }

    func isForked(_ replica: ReplicaID) -> Bool { holders[replica] != nil }

    /// - Returns: true if that is new.
    mutating func recordForked(_ replica: ReplicaID, by device: DeviceID) -> Bool {
        let isNew = holders[replica] == nil
        holders[replica, default: []].insert(device)
        return isNew
    }

    mutating func endForked(_ replica: ReplicaID) {
        holders[replica] = nil
        hidden.remove(replica)
    }

    /// The forked replicas that were seen with such devices alone, sorted.
    func forked(only isSuch: (DeviceID) -> Bool) -> [ReplicaID] {
        holders.filter { $0.value.allSatisfy(isSuch) }.keys.sorted()
    }

    /// - Returns: the number of such segments since the start.
    mutating func recordUnfitOwn() -> Int {
        unfitOwnSegments += 1
        return unfitOwnSegments
    }

    mutating func recordBelieved() { believed += 1 }

    mutating func recordWritten(_ replica: ReplicaID) { written.insert(replica) }

    mutating func recordHidden(_ replica: ReplicaID) { hidden.insert(replica) }

    mutating func recordComing(_ replica: ReplicaID, _ tip: ReplicaTip) {
        coming.append(KnownReplica(replica: replica, tip: tip))
    }

    mutating func recordShown(_ entry: TipTable.Entry, by device: DeviceID) {
        shown[device, default: VersionVector()].advance(entry.replica, to: entry.tip.next)
    }

    // MARK: Altered histories

    private struct AlteredHistory: Sendable, Equatable {
        let device: DeviceID
        let replica: ReplicaID
    }

    private static var alteredLimit: Int { 64 }

    func hasAltered(_ device: DeviceID, _ replica: ReplicaID) -> Bool {
        altered.contains(AlteredHistory(device: device, replica: replica))
    }

    /// The oldest are forgotten: their peers would be walked once more.
    mutating func recordAltered(by device: DeviceID, _ replica: ReplicaID) {
        if hasAltered(device, replica) { return }
        altered.append(AlteredHistory(device: device, replica: replica))
        if altered.count > Self.alteredLimit { altered.removeFirst() }
    }

    // MARK: The inquiry

    mutating func setInquiry(_ inquiry: ForkInquiry?) { self.inquiry = inquiry }
    mutating func endInquiry() { inquiry = nil }
    mutating func advanceInquiry(to stage: ForkInquiry.Stage) { inquiry?.stage = stage }
    mutating func beginWalk(at place: ChainEnd) { inquiry?.begin(at: place) }
    mutating func pauseLooking(until time: Tick?) { lookAt = time }

    // MARK: Redoing

    mutating func recordReleased() { mayRelease = false }
    mutating func recordAdditions() { hasAdditions = true }

    mutating func passHold(_ now: Tick) { hold.pass(now) }

    mutating func beginRedoing(holdingUntil end: Tick) {
        isRedoing = true
        hold.begin(until: end)
        hasAdditions = false
    }

    mutating func endRedoing(hasMore: Bool, isWaiting: Bool, nextAt: Tick) {
        (isRedoing, hasRedoFailed) = (false, false)
        (hasTakenBack, isRedoWaiting, redoAt) = (hasMore, isWaiting, nextAt)
        if !hasMore || isWaiting { hold.end() }
    }

    mutating func failRedoing(retryAt: Tick) {
        (isRedoing, hasRedoFailed, redoAt) = (false, true, retryAt)
        hold.end()
    }

    // MARK: Sessions

    /// The findings of a session.
    subscript(id: ConnectionID) -> ForkExchange { _read { yield exchanges[id] } }

    mutating func setDue(_ id: ConnectionID, _ isDue: Bool) { exchanges[id].isDue = isDue }

    mutating func recordReported(on id: ConnectionID) { exchanges[id].isReported = true }

    mutating func setComparison(_ comparison: ForkExchange.Comparison?, on id: ConnectionID) {
        exchanges[id].comparison = comparison
    }

    mutating func agree(_ replica: ReplicaID, _ tip: ReplicaTip, on id: ConnectionID) {
        exchanges[id].agreed.set(replica, tip)
    }

    mutating func suspect(_ replica: ReplicaID, _ suspicion: ForkExchange.Suspicion, on id: ConnectionID) {
        exchanges[id].suspects[replica] = suspicion
    }

    mutating func endSuspicion(of replica: ReplicaID, on id: ConnectionID) -> ForkExchange.Suspicion? {
        exchanges[id].suspects.removeValue(forKey: replica)
    }

    /// - Returns: the number of times that it happened on this session.
    mutating func recordStall(of replica: ReplicaID, on id: ConnectionID) -> Int {
        exchanges[id].stalls[replica, default: 0] += 1
        return exchanges[id].stalls[replica, default: 0]
    }

    mutating func giveUp(_ replica: ReplicaID, on id: ConnectionID) { exchanges[id].givenUp.append(replica) }

    // MARK: Claims to be proved

    mutating func contest(_ claim: ContestedClaim, on id: ConnectionID) { exchanges[id].contested.insert(claim) }

    mutating func nextContested(on id: ConnectionID) -> ContestedClaim? { exchanges[id].contested.popFirst() }

    mutating func setQuestion(_ question: ProofQuestion?, on id: ConnectionID) { exchanges[id].question = question }

    mutating func extendQuestion(until deadline: Tick, on id: ConnectionID) {
        exchanges[id].question?.deadline = deadline
    }

    mutating func recordUnproven(_ claim: ContestedClaim, on id: ConnectionID) {
        exchanges[id].unproven[claim.replica] = claim.tip
    }
}
