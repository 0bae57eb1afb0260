import SyncModel

/// One authenticated connection, as the core sees it.
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
    /// Of the peer's Hello; 0 before.
    var runID: UInt64 = 0
    var sessionNumber: UInt64 = 0
    var peerName = ""
    var peerVersion = ""
    /// Where it listens, by its Hello; 0 before.
    var listenPort: UInt16 = 0
    /// Its mDNS instance, empty if it has none.
    var peerInstance = ""

    // Liveness
    var lastReceivedAt: Tick
    var ping: Ping?
    /// Round trips of the newest pings, at most `roundTripSamples`.
    private var roundTrips: [Tick.Span] = []
    /// When the next of the first few pings is due.
    var sampleAt: Tick?
    /// Since when something we sent wants an answer and no byte came; nil when nothing is due.
    var unansweredSince: Tick?
    /// Another run of the device wants this place.
    var twin: TwinChallenge?

    struct Ping: Sendable, Equatable {
        let nonce: UInt64
        let sentAt: Tick
    }

    /// The least of the newest few: a ping that waits behind a burst measures the burst.
    var roundTrip: Tick.Span? { roundTrips.min() }
    private static let roundTripSamples = 4

    /// Records a measurement and plans the next. The first few follow each other within seconds: a session begins with a burst.
    mutating func record(roundTrip: Tick.Span, at now: Tick, again: Tick.Span) {
        roundTrips = roundTrips.suffix(Self.roundTripSamples - 1) + [roundTrip]
        sampleAt = roundTrips.count < Self.roundTripSamples ? now + again : nil
    }

    // What each side knows of the other
    /// What the peer holds, by its own word on this session.
    var claims = PeerClaims()
    var peerTips: TipTable { claims.tips }
    /// Entries of a `Have` that goes on in the next frame.
    var haveRow: [Frame.HaveEntry] = []
    /// The peer's vector digest matched `peerTips` when it last spoke.
    var peerTipsAreComplete = false
    /// How fast what it holds grows.
    var progress = ProgressMeter()
    /// What we last said we hold; nil before the first Have.
    var said: TipTable?
    var haveRequested = false
    /// When the peer was told last all that is held here, and whether it has asked for that again since.
    var toldAllAt: Tick?
    var owesAll = false
    /// When the next Have is due, and by when at the latest.
    var haveDue: Tick?
    var haveLatest: Tick?

    var acknowledgements = AcknowledgementExchange()
    var stateExchange = StateExchange()
    var forks = ForkExchange()
    /// Both sides know bulk connections.
    var knowsBulk = false

    // Sending
    /// Both sides know packed segments.
    var packsChanges = false
    /// Handed to the transport and not yet written.
    var bufferedBytes = 0
    /// Pushed and not yet named in a Have of the peer's.
    var unconfirmed: [Push] = []
    var unconfirmedBytes = 0
    /// How far each replica was sent on this session: a push must continue there.
    var sentTips = TipTable()
    /// Replicas whose changes the peer gets from somebody else first: announced, not pushed.
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
    /// It ended a want early or let one starve: nothing is asked of it until then.
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

    /// Where it can be dialled: the port that an accepted connection comes from says nothing.
    var address: Endpoint {
        id.isOutbound || listenPort == 0 ? remote : Endpoint(host: remote.host, port: listenPort)
    }

    /// What the peer holds or will, once everything sent has arrived.
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
