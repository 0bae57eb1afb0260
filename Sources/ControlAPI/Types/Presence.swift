/// The number of a session under a topic of presence: 16 hexadecimal digits, given by the agent when a client joins.
public struct PresenceSession: Hashable, Sendable, CustomStringConvertible {
    /// The number; not 0.
    public let rawValue: UInt64

    /// A session with this number.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Reads 16 hexadecimal digits; throws `invalid_argument` for anything else.
    public init(parsing text: String) throws(ControlError) {
        guard text.utf8.count == 16, text.utf8.allSatisfy(Self.isDigit), let value = UInt64(text, radix: 16) else {
            throw ControlError(
                .invalidArgument, "This is no session.",
                hint: "Give the 16 digits of the line that says \"joined\".")
        }
        rawValue = value
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        case _: false
        }
    }

    /// The 16 digits, in lower case.
    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}

extension PresenceSession: Codable {
    /// Reads the digits.
    public init(from decoder: any Decoder) throws {
        try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// A value that is present under a topic, for as long as its client is connected.
public struct PresentValue: Codable, Hashable, Sendable {
    /// The device on which the client runs.
    public var device: String
    /// The device's name.
    public var name: String
    /// The client's session; a device may have several.
    public var session: PresenceSession
    /// The value.
    public var value: JSONText
    /// True if the client is one of the device that was asked.
    public var isThisDevice: Bool

    /// A value of a session.
    public init(device: String, name: String, session: PresenceSession, value: JSONText, isThisDevice: Bool) {
        self.device = device
        self.name = name
        self.session = session
        self.value = value
        self.isThisDevice = isThisDevice
    }
}

/// A line of `GET …/presence/{topic}`.
public enum PresenceLine: Hashable, Sendable {
    /// The first line: the session that lives as long as the answer.
    case joined(session: PresenceSession)
    /// A value that is new or has changed.
    case present(PresentValue)
    /// A value that is gone.
    case gone(device: String, session: PresenceSession)
}

extension PresenceLine: Codable {
    private enum Key: String, CodingKey {
        case kind
        case device
        case name
        case session
        case value
        case isThisDevice
    }

    /// Reads `{"kind":"joined","session"}`, `{"kind":"present","device","name","session","value","isThisDevice"}` or
    /// `{"kind":"gone","device","session"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .kind) {
        case "joined": self = .joined(session: try container.decode(PresenceSession.self, forKey: .session))
        case "gone":
            self = .gone(
                device: try container.decode(String.self, forKey: .device),
                session: try container.decode(PresenceSession.self, forKey: .session))
        case "present":
            self = .present(
                PresentValue(
                    device: try container.decode(String.self, forKey: .device),
                    name: try container.decode(String.self, forKey: .name),
                    session: try container.decode(PresenceSession.self, forKey: .session),
                    value: try container.decode(JSONText.self, forKey: .value),
                    isThisDevice: try container.decode(Bool.self, forKey: .isThisDevice)))
        case let kind:
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "\(kind) is no kind of a line of presence"))
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .joined(let session):
            try container.encode("joined", forKey: .kind)
            try container.encode(session, forKey: .session)
        case .present(let value):
            try container.encode("present", forKey: .kind)
            try container.encode(value.device, forKey: .device)
            try container.encode(value.name, forKey: .name)
            try container.encode(value.session, forKey: .session)
            try container.encode(value.value, forKey: .value)
            try container.encode(value.isThisDevice, forKey: .isThisDevice)
        case .gone(let device, let session):
            try container.encode("gone", forKey: .kind)
            try container.encode(device, forKey: .device)
            try container.encode(session, forKey: .session)
        }
    }
}

/// The answer to setting a session's value.
public struct PresenceSetting: Codable, Hashable, Sendable {
    /// The session.
    public var session: PresenceSession
    /// False if the value was taken away.
    public var isPresent: Bool

    /// An answer for a session.
    public init(session: PresenceSession, isPresent: Bool) {
        self.session = session
        self.isPresent = isPresent
    }
}
