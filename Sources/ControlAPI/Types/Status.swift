/// Answer of `lanyard status`: one page about this node.
public struct StatusResponse: Codable, Equatable, Sendable {
    /// Who this node is.
    public struct Device: Codable, Equatable, Sendable {
        /// The whole device id.
        public var id: String
        /// Its first seven characters.
        public var shortID: String
        /// The name people gave the machine.
        public var name: String

        /// All fields.
        public init(id: String, shortID: String, name: String) {
            self.id = id
            self.shortID = shortID
            self.name = name
        }
    }

    /// Whether other agents can be found by themselves.
    public struct Discovery: Codable, Equatable, Sendable {
        /// What discovery is doing.
        public enum State: String, Codable, Sendable {
            /// mDNS answers.
            case running
            /// mDNS is wanted, but its daemon or its bus is away.
            case unavailable
            /// Switched off with `--no-mdns`.
            case off
        }
        /// What discovery is doing.
        public var state: State
        /// The instance name this agent announces, chosen at random at each start.
        public var instance: String?

        /// All fields.
        public init(state: State, instance: String?) {
            self.state = state
            self.instance = instance
        }
    }

    /// What one space holds.
    public struct Space: Codable, Equatable, Sendable {
        /// What every member has said is durable with it, and whose word is awaited.
        public struct Stable: Codable, Equatable, Sendable {
            /// The devices that have not yet acknowledged what this node has.
            public var heldBackBy: [Member]
            /// For each replica the counter up to which all members hold it: what is below may be forgotten.
            public var versionVector: VersionVectorText

            /// All fields.
            public init(heldBackBy: [Member] = [], versionVector: VersionVectorText = VersionVectorText([])) {
                self.heldBackBy = heldBackBy
                self.versionVector = versionVector
            }

            /// A member whose word is awaited: until it comes, or the device is retired, nothing newer is forgotten.
            public struct Member: Codable, Equatable, Sendable {
                /// The device.
                public var id: String
                /// Its first seven characters.
                public var shortID: String
                /// What people call it.
                public var name: String
                /// When the oldest change was made that it has not acknowledged, by its author's clock; when it was admitted, if later.
                public var since: Timestamp
                /// When this node last had a session with it; null for one never met.
                public var lastSeen: Timestamp?

                /// All fields.
                public init(id: String, shortID: String, name: String, since: Timestamp, lastSeen: Timestamp? = nil) {
                    self.id = id
                    self.shortID = shortID
                    self.name = name
                    self.since = since
                    self.lastSeen = lastSeen
                }
            }
        }
        /// The name on this node.
        public var name: String
        /// The id all nodes share.
        public var id: String
        /// Changes in the log.
        public var changes: Int
        /// Changes that were dropped from the log: everybody has them, and they are older than history is kept.
        public var droppedChanges: Int
        /// Live objects.
        public var objects: Int
        /// Retained events.
        public var events: Int
        /// Attachment records.
        public var attachments: Int
        /// Deletions not yet collected.
        public var deletedObjects: Int
        /// What this node holds: for each replica the next counter.
        public var versionVector: VersionVectorText
        /// Equal on nodes that have converged.
        public var digest: String
        /// Objects whose state cannot be served now.
        public var incomplete: Int
        /// What holds back compaction.
        public var stable: Stable
        /// Nothing is missing here, and no device that was not retired lacks anything of what is here, by its own last word.
        public var inStep: Bool
        /// Every other device of the space that was not retired.
        public var standings: [DeviceStanding]
        /// Objects and schemas with conflicts that a person should look at; 256 stands for more, too.
        public var conflicts: Int

        /// All fields.
        public init(
            name: String, id: String, changes: Int = 0, objects: Int = 0, events: Int = 0, attachments: Int = 0,
            deletedObjects: Int = 0, versionVector: VersionVectorText = VersionVectorText([]), digest: String,
            incomplete: Int = 0, stable: Stable = Stable(), droppedChanges: Int = 0, inStep: Bool = true,
            standings: [DeviceStanding] = [], conflicts: Int = 0
        ) {
            self.droppedChanges = droppedChanges
            self.conflicts = conflicts
            self.name = name
            self.id = id
            self.changes = changes
            self.objects = objects
            self.events = events
            self.attachments = attachments
            self.deletedObjects = deletedObjects
            self.versionVector = versionVector
            self.digest = digest
            self.incomplete = incomplete
            self.stable = stable
            self.inStep = inStep
            self.standings = standings
        }
    }

