import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for the status of this node, and what keeps it from being in step.
struct NodeRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/status", query: ["space"]) { [agent] request throws(ControlError) in
                let space = request.query["space"]
                if let space { try NameRule.check(space, is: .space) }
                return .json(try await agent.status(space: space))
            },
            Route(.get, "/v1/why", query: ["target", "space"]) { [agent] request throws(ControlError) in
                let space = request.query["space"]
                if let space { try NameRule.check(space, is: .space) }
                return .json(try await agent.why(request.query["target"], space: space))
            },
            Route(.get, "/v1/wait", query: ["peers", "connected", "timeoutMilliseconds"]) {
                [agent] request throws(ControlError) in
                let connectedOnly = try request.flag("connected")
                let peers = try request.optionalInteger("peers", in: 0...10_000)
                let timeout = try request.integer("timeoutMilliseconds", in: 0...86_400_000, default: 30_000)
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.wait(
                        peers: peers, connectedOnly: connectedOnly, timeoutMilliseconds: Int64(timeout))
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
            Route(.get, "/v1/durability", query: ["version", "devices", "timeoutMilliseconds"]) {
                [agent] request throws(ControlError) in
                let version = try DotText(parsing: request.query["version"] ?? "")
                let devices = try request.integer("devices", in: 1...10_000, default: 2)
                let timeout = try request.integer("timeoutMilliseconds", in: 0...86_400_000, default: 30_000)
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.waitUntilDurable(version, on: devices, timeoutMilliseconds: Int64(timeout))
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
        ]
    }
}
