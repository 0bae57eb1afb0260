import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes by which a person who may use the control socket signs browsers in to the dashboard, and out.
struct DashboardRoutes: Sendable {
    let agent: Agent
    /// The browsers of the dashboard; nil where the agent serves none just now.
    let access: @Sendable () async -> DashboardAccess?

    var routes: [Route] {
        [
            Route(.post, "/v1/dashboard") { [agent, access] _ throws(ControlError) in
                guard let link = await access()?.link(alsoAt: agent.dashboardHosts) else { throw Self.isOff(agent) }
                return .json(link)
            },
            Route(.delete, "/v1/dashboard") { [agent, access] _ throws(ControlError) in
                guard let access = await access() else { throw Self.isOff(agent) }
                return .json(DashboardSignOut(signedOut: access.signOut()))
            },
        ]
    }

    private static func isOff(_ agent: Agent) -> ControlError {
        if let failed = agent.startWarnings.first(where: { $0.code == ConfiguredServers.failureCode(of: .dashboard) }) {
            return ControlError(.notFound, failed.message, hint: failed.hint)
        }
        return ControlError(
            .notFound, "The agent serves no dashboard.",
            hint: "Write dashboard = 8384 into lanyardd.toml; then: lanyard reload")
    }
}
