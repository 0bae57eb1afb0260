/// Request of `lanyard pair`.
public struct PairRequest: Codable, Equatable, Sendable {
    /// The device to pair with: its name, the beginning of its id (at least four digits), or `HOST:PORT`. Any when absent.
    public var device: String?
    /// The rights that the other device gets if it joins the space of this one; `writer` when absent.
    public var role: Role?
    /// The time at which an admin's device revokes that device by itself; never when absent.
    public var until: Timestamp?

    /// All fields.
    public init(device: String? = nil, role: Role? = nil, until: Timestamp? = nil) {
        self.device = device
        self.role = role
        self.until = until
    }
}

/// The choice of a device while several pair.
public struct PairingChoice: Codable, Equatable, Sendable {
    /// The whole device id.
    public var device: String

    /// The device with this id.
    public init(device: String) { self.device = device }
}

/// The digits on the other screen.
public struct PairingCode: Codable, Equatable, Sendable {
    /// Six digits; blanks and hyphens in it do not matter.
    public var code: String

    /// The code as typed.
    public init(code: String) { self.code = code }
}

/// Answer to a choice or a code: it was given to the pairing, whose lines tell what follows.
public struct PairingStep: Codable, Equatable, Sendable {
    /// Always true.
    public var isTaken = true

    /// The answer.
    public init() {}
}

/// A device in a pairing.
public struct PairingDevice: Codable, Hashable, Sendable {
    /// The whole device id; null for a device on the network that does not pair right now.
    public var id: String?
    /// The first seven characters of the id.
    public var shortID: String?
    /// The name that the device gives itself; its host's name while it does not pair.
    public var name: String
    /// The address at which it was met or announces itself.
    public var address: String
    /// `mdns`, `address` (a person gave it) or `incoming` (it dialled this device).
    public var via: String
    /// True if it is a member of this device's space already.
    public var isMember: Bool

    /// All fields.
    public init(id: String?, shortID: String?, name: String, address: String, via: String, isMember: Bool) {
        self.id = id
        self.shortID = shortID
        self.name = name
        self.address = address
        self.via = via
        self.isMember = isMember
    }
}

/// A line of `POST /v1/pairing`.
public enum PairingLine: Equatable, Sendable {
    /// The first line: this device is open for a pairing until then.
    case waiting(expires: Timestamp)
    /// The devices that pair, and others on the network, after each change.
    case devices([PairingDevice])
    /// The devices of which the person has to choose one: several pair, or none that was asked for.
    case choose([PairingDevice])
    /// The code of this screen; that of the other one is to be typed.
    case code(String, peer: PairingPeer)
    /// The typed code is right; the same is missing on the other device.
    case confirmed
    /// Both devices are members of one space. The last line.
    ///
    /// `role` is that of the device that joined: of this one if `joined`, of the other one if not.
    case paired(device: String, name: String, role: Role, joined: Bool = false)
    /// The reason why nothing was paired. The last line.
    case failed(ControlError)
}

/// The other device of an exchange of codes.
public struct PairingPeer: Codable, Hashable, Sendable {
    /// The whole device id.
    public var id: String
    /// Its first seven characters.
    public var shortID: String
    /// The name that the device gives itself.
    public var name: String

    /// All fields.
    public init(id: String, shortID: String, name: String) {
        self.id = id
        self.shortID = shortID
        self.name = name
    }
}

extension PairingLine: Codable {
    private enum Key: String, CodingKey {
        case event, expires, devices, code, peer, device, name, role, joined, message, hint
    }

    /// Reads an object whose `event` is `waiting`, `devices`, `choose`, `code`, `confirmed`, `paired` or `failed`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .event) {
        case "waiting": self = .waiting(expires: try container.decode(Timestamp.self, forKey: .expires))
        case "devices": self = .devices(try container.decode([PairingDevice].self, forKey: .devices))
        case "choose": self = .choose(try container.decode([PairingDevice].self, forKey: .devices))
        case "code":
            self = .code(
                try container.decode(String.self, forKey: .code),
                peer: try container.decode(PairingPeer.self, forKey: .peer))
        case "confirmed": self = .confirmed
        case "paired":
            self = .paired(
                device: try container.decode(String.self, forKey: .device),
                name: try container.decode(String.self, forKey: .name),
                role: try container.decode(Role.self, forKey: .role),
                joined: try container.decodeIfPresent(Bool.self, forKey: .joined) ?? false)
        case "failed":
            let code = ErrorCode(rawValue: try container.decode(String.self, forKey: .code)) ?? .internalFault
            self = .failed(
                ControlError(
                    code, try container.decode(String.self, forKey: .message),
                    hint: try container.decode(String.self, forKey: .hint)))
        case let event:
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "\(event) is no event of a pairing"))
        }
    }

    /// Writes the same; `joined` only if it is true.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .waiting(let expires):
            try container.encode("waiting", forKey: .event)
            try container.encode(expires, forKey: .expires)
        case .devices(let devices):
            try container.encode("devices", forKey: .event)
            try container.encode(devices, forKey: .devices)
        case .choose(let devices):
            try container.encode("choose", forKey: .event)
            try container.encode(devices, forKey: .devices)
        case .code(let code, let peer):
            try container.encode("code", forKey: .event)
            try container.encode(code, forKey: .code)
            try container.encode(peer, forKey: .peer)
        case .confirmed: try container.encode("confirmed", forKey: .event)
        case .paired(let device, let name, let role, let joined):
            try container.encode("paired", forKey: .event)
            try container.encode(device, forKey: .device)
            try container.encode(name, forKey: .name)
            try container.encode(role, forKey: .role)
            if joined { try container.encode(true, forKey: .joined) }
        case .failed(let error):
            try container.encode("failed", forKey: .event)
            try container.encode(error.code.rawValue, forKey: .code)
            try container.encode(error.message, forKey: .message)
            try container.encode(error.hint, forKey: .hint)
        }
    }
}
