/// The attachments whose bytes a node fetches by itself. Bytes that people ask for are fetched under every rule.
public enum FetchRule: Hashable, Sendable {
    /// All attachments.
    case all
    /// Fetches attachments with at most this many bytes.
    case upTo(UInt64)
    /// Fetches no attachment by itself, only those that people ask for or pin.
    case onDemand
}

extension FetchRule: Codable {
    private enum Key: String, CodingKey {
        case policy
        case size
    }

    /// Reads `{"policy":"all"|"up-to"|"on-demand","size":BYTES|null}`. Throws `invalid_argument`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let policy = try container.decode(String.self, forKey: .policy)
        let size = container.contains(.size) ? try container.decodeIfPresent(UInt64.self, forKey: .size) : nil
        switch (policy, size) {
        case ("all", nil): self = .all
        case ("up-to", let size?): self = .upTo(size)
        case ("on-demand", nil): self = .onDemand
        case _:
            throw ControlError(
                .invalidArgument, "This is no policy of fetching.",
                hint: "Policies: all; up-to, with a size in bytes; on-demand.")
        }
    }

    /// Writes both keys.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .all:
            try container.encode("all", forKey: .policy)
            try container.encodeNil(forKey: .size)
        case .upTo(let size):
            try container.encode("up-to", forKey: .policy)
            try container.encode(size, forKey: .size)
        case .onDemand:
            try container.encode("on-demand", forKey: .policy)
            try container.encodeNil(forKey: .size)
        }
    }
}

/// A space on this node, with its attachment policy there, which other nodes do not learn: a row of `lanyard spaces`.
public struct SpaceEntry: Codable, Hashable, Sendable {
    /// The name of the space on this node.
    public var name: String
    /// The id that all nodes share.
    public var id: String
    /// The number of its devices that are in, this one included.
    public var members: Int
    /// The role of this device; null if it was revoked.
    public var role: Role?
    /// The attachments that this node fetches by itself.
    public var fetch: FetchRule
    /// The most bytes that attachments may take here; null: as many as the disk holds.
    public var quota: UInt64?
    /// The bytes that count against the quota: stored ones, and ones for which room was made.
    public var usedBytes: UInt64
    /// Attachment records.
    public var attachments: Int
    /// Blobs that should be here and are not.
    public var missing: Int

    /// All fields.
    public init(
        name: String, id: String, members: Int = 1, role: Role? = nil, fetch: FetchRule, quota: UInt64?,
        usedBytes: UInt64 = 0, attachments: Int = 0, missing: Int = 0
    ) {
        self.name = name
        self.id = id
        self.members = members
        self.role = role
        self.fetch = fetch
        self.quota = quota
        self.usedBytes = usedBytes
        self.attachments = attachments
        self.missing = missing
    }
}

/// Request of `lanyard spaces set`: what is not named stays as it is.
public struct SpaceSettings: Hashable, Sendable {
    /// A bound on the bytes that attachments may take.
    public enum Quota: Hashable, Sendable {
        /// Unlimited: the disk is the only bound.
        case unlimited
        /// A bound in bytes.
        case bytes(UInt64)
    }

    /// The attachments that the node fetches by itself.
    public var fetch: FetchRule?
    /// The most bytes that attachments may take. A bound below what is stored removes nothing, and refuses new bytes.
    public var quota: Quota?

    /// Both parts.
    public init(fetch: FetchRule? = nil, quota: Quota? = nil) {
        self.fetch = fetch
        self.quota = quota
    }
}

extension SpaceSettings: Codable {
    private enum Key: String, CodingKey {
        case fetch
        case quota
    }

    /// Reads `{"fetch"?, "quota"?}`; a quota of `null` is none. Throws `invalid_argument` for nothing to set.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        if container.contains(.fetch) { fetch = try container.decode(FetchRule.self, forKey: .fetch) }
        if container.contains(.quota) {
            let bytes = try container.decodeIfPresent(UInt64.self, forKey: .quota)
            quota = bytes.map(Quota.bytes) ?? Quota.unlimited
        }
        guard fetch != nil || quota != nil else {
            throw ControlError(.invalidArgument, "There is nothing to set.", hint: "Give fetch, quota or both.")
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if let fetch { try container.encode(fetch, forKey: .fetch) }
        switch quota {
        case nil: break
        case .unlimited: try container.encodeNil(forKey: .quota)
        case .bytes(let bytes): try container.encode(bytes, forKey: .quota)
        }
    }
}

/// Answer of `lanyard compact`: what was removed.
public struct CompactResponse: Codable, Equatable, Sendable {
    /// The number of bytes freed in all.
    public var freedBytes: UInt64
    /// Blobs that no attachment named any more.
    public var blobs: Int
    /// Files of an end without warning, that nothing speaks of.
    public var strayFiles: Int
    /// Changes dropped from the log: every member has them, and they are older than history is kept.
    public var changes: Int

    /// All fields.
    public init(freedBytes: UInt64, blobs: Int, strayFiles: Int, changes: Int = 0) {
        self.changes = changes
        self.freedBytes = freedBytes
        self.blobs = blobs
        self.strayFiles = strayFiles
    }
}
