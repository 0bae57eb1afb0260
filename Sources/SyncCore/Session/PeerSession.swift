import SyncModel

/// The core's view of an authenticated connection.
///
/// `greeting` → `up` (the peer's Hello was accepted) → `closing` (we asked the transport to close) → gone.
/// `greeting` may go to `closing` directly. Only an `up` session exchanges anything but Hello.
struct PeerSession: Sendable {
    enum State: Sendable, Equatable {
        case greeting(deadline: Tick)
        case up
        case closing
    }

    let id: ConnectionID
    let device: DeviceID
    let remote: Endpoint
    var state: State
    let openedAt: Tick
    /// The run ID of the peer's Hello; 0 before.
    var runID: UInt64 = 0
    var sessionNumber: UInt64 = 0
    var peerName = ""
    var peerVersion = ""
    /// The port where the peer listens, by its Hello; 0 before.
    var listenPort: UInt16 = 0
    /// The peer's mDNS instance; empty if it has none.
    var peerInstance = ""

    // Liveness
    var lastReceivedAt: Tick
    var ping: Ping?
    /// Round trips of the newest pings, at most `roundTripSamples`.
    private var roundTrips: [Tick.Span] = []
    /// The time at which the next of the first few pings is due.
    var sampleAt: Tick?
    /// The time since which our message waits for an answer and no byte came; nil when nothing is due.
    var unansweredSince: Tick?
    /// The challenge to this session while another run of the device wants its place.
    var twin: TwinChallenge?

    struct Ping: Sendable, Equatable {
        let nonce: UInt64
        let sentAt: Tick
    }

    /// The least of the newest few round trips: a ping that waits behind a burst measures the burst.
    var roundTrip: Tick.Span? { roundTrips.min() }
    private static let roundTripSamples = 4

    /// Records a measurement and plans the next. The first few follow each other within seconds: a session begins with a burst.
    mutating func record(roundTrip: Tick.Span, at now: Tick, again: Tick.Span) {
        roundTrips = roundTrips.suffix(Self.roundTripSamples - 1) + [roundTrip]
        sampleAt = roundTrips.count < Self.roundTripSamples ? now + again : nil
    }

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
    /// True if both sides know bulk connections.
    var knowsBulk = false

    // Sending
    /// True if both sides know packed segments.
    var packsChanges = false
    /// The bytes handed to the transport and not yet written.
    var bufferedBytes = 0
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

    init(id: ConnectionID, device: DeviceID, remote: Endpoint, openedAt: Tick, deadline: Tick) {
        self.id = id
        self.device = device
        self.remote = remote
        self.openedAt = openedAt
        state = .greeting(deadline: deadline)
        lastReceivedAt = openedAt
    }

    /// The address at which the peer can be dialled: the port that an accepted connection comes from says nothing.
    var address: Endpoint {
        id.isOutbound || listenPort == 0 ? remote : Endpoint(host: remote.host, port: listenPort)
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
