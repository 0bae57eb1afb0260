import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for this node's policy of spaces, and for discarding data.
struct SpaceRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces") { [agent] _ throws(ControlError) in .json(try await agent.spaces()) },
            Route(.get, "/v1/spaces/{space}") { [agent] request throws(ControlError) in
                let name = try request.name(.space)
                guard let space = try await agent.spaces().first(where: { $0.name == name }) else {
                    throw ControlError(
                        .unknownSpace, "There is no such space here.", hint: "See which there are: lanyard spaces")
                }
                return .json(space)
            },
            Route(.put, "/v1/spaces/{space}") { [agent] request throws(ControlError) in
                let settings = try await request.body(SpaceSettings.self)
                return .json(try await agent.setSpace(try request.name(.space), settings))
            },
            Route(.post, "/v1/compact") { [agent] _ throws(ControlError) in .json(try await agent.compact()) },
        ]
    }
}
