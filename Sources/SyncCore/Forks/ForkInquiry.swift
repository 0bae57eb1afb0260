package import SyncModel

/// A replica of which a peer seems to hold another history than we do, while it is looked into.
///
/// `beginning` → (`anchoring` →) `walking` → `walked` → `takingBack` → gone. It goes at once when there is no fork, with the session, and when the
/// peer does not show what it says it holds.
struct ForkInquiry: Sendable {
    enum Stage: Sendable, Equatable {
        case beginning
        /// Not both hold all of it as changes: the store looks up where ours stands where both do.
        case anchoring(ReadID, at: UInt64)
        /// The peer's history comes, from its first change on, or from there.
        case walking(wantID: UInt64)
        /// The peer ended that before its end.
        case cutShort
        /// Enough of it came; the store has other things to finish first.
        case walked
        /// The store takes ours back, unless one is the beginning of the other.
        case takingBack
    }

    let replica: ReplicaID
    let connection: ConnectionID
    /// What the peer says it holds.
    let goal: ReplicaTip
    /// Of the heads on the way as many are kept as there are changes here that they are compared with, and one more.
    let depth: UInt64
    var stage = Stage.beginning
    /// From where on it is walked.
    private(set) var start: ChainEnd
    /// How far its history was walked, every signature on the way checked.
    var tip: ReplicaTip
    var ends: [ChainEnd] = []
    /// The last segments, of `Self.byteLimit` bytes at most: what stays of it is put in place of ours at once.
    var segments: [Segment] = []
    private var byteCount = 0

    private static let byteLimit = 16 << 20

    init(replica: ReplicaID, connection: ConnectionID, goal: ReplicaTip, depth: UInt64, space: SpaceID) {
        self.replica = replica
        self.connection = connection
        self.goal = goal
        self.depth = depth
        tip = .empty(space: space, replica: replica)
        start = ChainEnd(end: 0, head: tip.head)
    }

    /// Begins there, where ours stands as well.
    mutating func begin(at place: ChainEnd) {
        start = place
        tip = ReplicaTip(next: place.end, head: place.head, stamp: .zero)
    }

    var isWalking: Bool {
        if case .walking = stage { true } else { false }
    }

    /// Whether it was walked to what the peer says it holds, as far as can be told.
    var isAtGoal: Bool {
        tip.isSamePlace(as: goal) || contains(goal) || tip.next > goal.next && goal.next > depth
    }

    /// Whether what was walked is, as far as there, the same history.
    func contains(_ place: ReplicaTip) -> Bool {
        let end = ChainEnd(end: place.next, head: place.head)
        return end == start || ends.contains(end)
    }

    mutating func keep(_ segment: Segment) {
        segments.append(segment)
        byteCount += segment.bytes.count
        while byteCount > Self.byteLimit, let first = segments.first {
            byteCount -= first.bytes.count
            segments.removeFirst()
        }
    }
}

/// What the core remembers of histories of which two were signed with one key, between two steps.
struct ForkKeeping: Sendable {
    /// One at a time.
    var inquiry: ForkInquiry?
    /// Of our own, those of which ours is the one that stays: who holds another takes that back.
    var settled: [ReplicaID]
    /// What of our own was taken back, and is done again elsewhere: where its changes ended.
    var gaveWay: [ReplicaID: Set<ChainEnd>]
    /// Histories of which the store has the rest, until what their authors had seen is held: where they end. Before that nothing of
    /// them is asked of anybody, who may hold the one that gave way.
    var awaited: [KnownReplica]
    /// What each peer said since the start that it holds of this device's histories.
    var shown: [DeviceID: VersionVector] = [:]
    /// Work of this device is kept aside, to be done again.
    var hasTakenBack: Bool
    /// The store may be able to apply what is awaited: nobody else may have anything to say that would make it try.
    var mayRelease: Bool
    var isRedoing = false
    /// The store refused; at `redoAt` again.
    var hasRedoFailed = false
    /// The next of it would count nowhere: whoever had let this device in took that back, and has not said it again yet. Tried again
    /// as soon as somebody was let in, and at `redoAt`.
    var isRedoWaiting = false
    /// Somebody was let in since the last step began.
    var hasAdditions = false
    /// When it is done again at the latest: better once we hold what the others hold.
    var redoAt: Tick

    /// The store could not look up where ours stands; nothing is looked into before.
    var lookAt: Tick?

    var isTakingBack: Bool { inquiry?.stage == .takingBack }
}

/// What a peer was found to hold, and not to hold, of histories that two may exist of.
struct ForkExchange: Sendable {
    /// Something it said was not looked at yet.
    var isDue = false
    /// The store looks up where our history stands at its end.
    var comparison: Comparison?
    /// Where its history lies on ours.
    var agreed = TipTable()
    /// Replicas of which it seems to hold another history.
    var suspects: [ReplicaID: Suspicion] = [:]
    /// Those of which it once sent no changes where it says it holds more.
    var stalled: [ReplicaID] = []
    /// Replicas of which it did not show what it holds: not looked into again on this session.
    var givenUp: [ReplicaID] = []
    /// What it is still to be asked to prove.
    var contested = ContestedClaims()
    /// What it is asked to prove.
    var question: ProofQuestion?
    /// What it did not prove: not asked for again while it claims the same.
    var unproven: [ReplicaID: ReplicaTip] = [:]

    struct Comparison: Sendable {
        let id: ReadID
        let entry: TipTable.Entry
    }

    /// Why a peer seems to hold another history.
    enum Suspicion: Sendable, Equatable {
        /// It says so: its end, which is not on ours.
        case claimed(ReplicaTip)
        /// It sent changes that do not continue what was checked as far as there. Who alters bytes looks the same.
        case unfit(ReplicaTip)
        /// It sent none.
        case stalled
    }
}

/// What a store holds: what a core begins with, and what it goes on with when the store took something back.
package struct StoredHistory: Sendable, Equatable {
    package var tips: [KnownReplica]
    package var additions: [Membership.Addition]
    package var stateDigest: Sum256
    package var acknowledgements: [SignedAcknowledgement]
    package var floor: VersionVector
    package var firstHeld: VersionVector
    package var cuts: CutTable
    package var isIncomplete: Bool
    /// Of our own: see `StoreState`.
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
    /// One history is the beginning of the other.
    case nothing
    case done(StoredHistory)
    /// What goes cannot be told apart from what came as state, or a third device would lose something.
    case impossible
    case refused(code: String)
}
