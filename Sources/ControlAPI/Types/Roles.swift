/// Request of `lanyard devices role` and `lanyard recovery use role`.
public struct RoleRequest: Codable, Equatable, Sendable {
    /// The role that the device gets, lower or higher.
    public var role: Role
    /// The recovery key, as `lanyard recovery create` printed it; absent: this device speaks as an admin.
    public var recoveryKey: String?

    /// All fields.
    public init(role: Role, recoveryKey: String? = nil) {
        self.role = role
        self.recoveryKey = recoveryKey
    }
}

/// Request of `lanyard devices revoke` and `lanyard recovery use revoke`.
public struct RevocationRequest: Codable, Equatable, Sendable {
    /// True: the device is told to delete what it holds of the space.
    public var wipe: Bool?
    /// The recovery key, as `lanyard recovery create` printed it; absent: this device speaks as an admin.
    public var recoveryKey: String?

    /// All fields.
    public init(wipe: Bool? = nil, recoveryKey: String? = nil) {
        self.wipe = wipe
        self.recoveryKey = recoveryKey
    }
}

/// Answer of `lanyard devices revoke`.
public struct Revocation: Codable, Equatable, Sendable {
    /// The id of the device that was revoked.
    public var device: String
    /// Its name.
    public var name: String
    /// The ids of the members that have acknowledged it, this device among them.
    public var heard: [String]
    /// The ids of the members that have not.
    public var waitingFor: [String]
    /// Members that the revoked device let in, itself or through others of them. They stay members.
    public var alsoAdmitted: [DeviceEntry]

    /// All fields.
    public init(
        device: String, name: String, heard: [String], waitingFor: [String], alsoAdmitted: [DeviceEntry] = []
    ) {
        self.device = device
        self.name = name
        self.heard = heard
        self.waitingFor = waitingFor
        self.alsoAdmitted = alsoAdmitted
    }
}

/// A new recovery key. It counts only once it was set.
public struct IssuedRecoveryKey: Codable, Equatable, Sendable {
    /// The private key as text. The agent does not keep it.
    public var key: String

    /// The key as text.
    public init(key: String) { self.key = key }
}

/// Request that sets the recovery key of a space.
public struct RecoveryKeyRequest: Codable, Equatable, Sendable {
    /// The private key as text; only its public half is kept.
    public var recoveryKey: String

    /// The key as text.
    public init(recoveryKey: String) { self.recoveryKey = recoveryKey }
}

/// Answer of `lanyard recovery`: the state of a space's recovery key.
public struct RecoveryState: Codable, Equatable, Sendable {
    /// True if the space has a recovery key.
    public var exists: Bool
    /// The time at which it was made, by the founder's clock; null if there is none, or the time is unknown.
    public var createdAt: Timestamp?
    /// The id of the founder of the space. Only that device makes the key. Null while it is not known here.
    public var founder: String?

    /// All fields.
    public init(exists: Bool, createdAt: Timestamp?, founder: String?) {
        self.exists = exists
        self.createdAt = createdAt
        self.founder = founder
    }
}
