import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// The routes for conflicts and their resolution, and for undoing and going back.
struct ConflictRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/conflicts", query: ["collection"]) {
                [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.queryName(.collection))
                let first = try await agent.conflicts(space: space, collection: collection)
                switch request.format {
                case .page: return .json(first)
                case .lines:
                    return request.stream(.lines) {
                        try await Self.write(first, agent, space, collection, to: &$0)
                    }
                case .serverSentEvents:
                    return request.stream(.serverSentEvents) {
                        try await Self.write(first, agent, space, collection, to: &$0)
                    }
                }
            },
            Route(.get, "/v1/spaces/{space}/undo") { [agent] request throws(ControlError) in
                .json(try await agent.undoable(space: try request.name(.space)))
            },
            Route(.post, "/v1/spaces/{space}/undo") { [agent] request throws(ControlError) in
                let space = try request.name(.space)
                // It names the change, which is the newest only once: sent again, it is refused.
                return .json(try await agent.undo(space: space, try await request.body(UndoRequest.self).version))
            },
            Route(.get, "/v1/spaces/{space}/restore-point", query: ["time", "recreate"]) {
                [agent] request throws(ControlError) in
                let space = try request.name(.space)
                guard let time = request.query["time"].flatMap({ Timestamp(given: $0) }) else {
                    throw ControlError(
                        .invalidArgument, "The key \"time\" is no time.", hint: "For example 2026-11-26T14:00:00.000Z.")
                }
                let wanted = RestorePointRequest(time: time, recreate: try request.flag("recreate"))
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.restorePoint(space: space, wanted)
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
            Route(.post, "/v1/spaces/{space}/restore-point") { [agent] request throws(ControlError) in
                let space = try request.name(.space)
                let wanted = try await request.body(RestorePointRequest.self)
                let answer = try await request.whileClientListens { () throws(ControlError) in
                    try await agent.restore(space: space, wanted)
                }
                var response = Response.json(answer)
                response.headers[.connection] = "close"
                return response
            },
            Route(.post, ObjectRoutes.object + "/resolve") { [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                let resolution = try await request.body(Resolution.self)
                let resolved = try await request.once { () throws(ControlError) in
                    try await agent.resolve(space: space, name, resolution)
                }
                return .json(ResolveResponse(resolved: resolved))
            },
        ]
    }

    /// The list now, and after every change of it.
    private static func write(
        _ first: [ConflictEntry], _ agent: Agent, _ space: String, _ collection: String?,
        to writer: inout StreamWriter
    ) async throws {
        var shown = first
        try await writer.write(JSONEncoding.bytes(shown))
        while !Task.isCancelled {
            let next = try await agent.nextConflicts(
                space: space, collection: collection, differingFrom: shown)
            guard next != shown else { return }
            shown = next
            try await writer.write(JSONEncoding.bytes(shown))
        }
    }
}
