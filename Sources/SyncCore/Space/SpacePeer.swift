import SyncModel

/// A peer as one space sees it, for as long as the session lasts: what each side knows of the other's part of the space.
struct SpacePeer: Sendable {
    let id: ConnectionID
    let device: DeviceID
    let openedAt: Tick
    /// True from the peer's accepted Hello to the end of the session.
    var isUp = false
    /// True if it understands statements on roles: what is void by one is void there.
    var knowsRoles = false

    // What each side knows of the other
    /// The tips that the peer claims on this session.
    var claims = PeerClaims()
    var peerTips: TipTable { claims.tips }
    /// The peer's vector digest matched `peerTips` when it last spoke.
    var peerTipsAreComplete = false
    /// The number of times that the peer has announced all that it holds.
    var wholeHaves: UInt64 = 0
    /// The growth of what the peer holds.
    var progress = ProgressMeter()

    init(id: ConnectionID, device: DeviceID, openedAt: Tick) {
        self.id = id
        self.device = device
        self.openedAt = openedAt
    }
}
