package import ControlAPI
package import SyncAgent

// The level of the log of the running agent.
extension Agent {
    /// Sets the level for some time, of a component or of all. Throws `invalid_argument`.
    package func setLogLevel(_ wish: LogLevelRequest) async throws(ControlError) -> LogLevelResponse {
        let levels = AgentConfiguration.LogLevel.allCases.map(\.rawValue).joined(separator: ", ")
        guard let level = AgentConfiguration.LogLevel(rawValue: wish.level) else {
            throw ControlError(
                .invalidArgument, "\"\(wish.level)\" is no level of the log.", hint: "The levels are \(levels).")
        }
        let component = try wish.component.map(Self.component)
        let milliseconds = wish.forMilliseconds ?? LogLevelRequest.usualMilliseconds
        guard LogLevelRequest.milliseconds.contains(milliseconds) else {
            throw ControlError(
                .invalidArgument, "A level is set for one second to one day.",
                hint: "To keep it, write log-level into the agent's configuration; then: lanyard reload")
        }
        return LogLevelResponse(
            try await controlled {
                try await setLogLevel(level, of: component, forMilliseconds: Int64(milliseconds))
            })
    }

    private static func component(_ name: String) throws(ControlError) -> SyncAgent.LogComponent {
        guard let component = SyncAgent.LogComponent(rawValue: name) else {
            let names = SyncAgent.LogComponent.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError(
                .invalidArgument, "\"\(name)\" is no component of the agent.", hint: "The components are \(names).")
        }
        return component
    }
}

extension LogLevelResponse {
    init(_ view: LogLevelView) {
        self.init(
            level: view.level.rawValue, configured: view.configured.rawValue,
            until: view.untilMilliseconds.map(Timestamp.init(millisecondsSinceEpoch:)),
            components: view.components.map {
                Component(
                    component: $0.component.rawValue, level: $0.level.rawValue,
                    until: Timestamp(millisecondsSinceEpoch: $0.untilMilliseconds))
            })
    }
}
