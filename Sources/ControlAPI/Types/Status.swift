/// Answer of `lanyard status`: one page about this node.
public struct StatusResponse: Codable, Equatable, Sendable {
    /// The identity of this node.
    public struct Device: Codable, Equatable, Sendable {
        /// The device id in full.
        public var id: String
        /// The first seven characters of the device id.
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

    /// The state of the search for other agents on the network.
    public struct Discovery: Codable, Equatable, Sendable {
        /// The activity of discovery.
        public enum State: String, Codable, Sendable {
            /// mDNS answers.
            case running
            /// mDNS is wanted, but its daemon or its bus is away.
            case unavailable
            /// Discovery is switched off with `--no-mdns`.
            case off
        }
        /// The activity of discovery.
        public var state: State
        /// The instance name this agent announces, chosen at random at each start.
        public var instance: String?

        /// All fields.
        public init(state: State, instance: String?) {
            self.state = state
            self.instance = instance
        }
    }

    /// The contents and progress of one space.
    public struct Space: Codable, Equatable, Sendable {
        /// The part of the history that every member has reported durable, and the members it waits for.
        public struct Stable: Codable, Equatable, Sendable {
            /// The devices that have not yet acknowledged what this node has.
            public var heldBackBy: [Member]
            /// The counter, for each replica, up to which all members hold its operations: those below it may be forgotten.
            public var versionVector: VersionVectorText

            /// All fields.
            public init(heldBackBy: [Member] = [], versionVector: VersionVectorText = VersionVectorText([])) {
                self.heldBackBy = heldBackBy
                self.versionVector = versionVector
            }

            /// A member whose acknowledgement is awaited: until it comes, or the device is retired, nothing newer is forgotten.
            public struct Member: Codable, Equatable, Sendable {
                /// The device.
                public var id: String
                /// The first seven characters of its device id.
                public var shortID: String
                /// The device's name.
                public var name: String
                /// The time of the oldest change that it has not acknowledged, by its author's clock; the time of its
                /// admission, if later.
                public var since: Timestamp
                /// The time at which this node last had a session with it; null for one never met.
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
        /// The number of live objects.
        public var objects: Int
        /// The number of retained events.
        public var events: Int
        /// Attachment records.
        public var attachments: Int
        /// Deletions not yet collected.
        public var deletedObjects: Int
        /// The operations that this node holds: for each replica the next counter.
        public var versionVector: VersionVectorText
        /// The state digest; equal on nodes that have converged.
        public var digest: String
        /// Objects whose state cannot be served now.
        public var incomplete: Int
        /// The stable part of the history, and the members that hold back compaction.
        public var stable: Stable
        /// True if nothing is missing here, and no device that was not retired lacks anything that is here, by its own report.
        public var inStep: Bool
        /// Every other device of the space that was not retired.
        public var standings: [DeviceStanding]
        /// `inStep` and `standings` as one sentence, with times of day in the agent's time zone. Names stand in it as they
        /// are. Null from an agent of a version that does not make it.
        public var sentence: String?
        /// Objects and schemas with conflicts that a person should look at; 256 stands for more, too.
        public var conflicts: Int
        /// The role of this device; null if it was revoked, and from an agent of a version before roles.
        public var role: Role?

        /// All fields.
        public init(
            name: String, id: String, changes: Int = 0, objects: Int = 0, events: Int = 0, attachments: Int = 0,
            deletedObjects: Int = 0, versionVector: VersionVectorText = VersionVectorText([]), digest: String,
            incomplete: Int = 0, stable: Stable = Stable(), droppedChanges: Int = 0, inStep: Bool = true,
            standings: [DeviceStanding] = [], conflicts: Int = 0, role: Role? = nil, sentence: String? = nil
        ) {
            self.droppedChanges = droppedChanges
            self.conflicts = conflicts
            self.role = role
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
            self.sentence = sentence
        }
    }

    /// The number of other agents.
    public struct PeerCounts: Codable, Equatable, Sendable {
        /// The number of agents with a session now.
        public var connected: Int
        /// The number of agents seen by mDNS now, paired or not.
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
        /// The size on disk in bytes.
        public var bytes: Int64
        /// `ok`, or the error code that writes are refused with.
        public var state: String

        /// All fields.
        public init(bytes: Int64, state: String) {
            self.bytes = bytes
            self.state = state
        }
    }

    /// A condition that a person should know of.
    public struct Warning: Codable, Equatable, Sendable {
        /// The stable code that programs compare.
        public var code: String
        /// The condition.
        public var message: String
        /// The next thing to do about it.
        public var hint: String

        /// All fields.
        public init(code: String, message: String, hint: String) {
            self.code = code
            self.message = message
            self.hint = hint
        }
    }

    /// The upgrade of the store that an older agent wrote, while it runs.
    public struct Upgrade: Codable, Equatable, Sendable {
        /// The share that is done, from 0 to 1.
        public var share: Double
        /// True if reads are answered meanwhile, with what the older agent knew.
        public var answersReads: Bool

        /// All fields.
        public init(share: Double, answersReads: Bool) {
            self.share = share
            self.answersReads = answersReads
        }
    }

    /// The bytes of an attachment while they arrive.
    public struct Transfer: Codable, Equatable, Sendable {
        /// The hash of the bytes; 64 hexadecimal digits, as attachments name them.
        public var hash: String
        /// The name of the newest attachment with these bytes; null when it is gone.
        public var name: String?
        /// The progress of the transfer.
        public var progress: ByteProgress

        /// All fields.
        public init(hash: String, name: String?, progress: ByteProgress) {
            self.hash = hash
            self.name = name
            self.progress = progress
        }
    }

    /// The identity of this node.
    public var device: Device
    /// The agent's version.
    public var version: String
    /// The seconds since the agent started.
    public var uptimeSeconds: Int
    /// The state of the search for other agents on the network.
    public var discovery: Discovery
    /// All spaces, by name.
    public var spaces: [Space]
    /// The number of other agents.
    public var peers: PeerCounts
    /// The local store.
    public var store: Store
    /// Bytes of attachments that arrive now, by hash.
    public var transfers: [Transfer]
    /// The backups that the agent makes by itself; null if it makes none.
    public var backups: BackupsResponse?
    /// The upgrade of the store; null unless one runs. There are no spaces and no peers in the answer until it is done.
    public var upgrade: Upgrade?
    /// The conditions a person should know of, most pressing first.
    public var warnings: [Warning]
    /// The addresses, as `HOST:PORT`, at which other devices reach this one; null from an agent that does not say.
    public var addresses: [String]?
    /// The level from which on the agent logs; null from an agent that does not say.
    public var logLevel: LogLevelResponse?

    /// All fields.
    public init(
        device: Device, version: String = LanyardVersion.current, uptimeSeconds: Int, discovery: Discovery,
        spaces: [Space], peers: PeerCounts, store: Store, transfers: [Transfer] = [], warnings: [Warning] = [],
        backups: BackupsResponse? = nil, addresses: [String]? = nil, upgrade: Upgrade? = nil,
        logLevel: LogLevelResponse? = nil
    ) {
        self.logLevel = logLevel
        self.addresses = addresses
        self.backups = backups
        self.upgrade = upgrade
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
    /// A replica and its next counter.
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

    /// The entries, sorted by replica.
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
