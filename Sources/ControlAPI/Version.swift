/// The version of this build.
public enum LanyardVersion {
    /// The semantic version of agent, command and client library, which are released together. `Tests/python` holds the
    /// version of the Python client equal to it; else it stands here only.
    public static let current = "0.1.0"
    /// The version of the control API that the paths carry (`/v1/…`).
    public static let controlAPI = 1
}

/// Answer of `GET /v1/version`.
public struct VersionResponse: Codable, Equatable, Sendable {
    /// Version of the agent.
    public let version: String
    /// Version of the control API.
    public let controlAPI: Int

    /// An answer with these versions.
    public init(version: String = LanyardVersion.current, controlAPI: Int = LanyardVersion.controlAPI) {
        self.version = version
        self.controlAPI = controlAPI
    }
}
