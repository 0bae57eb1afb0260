package import ControlAPI
package import SyncAgent

// The level of the log of the running agent.
extension Agent {
    /// Sets the level for some time. Throws `invalid_argument`.
    package func setLogLevel(_ wish: LogLevelRequest) async throws(ControlError) -> LogLevelResponse {
        let levels = AgentConfiguration.LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
        guard let level = AgentConfiguration.LogLevel(rawValue: wish.level) else {
            throw ControlError(
                .invalidArgument, "\"\(wish.level)\" is no level of the log.", hint: "The levels are \(levels).")
        }
        let milliseconds = wish.forMilliseconds ?? LogLevelRequest.usualMilliseconds
        guard LogLevelRequest.milliseconds.contains(milliseconds) else {
            throw ControlError(
                .invalidArgument, "A level is set for one second to one day.",
                hint: "To keep it, write log-level into the agent's configuration, and restart the agent.")
        }
        return LogLevelResponse(
            try await controlled { try await setLogLevel(level, forMilliseconds: Int64(milliseconds)) })
    }
}

extension LogLevelResponse {
    init(_ view: LogLevelView) {
        self.init(
            level: view.level.rawValue, configured: view.configured.rawValue,
            until: view.untilMilliseconds.map(Timestamp.init(millisecondsSinceEpoch:)))
    }
}
