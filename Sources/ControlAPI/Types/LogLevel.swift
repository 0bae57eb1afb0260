/// Body of `PUT /v1/log-level`.
public struct LogLevelRequest: Codable, Equatable, Sendable {
    /// The times for which a level may be set, in milliseconds: one second to one day.
    package static let milliseconds = 1_000...86_400_000
    /// The time for which a level counts that was set without one: ten minutes.
    package static let usualMilliseconds = 600_000

    /// `trace`, `debug`, `info`, `notice`, `warning` or `error`; the configured one ends an earlier setting.
    public var level: String
    /// The time after which the configured level counts again; nil: ten minutes.
    public var forMilliseconds: Int?

    /// All fields.
    public init(level: String, forMilliseconds: Int? = nil) {
        self.level = level
        self.forMilliseconds = forMilliseconds
    }
}

/// The level from which on the agent logs.
public struct LogLevelResponse: Codable, Equatable, Sendable {
    /// The level that counts now.
    public var level: String
    /// The level of the configuration, which counts again after `until` and after a restart.
    public var configured: String
    /// The time until which a level counts that was set while the agent runs; null: the configured one counts.
    public var until: Timestamp?

    /// All fields.
    public init(level: String, configured: String, until: Timestamp? = nil) {
        self.level = level
        self.configured = configured
        self.until = until
    }
}
