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
    /// The peer's vector digest matched `peerTips` when it last spoke.
    var peerTipsAreComplete = false
    /// The growth of what the peer holds.
    var progress = ProgressMeter()

    var acknowledgements = AcknowledgementExchange()
    var stateExchange = StateExchange()
    var forks = ForkExchange()

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
}
