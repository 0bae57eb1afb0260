package import SyncModel

/// A replica of which a peer seems to hold another history than we do, while it is looked into.
///
/// `beginning` → (`anchoring` →) `walking` → `walked` → `takingBack` → gone. It goes at once when there is no fork, with the
/// session, and when the peer does not show what it says it holds.
struct ForkInquiry: Sendable {
    enum Stage: Sendable, Equatable {
        case beginning
        /// The store looks up our head at a place that both sides hold, since one side does not hold all of it as changes.
        case anchoring(ReadID, at: UInt64)
        /// The peer's history comes, from its first change on, or from there.
        case walking(wantID: UInt64)
        /// The peer ended that before its end.
        case cutShort
        /// The walk is complete; the store has other things to finish first.
        case walked
        /// The store takes ours back, unless one is the beginning of the other.
        case takingBack
    }

    let replica: ReplicaID
    let connection: ConnectionID
    /// The tip that the peer claims.
    let goal: ReplicaTip
    /// The limit of heads kept on the way: those of the changes here that they are compared with, and one more.
    let depth: UInt64
    /// The end of ours when this peer, which is not the author, was suspected. The two histories are compared there, and nothing
    /// else of the peer's is kept. Nil: the peer's may be put in place of ours, or ours is settled.
    let place: ReplicaTip?
    /// True if no peer has the other history as changes any more, so that it cannot be walked.
    let isDropped: Bool
    var stage = Stage.beginning
    /// The place from which the peer's history is walked.
    private(set) var start: ChainEnd
    /// The place up to which it was walked, with every signature checked.
    var tip: ReplicaTip
    var ends: [ChainEnd] = []
    /// The last segments, of `Self.byteLimit` bytes at most: what stays of it is put in place of ours at once.
    var segments: [Segment] = []
    private var byteCount = 0

    private static let byteLimit = 16 << 20

    init(
        replica: ReplicaID, connection: ConnectionID, goal: ReplicaTip, depth: UInt64, place: ReplicaTip?,
        isDropped: Bool = false, space: SpaceID
    ) {
        self.replica = replica
        self.connection = connection
        self.goal = goal
        self.depth = depth
        self.place = place
        self.isDropped = isDropped
        tip = .empty(space: space, replica: replica)
        start = ChainEnd(end: 0, head: tip.head)
    }

    /// Begins the walk at a place where our history has the same head.
    mutating func begin(at place: ChainEnd) {
        start = place
        tip = ReplicaTip(next: place.end, head: place.head, stamp: .zero)
    }

    /// The want that the peer's history comes for; nil while none is under way.
    var walk: UInt64? {
        if case .walking(let wantID) = stage { wantID } else { nil }
    }

    var isWalking: Bool { walk != nil }

    /// True if the walk reached what the peer claims, as far as can be told.
    var isAtGoal: Bool {
        tip.isSamePlace(as: goal) || contains(goal) || place == nil && tip.next > goal.next && goal.next > depth
    }

    /// True if the walked history is the same up to that place.
    func contains(_ place: ReplicaTip) -> Bool {
        let end = ChainEnd(end: place.next, head: place.head)
        return end == start || ends.contains(end)
    }

    /// Goes on to the end of a segment whose signature was checked.
    mutating func advance(by verified: VerifiedSegment) {
        for end in verified.segment.ends(from: tip.head) where isToKeep(end) { ends.append(end) }
        tip = verified.tip
        if place == nil { keep(verified.segment) }
    }

    private func isToKeep(_ end: ChainEnd) -> Bool {
        guard let place else { return ends.last.map { $0.end <= depth } ?? true }
        return end.end == place.next || end.end == goal.next
    }

    private mutating func keep(_ segment: Segment) {
        segments.append(segment)
        byteCount += segment.bytes.count
        while byteCount > Self.byteLimit, let first = segments.first {
            byteCount -= first.bytes.count
            segments.removeFirst()
        }
    }
}

