/// Body of `PUT /v1/log-level`.
public struct LogLevelRequest: Codable, Equatable, Sendable {
    /// The times for which a level may be set, in milliseconds: one second to one day.
    package static let milliseconds = 1_000...86_400_000
    /// The time for which a level counts that was set without one: ten minutes.
    package static let usualMilliseconds = 600_000

    /// `trace`, `debug`, `info`, `notice`, `warning` or `error`. The configured one ends an earlier setting, that of a component only
    /// while nothing is set for all.
    public var level: String
    /// The time after which the level ends; nil: ten minutes.
    public var forMilliseconds: Int?
    /// The part of the agent that the level is for, a `LogComponent`; nil: all, in place of every earlier setting.
    public var component: String?

    /// All fields.
    public init(level: String, forMilliseconds: Int? = nil, component: String? = nil) {
        self.level = level
        self.forMilliseconds = forMilliseconds
        self.component = component
    }
}

/// A part of the agent, as the lines of its log name it. Lines of the agent as a whole have none.
public enum LogComponent: String, CaseIterable, Sendable {
    /// mDNS: the daemon, records that come and go.
    case discovery
    /// Dials, connections and refusals.
    case transport
    /// Tickets and codes.
    case pairing
    /// Sessions with other devices, what they send each other, members.
    case sync
    /// Commits, dropped history, backups.
    case store
    /// The bytes of attachments.
    case attachments
    /// Requests on the control socket; the ports of the dashboard and of the metrics.
    case control
}

/// The level from which on the agent logs.
public struct LogLevelResponse: Codable, Equatable, Sendable {
    /// A level that was set for one component while the agent runs.
    public struct Component: Codable, Equatable, Sendable {
        /// The name of the component: a `LogComponent`.
        public var component: String
        /// The level that counts for it now.
        public var level: String
        /// The time until which it does.
        public var until: Timestamp

        /// All fields.
        public init(component: String, level: String, until: Timestamp) {
            self.component = component
            self.level = level
            self.until = until
        }
    }

    /// The level that counts now for all components that have none of their own.
    public var level: String
    /// The level of the configuration, which counts again after `until` and after a restart.
    public var configured: String
    /// The time until which a level counts that was set while the agent runs; null: the configured one counts.
    public var until: Timestamp?
    /// The levels that were set for single components; null from an agent that does not say.
    public var components: [Component]?

    /// All fields.
    public init(
        level: String, configured: String, until: Timestamp? = nil, components: [Component]? = []
    ) {
        self.level = level
        self.configured = configured
        self.until = until
        self.components = components
    }
}
