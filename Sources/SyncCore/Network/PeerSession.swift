import SyncModel

/// An authenticated connection with another device.
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
    /// The number of pongs that answered a ping.
    private(set) var pongs: UInt64 = 0
    /// The time at which the next of the first few pings is due.
    var sampleAt: Tick?
    /// The time since which our message waits for an answer and no byte came; nil when nothing is due.
    var unansweredSince: Tick?
    /// The challenge to this session while another run of the device wants its place.
    var twin: TwinChallenge?

    /// True for a device that may have no session, while what it says of the recovery key, or its farewell, is awaited.
    var isHearing = false
    /// True if the peer knows receipts of wipes.
    var takesReceipts = false
    /// True if the peer said that it revoked this device.
    var isBarredThere = false

    /// True if both sides know bulk connections.
    var knowsBulk = false
    /// The bytes handed to the transport and not yet written.
    var bufferedBytes = 0

    struct Ping: Sendable, Equatable {
        let nonce: UInt64
        let sentAt: Tick
    }

    init(id: ConnectionID, device: DeviceID, remote: Endpoint, openedAt: Tick, deadline: Tick) {
        self.id = id
        self.device = device
        self.remote = remote
        self.openedAt = openedAt
        state = .greeting(deadline: deadline)
        lastReceivedAt = openedAt
    }

    /// The least of the newest few round trips: a ping that waits behind a burst measures the burst.
    var roundTrip: Tick.Span? { roundTrips.min() }
    var newestRoundTrip: Tick.Span? { roundTrips.last }
    private static let roundTripSamples = 4

    /// Records a measurement and plans the next. The first few follow each other within seconds: a session begins with a burst.
    mutating func record(roundTrip: Tick.Span, at now: Tick, again: Tick.Span) {
        pongs += 1
        roundTrips = roundTrips.suffix(Self.roundTripSamples - 1) + [roundTrip]
        sampleAt = roundTrips.count < Self.roundTripSamples ? now + again : nil
    }

    /// The address at which the peer can be dialled: the port that an accepted connection comes from says nothing.
    var address: Endpoint {
        id.isOutbound || listenPort == 0 ? remote : Endpoint(host: remote.host, port: listenPort)
    }
}
