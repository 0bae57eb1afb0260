/// Answer of `GET /v1/peers/{peer}/ping`: the way to a device, measured once.
public struct PingResponse: Codable, Equatable, Sendable {
    /// The latest failure on the way to the device.
    public struct Failure: Codable, Equatable, Sendable {
        /// The stable code that programs compare.
        public var code: String
        /// The time at which it happened.
        public var time: Timestamp

        /// All fields.
        public init(code: String, time: Timestamp) {
            self.code = code
            self.time = time
        }
    }

    /// The device id.
    public var id: String
    /// The device's name.
    public var name: String
    /// True if the session lasted for all of the measurement.
    public var connected: Bool
    /// `HOST:PORT` of the session; without one, where the way was measured, or where the device would be dialled.
    public var address: String?
    /// The source of the address.
    public var via: Peer.Via?
    /// The round trip over the session, without a disk; null if no answer came in time.
    public var rttMilliseconds: Double?
    /// The time until the device said that the newest change of this one is on its disk; null if it did not in time.
    public var durableMilliseconds: Double?
    /// The time of a TCP handshake with `address`, one round trip; null with a session, and if none came about in time.
    public var tcpMilliseconds: Double?
    /// The code of the reason why no TCP connection came about, such as `connection_refused`; null with a session or a connection, and
    /// if no address is known or nothing came of it in time.
    public var tcpFailure: String?
    /// The latest failure on the way to the device; null if there was none since the agent started.
    public var lastError: Failure?
    /// The time at which the device is dialled again; null while there is a session.
    public var nextAttempt: Timestamp?

    /// All fields.
    public init(
        id: String, name: String, connected: Bool, address: String? = nil, via: Peer.Via? = nil,
        rttMilliseconds: Double? = nil, durableMilliseconds: Double? = nil, tcpMilliseconds: Double? = nil,
        tcpFailure: String? = nil, lastError: Failure? = nil, nextAttempt: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.connected = connected
        self.address = address
        self.via = via
        self.rttMilliseconds = rttMilliseconds
        self.durableMilliseconds = durableMilliseconds
        self.tcpMilliseconds = tcpMilliseconds
        self.tcpFailure = tcpFailure
        self.lastError = lastError
        self.nextAttempt = nextAttempt
    }
}

/// Answer of `GET /v1/peers/{peer}/round-trip`: a link between two devices, as one of them says.
public struct RoundTripResponse: Codable, Equatable, Sendable {
    /// One end of the link.
    public struct End: Codable, Equatable, Sendable {
        /// The device id.
        public var id: String
        /// The device's name.
        public var name: String

        /// All fields.
        public init(id: String, name: String) {
            self.id = id
            self.name = name
        }
    }

    /// The device that was asked.
    public var from: End
    /// The device at the other end.
    public var to: End
    /// True if the device that was asked has a session with the other one.
    public var connected: Bool
    /// The round trip that it measured last on that session; null if it measured none yet, and without a session.
    public var rttMilliseconds: Double?
    /// `HOST:PORT` at which the device that was asked tried a TCP connection; null with a session, if it knows no address, and from
    /// an agent of a version before this.
    public var address: String?
    /// The time of a TCP handshake with that address, one round trip; null if none came about.
    public var tcpMilliseconds: Double?
    /// The code of the reason why none came about, such as `connection_refused`.
    public var tcpFailure: String?

    /// All fields.
    public init(
        from: End, to: End, connected: Bool, rttMilliseconds: Double? = nil, address: String? = nil,
        tcpMilliseconds: Double? = nil, tcpFailure: String? = nil
    ) {
        self.from = from
        self.to = to
        self.connected = connected
        self.rttMilliseconds = rttMilliseconds
        self.address = address
        self.tcpMilliseconds = tcpMilliseconds
        self.tcpFailure = tcpFailure
    }
}
