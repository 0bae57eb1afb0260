import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for the recovery key of a space.
struct RecoveryRoutes: Sendable {
    let agent: Agent

    private static let path = "/v1/spaces/{space}/recovery"

    var routes: [Route] {
        [
            Route(.get, Self.path) { [agent] request throws(ControlError) in
                .json(try await agent.recovery(space: try request.name(.space)))
            },
            Route(.post, Self.path) { [agent] request throws(ControlError) in
                .json(try await agent.newRecoveryKey(space: try request.name(.space)))
            },
            Route(.put, Self.path) { [agent] request throws(ControlError) in
                let space = try request.name(.space)
                return .json(
                    try await agent.setRecoveryKey(space: space, try await request.body(RecoveryKeyRequest.self)))
            },
        ]
    }
}
