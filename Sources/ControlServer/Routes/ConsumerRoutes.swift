import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for durable readers and their cursors.
struct ConsumerRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/consumers") { [agent] request throws(ControlError) in
                .json(try await agent.consumers(space: try request.name(.space)))
            },
            Route(.put, "/v1/spaces/{space}/consumers/{consumer}") { [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.name(.consumer))
                let body = try await request.body(ConsumerPosition.self)
                if let stream = body.stream { try NameRule.check(stream, is: .stream) }
                return .json(
                    try await agent.setConsumer(
                        space: space, name: name, stream: body.stream, position: body.position))
            },
            Route(.delete, "/v1/spaces/{space}/consumers/{consumer}") { [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.name(.consumer))
                return .json(RemovedResponse(removed: try await agent.removeConsumer(space: space, name: name)))
            },
            Route(.post, "/v1/spaces/{space}/consumers/{consumer}/acknowledge") {
                [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.name(.consumer))
                let body = try await request.body(ConsumerPosition.self)
                guard let stream = body.stream else {
                    throw ControlError(
                        .invalidArgument, "The key \"stream\" is missing.", hint: "Name the stream that was read.")
                }
                try NameRule.check(stream, is: .stream)
                try await agent.acknowledge(space: space, consumer: name, stream: stream, position: body.position)
                return Response(status: .noContent)
            },
        ]
    }
}
