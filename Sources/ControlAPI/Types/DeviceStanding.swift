/// How far another device has what this node holds, by that device's own last word.
public struct DeviceStanding: Codable, Equatable, Sendable {
    /// What is known of it.
    public enum State: String, Codable, Sendable {
        /// It lacks nothing of what this node holds.
        case inStep
        /// It lacks some of it.
        case behind
        /// It has not said what it holds.
        case unknown
    }

    /// The device.
    public var id: String
    /// The first seven characters of the id.
    public var shortID: String
    /// What people call it.
    public var name: String
    /// What is known of it.
    public var state: State
    /// Whether it has a session with this node now.
    public var connected: Bool
    /// Changes of this node that it lacks; null while unknown.
    public var unsent: Int?
    /// Since when there is no session: when it was met last, or when it became a member if it was never met. Null while connected.
    public var awaySince: Timestamp?
    /// When this node last heard from it; null for one that was never met.
    public var lastSeen: Timestamp?

    /// All fields.
    public init(
        id: String, shortID: String, name: String, state: State, connected: Bool, unsent: Int? = nil,
        awaySince: Timestamp? = nil, lastSeen: Timestamp? = nil
    ) {
        self.id = id
        self.shortID = shortID
        self.name = name
        self.state = state
        self.connected = connected
        self.unsent = unsent
        self.awaySince = awaySince
        self.lastSeen = lastSeen
    }
}
