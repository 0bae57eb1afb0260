/// The rights of a device in a space.
public enum Role: String, Codable, CaseIterable, Sendable {
    /// Reads and writes, and admits writers and readers.
    case writer
    /// Reads; its changes count nowhere.
    case reader
    /// Reads and writes, admits devices of every role, and changes the roles of others.
    case admin
}

extension Role {
    /// The role in a sentence.
    package var withArticle: String {
        switch self {
        case .reader: "a reader"
        case .writer: "a writer"
        case .admin: "an admin"
        }
    }
}

/// Request of `lanyard invite`.
public struct InviteRequest: Codable, Equatable, Sendable {
    /// The rights of the new device, at most those of this one; `writer` when absent.
    public var role: Role?
    /// The lifetime of the ticket, in seconds; 600 when absent, 1 to 86,400.
    public var expiresSeconds: Int?
    /// The time at which an admin's device revokes the new one by itself; never when absent. The ticket is good for no longer.
    public var until: Timestamp?
    /// The space to let it into; `home` when absent.
    public var space: String?

    /// All fields.
    public init(role: Role? = nil, expiresSeconds: Int? = nil, until: Timestamp? = nil, space: String? = nil) {
        self.role = role
        self.expiresSeconds = expiresSeconds
        self.until = until
        self.space = space
    }
}

/// Answer of `lanyard invite`.
public struct InviteResponse: Codable, Equatable, Sendable {
    /// The ticket to type on the other machine; valid for one use.
    public var ticket: String
    /// The time at which it expires.
    public var expires: Timestamp
    /// The rights of the device that joins with it; null from an agent before roles, whose tickets make writers.
    public var role: Role?
    /// The time at which the membership of that device ends, to the second; null if it does not end by itself.
    public var until: Timestamp?

    /// All fields.
    public init(ticket: String, expires: Timestamp, role: Role? = nil, until: Timestamp? = nil) {
        self.ticket = ticket
        self.expires = expires
        self.role = role
        self.until = until
    }
}

/// Request of `lanyard join`.
public struct JoinRequest: Codable, Equatable, Sendable {
    /// The ticket that `lanyard invite` printed.
    public var ticket: String

    /// The ticket as typed.
    public init(ticket: String) { self.ticket = ticket }
}

/// Answer of `lanyard join`.
public struct JoinResponse: Codable, Equatable, Sendable {
    /// The id of the device that let us in.
    public var device: String
    /// The name of the space joined.
    public var space: String
    /// The rights of this device there; null from an agent before roles.
    public var role: Role?

    /// All fields.
    public init(device: String, space: String, role: Role? = nil) {
        self.device = device
        self.space = space
        self.role = role
    }
}

/// A member of a space: one row of `lanyard devices`.
public struct DeviceEntry: Codable, Equatable, Sendable {
    /// The whole device id.
    public var id: String
    /// The device's name.
    public var name: String
    /// The device's rights.
    public var role: Role
    /// The id of the device that let it in; null for the first.
    public var addedBy: String?
    /// The time at which it was admitted, by the wall clock of the device that admitted it.
    public var addedAt: Timestamp?
    /// The time at which this node last had a session with it; null for this device and one never met.
    public var lastSeen: Timestamp?
    /// `this`, `connected`, `offline`, `retired`, `blocked` (on this node) or `revoked`: by an admin or the recovery key, or
    /// because only revoked devices let it in.
    public var state: String
    /// The ids of the members that have acknowledged that it was retired or revoked; null for any other.
    public var heard: [String]?
    /// The ids of the members that have not; null for any other.
    public var waitingFor: [String]?
    /// The id of the device on which it was revoked; null for any other, and where no revocation names it.
    public var revokedBy: String?
    /// The time at which it was revoked, by that device's clock; null for any other, and if unknown.
    public var revokedAt: Timestamp?
    /// The time at which it deleted what it held, as the revocation told it to: by its own clock, and as it has signed. Null
    /// while no such receipt has come.
    public var wipedAt: Timestamp?
    /// The time at which its membership ends: an admin's device revokes it then. Null if it does not end by itself.
    public var until: Timestamp?

    /// All fields.
    public init(
        id: String, name: String, role: Role, addedBy: String?, addedAt: Timestamp?, lastSeen: Timestamp?,
        state: String, heard: [String]? = nil, waitingFor: [String]? = nil, revokedBy: String? = nil,
        revokedAt: Timestamp? = nil, wipedAt: Timestamp? = nil, until: Timestamp? = nil
    ) {
        self.id = id
        self.name = name
        self.role = role
        self.addedBy = addedBy
        self.addedAt = addedAt
        self.lastSeen = lastSeen
        self.state = state
        self.heard = heard
        self.waitingFor = waitingFor
        self.revokedBy = revokedBy
        self.revokedAt = revokedAt
        self.wipedAt = wipedAt
        self.until = until
    }
}

/// Answer of `lanyard devices block`.
public struct BlockedDevice: Codable, Equatable, Sendable {
    /// The device as it is now.
    public var device: DeviceEntry
    /// Members through which its writes can still come: all that are not blocked here, for a block holds on one node only.
    public var through: [DeviceEntry]

    /// All fields.
    public init(device: DeviceEntry, through: [DeviceEntry]) {
        self.device = device
        self.through = through
    }
}
