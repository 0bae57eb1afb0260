import SyncModel

/// A peer as one space sees it, for as long as the session lasts: what each side knows of the other's part of the space.
struct SpacePeer: Sendable {
    let id: ConnectionID
    let device: DeviceID
    let openedAt: Tick
    /// True from the peer's accepted Hello to the end of the session.
    var isUp = false

    // What each side knows of the other
    /// The tips that the peer claims on this session.
    var claims = PeerClaims()
    var peerTips: TipTable { claims.tips }
    /// Entries of a `Have` that goes on in the next frame.
    var haveRow: [Frame.HaveEntry] = []
    /// The peer's vector digest matched `peerTips` when it last spoke.
    var peerTipsAreComplete = false
    /// The growth of what the peer holds.
    var progress = ProgressMeter()
    /// The tips that we last announced; nil before the first Have.
    var said: TipTable?
    var haveRequested = false
    /// The time at which the peer was last told all that is held here, and whether it has asked for that again since.
    var toldAllAt: Tick?
    var owesAll = false
    /// The time at which the next Have is due, and the latest time for it.
    var haveDue: Tick?
    var haveLatest: Tick?

    var acknowledgements = AcknowledgementExchange()
    var stateExchange = StateExchange()
    var forks = ForkExchange()

    // Sending
    /// True if both sides know packed segments.
    var packsChanges = false
    /// Segments pushed and not yet named in a Have of the peer.
    var unconfirmed: [Push] = []
    var unconfirmedBytes = 0
    /// The tip up to which each replica was sent on this session: a push must continue there.
    var sentTips = TipTable()
    /// Replicas whose changes the peer gets from another peer first: announced, not pushed.
    var announcedOnly: [ReplicaID] = []
    var serves: [Serve] = []
    var isReading = false

    struct Push: Sendable, Equatable {
        let replica: ReplicaID
        let end: UInt64
        let bytes: Int
    }

    struct Serve: Sendable, Equatable {
        let wantID: UInt64
        let replica: ReplicaID
        var next: UInt64
        let to: UInt64
        var creditBytes: Int
    }

    // Receiving
    /// Parts of a segment that spans frames, and the want they belong to.
    var assembly: Assembly?
    /// The time until which nothing is asked of the peer, since it ended a want early or let one starve.
    var pullsPausedUntil: Tick?
    /// A push was dropped that nothing will announce again: the peer is asked what it holds once the pulls have ended.
    var missedPush = false
    /// Replicas for which we asked this peer to stop pushing.
    var pruned: [ReplicaID] = []

    struct Assembly: Sendable, Equatable {
        let wantID: UInt64
        let replica: ReplicaID
        let start: UInt64
        let end: UInt64
        var bytes: [UInt8]
    }

    init(id: ConnectionID, device: DeviceID, openedAt: Tick) {
        self.id = id
        self.device = device
        self.openedAt = openedAt
    }

    /// The counter up to which the peer holds the replica, or will, once everything sent has arrived.
    func expectedNext(of replica: ReplicaID) -> UInt64 {
        max(peerTips.next(of: replica), sentTips.next(of: replica))
    }

    mutating func confirm() {
        let tips = claims.tips
        unconfirmed.removeAll { push in
            guard tips.next(of: push.replica) >= push.end else { return false }
            unconfirmedBytes -= push.bytes
            return true
        }
    }
}
