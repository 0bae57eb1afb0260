import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// All of an agent in one file, its keys too.
struct BackupRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.post, "/v1/backup") { [agent] request throws(ControlError) in
                try Self.checkCaller(request.origin)
                // The database is copied first; who does not wait for that needs no copy.
                let reading = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.backup()
                }
                return BackupAnswer(reading).response()
            },
            Route(.get, "/v1/backups") { [agent] _ throws(ControlError) in .json(agent.backupsResponse) },
            Route(.put, "/v1/backups") { [agent] request throws(ControlError) in
                try Self.checkCaller(request.origin)
                let plan = try await request.body(BackupPlanEntry.self)
                return try await Self.whileListening(request) { () throws(ControlError) in
                    try await agent.setBackups(plan)
                }
            },
            Route(.delete, "/v1/backups") { [agent] request throws(ControlError) in
                try Self.checkCaller(request.origin)
                return .json(try agent.endBackups())
            },
            Route(.post, "/v1/backups") { [agent] request throws(ControlError) in
                try Self.checkCaller(request.origin)
                return try await Self.whileListening(request) { () throws(ControlError) in
                    try await agent.backUpNow()
                }
            },
        ]
    }

    /// A backup goes on without the client.
    private static func whileListening(
        _ request: ControlRequest, _ body: @escaping @Sendable () async throws(ControlError) -> BackupsResponse
    ) async throws(ControlError) -> Response {
        var response = Response.json(try await request.whileClientListens(body))
        response.headers[.connection] = "close"
        return response
    }

    /// Admits the agent's user and root only. A backup holds the device's keys: the socket's group may use the agent, but must
    /// not become the device.
    private static func checkCaller(_ origin: ControlRequest.Origin) throws(ControlError) {
        switch origin {
        case .owner, .memory: return
        case .group, .page:
            throw ControlError(
                .forbidden, "A backup holds this device's keys; only the agent's user and root may have one.",
                hint: "Run it as root: sudo lanyard backup FILE")
        }
    }
}
