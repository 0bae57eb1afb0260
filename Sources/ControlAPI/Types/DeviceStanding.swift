/// The degree to which another device has what this node holds, by that device's most recent report.
public struct DeviceStanding: Codable, Equatable, Sendable {
    /// The relation of the device's inventory to this node's.
    public enum State: String, Codable, Sendable {
        /// The device lacks nothing of what this node holds.
        case inStep
        /// The device lacks some of it.
        case behind
        /// The device has not reported what it holds.
        case unknown
    }

    /// The device.
    public var id: String
    /// The first seven characters of the id.
    public var shortID: String
    /// The device's name.
    public var name: String
    /// The relation of its inventory to this node's.
    public var state: State
    /// True if it has a session with this node now.
    public var connected: Bool
    /// Changes of this node that it lacks; null while unknown.
    public var unsent: Int?
    /// The time since which there is no session: when it was met last, or when it became a member if it was never met. Null
    /// while connected.
    public var awaySince: Timestamp?
    /// The time at which this node last heard from it; null for one that was never met.
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
