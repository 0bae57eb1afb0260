/// Answer of `GET /v1/overview`: what the dashboard shows of this device, in one document.
///
/// As a stream it is lines with one of these keys each: all of them at first, then each that has changed.
public struct Overview: Codable, Equatable, Sendable {
    /// The version of the agent on a device.
    public struct AgentVersion: Codable, Equatable, Sendable {
        /// The id of the device.
        public var id: String
        /// The version that its agent states.
        public var version: String

        /// Both fields.
        public init(id: String, version: String) {
            self.id = id
            self.version = version
        }
    }

    /// The file system that holds the data directory.
    public struct Disk: Codable, Equatable, Sendable {
        /// The bytes that the agent may still write.
        public var freeBytes: Int64
        /// The bytes in all.
        public var totalBytes: Int64

        /// Both fields.
        public init(freeBytes: Int64, totalBytes: Int64) {
            self.freeBytes = freeBytes
            self.totalBytes = totalBytes
        }
    }

    /// An object that changed, and the author of its newest change here.
    public struct Activity: Codable, Equatable, Sendable {
        /// The position of the change; local to the node.
        public var position: UInt64
        /// The object's id within the collection.
        public var id: String
        /// The object's collection.
        public var collection: String
        /// True if the object is not shown any more.
        public var deleted: Bool
        /// The id of the device that made the newest change; null where it is not known any more.
        public var device: String?
        /// The time of the newest change, by the wall clock of that device.
        public var time: Timestamp

        /// All fields.
        public init(
            position: UInt64, id: String, collection: String, deleted: Bool, device: String?, time: Timestamp
        ) {
            self.position = position
            self.id = id
            self.collection = collection
            self.deleted = deleted
            self.device = device
            self.time = time
        }
    }

    /// The state of this node.
    public var status: StatusResponse
    /// The links from this node to the others, and which of them is broken.
    public var why: WhyResponse
    /// The other agents, as this node sees them.
    public var peers: [Peer]
    /// The members of the space `home`.
    public var devices: [DeviceEntry]
    /// The versions of the agents that are or were connected, this one's first.
    public var versions: [AgentVersion]
    /// The disk of the data directory; null if the system does not say.
    public var disk: Disk?
    /// The conflicts that a person should decide on.
    public var conflicts: [ConflictEntry]
    /// The objects that changed last, oldest first.
    public var changes: [Activity]

    /// All fields.
    public init(
        status: StatusResponse, why: WhyResponse, peers: [Peer], devices: [DeviceEntry], versions: [AgentVersion],
        disk: Disk?, conflicts: [ConflictEntry], changes: [Activity]
    ) {
        self.status = status
        self.why = why
        self.peers = peers
        self.devices = devices
        self.versions = versions
        self.disk = disk
        self.conflicts = conflicts
        self.changes = changes
    }

    /// The parts of a stream, each as a JSON object with one key.
    package var parts: [(key: String, line: [UInt8])] {
        [
            Self.part("status", status), Self.part("why", why), Self.part("peers", peers),
            Self.part("devices", devices), Self.part("versions", versions), Self.part("disk", disk),
            Self.part("conflicts", conflicts), Self.part("changes", changes),
        ]
    }

    private static func part(_ key: String, _ value: some Encodable) -> (key: String, line: [UInt8]) {
        (key, Array("{\"\(key)\":".utf8) + JSONEncoding.bytes(value) + Array("}".utf8))
    }
}

/// Answer of `lanyard dashboard`: the address that signs a browser in, once.
public struct DashboardLink: Codable, Equatable, Sendable {
    /// The address with a token in it. The first browser that opens it is signed in.
    public var url: String
    /// The same under the other addresses of this device; empty where the dashboard is for this device alone.
    public var alsoAt: [String]
    /// The time at which the token expires.
    public var expires: Timestamp

    /// All fields.
    public init(url: String, alsoAt: [String] = [], expires: Timestamp) {
        self.url = url
        self.alsoAt = alsoAt
        self.expires = expires
    }
}

/// Answer of `lanyard dashboard --sign-out`.
public struct DashboardSignOut: Codable, Equatable, Sendable {
    /// The number of browsers that were signed in.
    public var signedOut: Int

    /// The one field.
    public init(signedOut: Int) { self.signedOut = signedOut }
}