/// The findings of a session about histories of which two may exist.
struct ForkExchange: Sendable {
    /// True if a claim of the peer was not looked at yet.
    var isDue = false
    /// The store looks up where our history stands at its end.
    var comparison: Comparison?
    /// The tips at which the peer's history lies on ours.
    var agreed = TipTable()
    /// Replicas of which the peer seems to hold another history.
    var suspects: [ReplicaID: Suspicion] = [:]
    /// The number of times that the peer sent no changes of a replica where it claims to hold more.
    var stalls: [ReplicaID: Int] = [:]
    /// Replicas of which the peer did not show what it claims: not looked into again on this session.
    var givenUp: [ReplicaID] = []
    /// The claims that the peer is still to be asked to prove.
    var contested = ContestedClaims()
    /// The claim that the peer is asked to prove.
    var question: ProofQuestion?
    /// The claims that the peer did not prove: not asked for again while it claims the same.
    var unproven: [ReplicaID: ReplicaTip] = [:]

    /// True if it was said of the peer that it keeps what gave way.
    var isReported = false

    /// True if the peer is asked to prove a claim, or is to be.
    var isInQuestion: Bool { question != nil || !contested.isEmpty }

    struct Comparison: Sendable {
        let id: ReadID
        let entry: TipTable.Entry
    }

    /// The reason why a peer seems to hold another history.
    enum Suspicion: Sendable, Equatable {
        /// The peer claims this end, which is not on ours.
        case claimed(ReplicaTip)
        /// The peer sent changes that do not continue what was checked up to there. A peer that alters bytes looks the same.
        case unfit(ReplicaTip)
        /// The peer sent no changes behind that end of ours.
        case stalled(ReplicaTip)

        /// The end of ours behind which the peer's changes were expected.
        var place: ReplicaTip? {
            switch self {
            case .claimed: nil
            case .unfit(let place), .stalled(let place): place
            }
        }
    }
}

/// The contents of a store: the core begins with them, and goes on with them after the store reverted a history.
package struct StoredHistory: Sendable, Equatable {
    package var tips: [KnownReplica]
    package var additions: [Membership.Addition]
    package var stateDigest: Sum256
    package var acknowledgements: [SignedAcknowledgement]
    package var floor: VersionVector
    package var firstHeld: VersionVector
    package var cuts: CutTable
    package var isIncomplete: Bool
    /// The settled replicas of our own: see `StoreState`.
    package var settled: [ReplicaID]
    package var gaveWay: [ReplicaID: Set<ChainEnd>]
    package var awaited: [KnownReplica]
    package var hasTakenBack: Bool

    package init(
        tips: [KnownReplica], additions: [Membership.Addition], stateDigest: Sum256,
        acknowledgements: [SignedAcknowledgement], floor: VersionVector, firstHeld: VersionVector = VersionVector(),
        cuts: CutTable, isIncomplete: Bool = false, settled: [ReplicaID], gaveWay: [ReplicaID: Set<ChainEnd>] = [:],
        awaited: [KnownReplica], hasTakenBack: Bool
    ) {
        self.tips = tips
        self.additions = additions
        self.stateDigest = stateDigest
        self.acknowledgements = acknowledgements
        self.floor = floor
        self.firstHeld = firstHeld
        self.cuts = cuts
        self.isIncomplete = isIncomplete
        self.settled = settled
        self.gaveWay = gaveWay
        self.awaited = awaited
        self.hasTakenBack = hasTakenBack
    }
}

/// The answer to `Effect.takeBack`.
package enum TakingBackResult: Sendable, Equatable {
    /// The store changed nothing: one history is the beginning of the other.
    case nothing
    case done(StoredHistory)
    /// The revert cannot be done: what goes cannot be told apart from what came as state, or a third device would lose
    /// something.
    case impossible
    case refused(code: String)
}
