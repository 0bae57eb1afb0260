/// An operation of a device that counts nowhere: the device was revoked, or may only read.
public struct VoidWorkEntry: Codable, Equatable, Sendable {
    /// `object`, `event`, `schema` (entries of a collection's schema), `stream` (its setting), `drop` (events of a stream were
    /// dropped), `device` (another device was let in), `retirement`, `statement` (on a role), `unknown` (of a later version).
    public var kind: String
    /// The time by the device's clock.
    public var time: Timestamp
    /// The operation.
    public var dot: DotText
    /// The object's or the schema's collection.
    public var collection: String?
    /// The object's id within the collection.
    public var id: String?
    /// The deed: of an object `created`, `edited`, `attached`, `detached`, `deleted` or `kept`; of a statement `role`,
    /// `readmission`, `revocation` or `recoveryKey`.
    public var action: String?
    /// The edited fields, at most 64 of them.
    public var fields: [String]?
    /// The name of the file that was attached; empty if it had none.
    public var attachment: String?
    /// The stream of an event, a setting or a drop.
    public var stream: String?
    /// True if the stream shows only the newest event of each type by the setting.
    public var latestOnly: Bool?
    /// The time for which the setting keeps events, in seconds; null for ever.
    public var retainSeconds: Int?
    /// The entries that are set of a schema.
    public var schema: JSONText?
    /// The event's type.
    public var type: String?
    /// The event's payload.
    public var payload: JSONText?
    /// The id of the device that was let in, retired, or is spoken of.
    public var device: String?
    /// The name that the device was let in with.
    public var deviceName: String?
    /// The role that the device was let in with, or was given: `reader`, `writer` or `admin`.
    public var role: String?
    /// True if an admin accepted this operation on an object, or this event; null for other operations.
    public var accepted: Bool?

    /// The keys that every entry has.
    public init(kind: String, time: Timestamp, dot: DotText) {
        self.kind = kind
        self.time = time
        self.dot = dot
    }
}

/// Answer of `lanyard devices review`: a page of what a device wrote that counts nowhere, in the order in which it was written.
public struct VoidWorkResponse: Codable, Equatable, Sendable {
    /// The whole id of the device.
    public var device: String
    /// The device's name.
    public var name: String
    /// The operations.
    public var entries: [VoidWorkEntry]
    /// The cursor of the next page; null on the last one.
    public var next: String?
    /// True if there was more that the log of this node no longer has.
    public var dropped: Bool

    /// All fields.
    public init(device: String, name: String, entries: [VoidWorkEntry], next: String?, dropped: Bool) {
        self.device = device
        self.name = name
        self.entries = entries
        self.next = next
        self.dropped = dropped
    }
}

/// Request of `lanyard devices accept`: 1 to 1,000 names in all.
public struct AcceptanceRequest: Codable, Equatable, Sendable {
    /// The objects, each as `COLLECTION/ID`.
    public var objects: [String]?
    /// The streams whose events are emitted again.
    public var events: [String]?
    /// The collections whose schemas are set.
    public var schemas: [String]?
    /// The streams that are set.
    public var streams: [String]?

    /// The names.
    public init(
        objects: [String]? = nil, events: [String]? = nil, schemas: [String]? = nil, streams: [String]? = nil
    ) {
        self.objects = objects
        self.events = events
        self.schemas = schemas
        self.streams = streams
    }

    /// The number of names that one request takes.
    package static let nameCount = 1...1_000
}

/// Answer of `lanyard devices accept`: what became of each name.
public struct AcceptanceResponse: Codable, Equatable, Sendable {
    /// An object, and what was done to it.
    public struct Object: Codable, Equatable, Sendable {
        /// The object's collection.
        public var collection: String
        /// The object's id within the collection.
        public var id: String
        /// `created`, `edited` or `deleted`; `none` if nothing was written.
        public var action: String
        /// The fields that are written, by name; at most 64 of them.
        public var fields: [String]
        /// The number of attachments that were attached or detached.
        public var attachments: Int
        /// The change; null if nothing was written.
        public var version: DotText?
        /// The code of the reason why nothing was written; null if something was.
        public var code: String?
        /// That reason, as a sentence.
        public var reason: String?

        /// An object to which nothing was done yet.
        public init(collection: String, id: String) {
            self.collection = collection
            self.id = id
            action = "none"
            fields = []
            attachments = 0
        }
    }

    /// The events of a stream, a schema or a stream's setting, and what was done of it.
    public struct Other: Codable, Equatable, Sendable {
        /// `event`, `schema` or `stream`, as in `VoidWorkEntry`.
        public var kind: String
        /// The stream's or the collection's name.
        public var name: String
        /// The number of events that were emitted; of the others 1 if something was written, 0 if nothing was.
        public var count: Int
        /// The code of the reason why nothing was written; null if something was.
        public var code: String?
        /// That reason, as a sentence.
        public var reason: String?

        /// A name of which nothing was taken yet.
        public init(kind: String, name: String) {
            self.kind = kind
            self.name = name
            count = 0
        }
    }

    /// The whole id of the device.
    public var device: String
    /// The objects, in the order of the request.
    public var objects: [Object]
    /// Events, then schemas, then settings of streams, each in the order of the request.
    public var others: [Other]

    /// All fields.
    public init(device: String, objects: [Object], others: [Other]) {
        self.device = device
        self.objects = objects
        self.others = others
    }
}