    /// How many other agents there are.
    public struct PeerCounts: Codable, Equatable, Sendable {
        /// With a session now.
        public var connected: Int
        /// Seen by mDNS now, paired or not.
        public var discovered: Int
        /// Members besides this device.
        public var paired: Int

        /// All fields.
        public init(connected: Int, discovered: Int, paired: Int) {
            self.connected = connected
            self.discovered = discovered
            self.paired = paired
        }
    }

    /// The local store.
    public struct Store: Codable, Equatable, Sendable {
        /// What it takes on disk.
        public var bytes: Int64
        /// `ok`, or the error code that writes are refused with.
        public var state: String

        /// All fields.
        public init(bytes: Int64, state: String) {
            self.bytes = bytes
            self.state = state
        }
    }

    /// Something a person should know.
    public struct Warning: Codable, Equatable, Sendable {
        /// For programs.
        public var code: String
        /// What is the case.
        public var message: String
        /// What to do about it.
        public var hint: String

        /// All fields.
        public init(code: String, message: String, hint: String) {
            self.code = code
            self.message = message
            self.hint = hint
        }
    }

    /// The bytes of an attachment while they arrive.
    public struct Transfer: Codable, Equatable, Sendable {
        /// Of the bytes; 64 hexadecimal digits, as attachments name them.
        public var hash: String
        /// What the newest attachment that names them is called; null when it is gone.
        public var name: String?
        /// How far it is.
        public var progress: ByteProgress

        /// All fields.
        public init(hash: String, name: String?, progress: ByteProgress) {
            self.hash = hash
            self.name = name
            self.progress = progress
        }
    }

    /// Who this node is.
    public var device: Device
    /// The agent's version.
    public var version: String
    /// Since the agent started.
    public var uptimeSeconds: Int
    /// Whether other agents can be found by themselves.
    public var discovery: Discovery
    /// All spaces, by name.
    public var spaces: [Space]
    /// How many other agents there are.
    public var peers: PeerCounts
    /// The local store.
    public var store: Store
    /// Bytes of attachments that arrive now, by hash.
    public var transfers: [Transfer]
    /// What a person should know, most pressing first.
    public var warnings: [Warning]

    /// All fields.
    public init(
        device: Device, version: String = LanyardVersion.current, uptimeSeconds: Int, discovery: Discovery,
        spaces: [Space], peers: PeerCounts, store: Store, transfers: [Transfer] = [], warnings: [Warning] = []
    ) {
        self.device = device
        self.version = version
        self.uptimeSeconds = uptimeSeconds
        self.discovery = discovery
        self.spaces = spaces
        self.peers = peers
        self.store = store
        self.transfers = transfers
        self.warnings = warnings
    }
}

/// A version vector as JSON shows it: `{replica: next}`, sorted by replica so that equal vectors read equal.
public struct VersionVectorText: Codable, Equatable, Sendable {
    /// One replica and its next counter.
    public struct Entry: Equatable, Sendable {
        /// The replica's text form.
        public let replica: String
        /// The counter its next operation will get.
        public let next: UInt64

        /// Both fields.
        public init(replica: String, next: UInt64) {
            self.replica = replica
            self.next = next
        }
    }

    /// Sorted by replica.
    public let entries: [Entry]

    /// Sorts `entries`.
    public init(_ entries: [Entry]) { self.entries = entries.sorted { $0.replica < $1.replica } }

    private struct ReplicaKey: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Reads an object.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: ReplicaKey.self)
        self.init(
            try container.allKeys.map { key in
                Entry(replica: key.stringValue, next: try container.decode(UInt64.self, forKey: key))
            })
    }

    /// Writes an object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: ReplicaKey.self)
        for entry in entries {
            try container.encode(entry.next, forKey: ReplicaKey(stringValue: entry.replica))
        }
    }
}
