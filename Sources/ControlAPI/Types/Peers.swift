/// Another agent, as this node sees it.
public struct Peer: Codable, Equatable, Sendable {
    /// The progress of the connection to it.
    public enum State: String, Codable, Sendable {
        /// Seen, not dialled.
        case discovered
        /// Being dialled.
        case connecting
        /// A session is up.
        case connected
        /// Known, but not seen now.
        case offline
    }

    /// The source of its address.
    public enum Via: String, Codable, Sendable {
        /// Found by mDNS.
        case mdns
        /// Given with `lanyard peers add`.
        case `static`
        /// The address at which it was last met.
        case lastKnown
    }

    /// The number of operations each side has that the other lacks.
    public struct Behind: Codable, Equatable, Sendable {
        /// The number of the peer's operations that this node lacks; null while unknown.
        public var us: UInt64?
        /// The number of this node's operations that the peer lacks; null while unknown.
        public var them: UInt64?

        /// All fields.
        public init(us: UInt64?, them: UInt64?) {
            self.us = us
            self.them = them
        }
    }

    /// The device id; null for an unpaired agent, which does not say who it is.
    public var id: String?
    /// The first seven characters of the id.
    public var shortID: String?
    /// The device's name, or the host name of an unpaired one; empty for an address where no device answered yet.
    public var name: String
    /// The progress of the connection to it.
    public var state: State
    /// True if it is a member.
    public var paired: Bool
    /// `HOST:PORT` where it listens: of the session, or where it would be dialled.
    public var address: String?
    /// The source of its address.
    public var via: Via?
    /// The least round trip of the newest pings.
    public var rttMilliseconds: Double?
    /// The number of operations each side lacks.
    public var behind: Behind
    /// The bytes read from it on the present session, below TLS; 0 while there is none.
    public var bytesIn: Int64
    /// The bytes written to it on the present session, below TLS; 0 while there is none.
    public var bytesOut: Int64
    /// The time at which this node last heard from it, by this node's clock; null if it did not since the agent started.
    public var lastSync: Timestamp?
    /// The version that its agent states; null while there is no session.
    public var version: String?

    /// All fields.
    public init(
        id: String?, shortID: String?, name: String, state: State, paired: Bool, address: String? = nil,
        via: Via? = nil, rttMilliseconds: Double? = nil, behind: Behind = Behind(us: nil, them: nil),
        bytesIn: Int64 = 0, bytesOut: Int64 = 0, lastSync: Timestamp? = nil, version: String? = nil
    ) {
        self.id = id
        self.shortID = shortID
        self.name = name
        self.state = state
        self.paired = paired
        self.address = address
        self.via = via
        self.rttMilliseconds = rttMilliseconds
        self.behind = behind
        self.bytesIn = bytesIn
        self.bytesOut = bytesOut
        self.lastSync = lastSync
        self.version = version
    }
}

/// Request of `lanyard peers add|remove`, and its answer.
public struct PeerAddress: Codable, Equatable, Sendable {
    /// `HOST:PORT`; an IPv6 address stands in brackets.
    public var address: String

    /// The address as people write it.
    public init(address: String) { self.address = address }
}

/// The result of a change to the static addresses: answer of `lanyard peers add|remove`.
public struct PeerChange: Codable, Equatable, Sendable {
    /// The address as `HOST:PORT`, in the form the agent keeps.
    public var address: String
    /// False when nothing had to be done.
    public var changed: Bool

    /// All fields.
    public init(address: String, changed: Bool) {
        self.address = address
        self.changed = changed
    }
}

/// A host and a port, as `HOST:PORT` writes them.
public struct HostPort: Hashable, Sendable, CustomStringConvertible {
    /// A name, an IPv4 address, or an IPv6 address without brackets (with `%scope` where it is link-local).
    public let host: String
    /// 1 to 65535.
    public let port: Int

    /// The parts as they are.
    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT` or `[IPv6]:PORT`. Throws `invalid_argument`.
    public init(parsing text: String) throws(ControlError) {
        let bytes = Array(text.utf8)
        guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else { throw Self.fault("has no port") }
        let digits = bytes[(colon + 1)...]
        guard (1...5).contains(digits.count), digits.allSatisfy({ (0x30...0x39).contains($0) }),
            let port = Int(String(decoding: digits, as: UTF8.self)), (1...65_535).contains(port)
        else { throw Self.fault("has no port between 1 and 65535") }
        var host = bytes[..<colon]
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(UInt8(ascii: ":")) {
            throw Self.fault("is an IPv6 address without brackets")
        }
        guard (1...253).contains(host.count), host.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") })
        else { throw Self.fault("has no usable host") }
        self.init(host: String(decoding: host, as: UTF8.self), port: port)
    }

    private static func fault(_ words: String) -> ControlError {
        ControlError(
            .invalidArgument, "The address \(words).",
            hint: "Write HOST:PORT, for example 192.168.1.20:21817 or [fe80::1%eth0]:21817.")
    }

    /// `HOST:PORT`, with brackets around IPv6.
    public var description: String { host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
