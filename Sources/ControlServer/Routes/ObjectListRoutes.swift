import ControlAPI
import HTTPTypes
import HummingbirdCore

/// Objects in numbers: lists, deletions, history, and what changes.
struct ObjectListRoutes: Sendable {
    let agent: any AgentControl

    /// Changes per page of a watch.
    private static let watchPageChanges = 1_000

    var routes: [Route] {
        [
            Route(.get, ObjectRoutes.objects, query: ["after", "limit"], repeated: ["where"]) {
                [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.name(.collection))
                var conditions: [FieldCondition] = []
                for text in request.queryLists["where"] ?? [] { conditions.append(try FieldCondition(parsing: text)) }
                try FieldCondition.check(conditions)
                return try await PageReading(request: request) {
                    [conditions] after, limit throws(ControlError) in
                    try await agent.objects(
                        ObjectListQuery(
                            space: space, collection: collection, conditions: conditions, after: after, limit: limit))
                }.response()
            },
            Route(.get, "/v1/spaces/{space}/deleted", query: ["collection", "after", "limit"]) {
                [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.queryName(.collection))
                return try await PageReading(request: request) { after, limit throws(ControlError) in
                    try await agent.deletedObjects(
                        DeletedQuery(space: space, collection: collection, after: after, limit: limit))
                }.response()
            },
            Route(.get, ObjectRoutes.object + "/history", query: ["field", "after", "limit"]) {
                [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                var field: FieldPath?
                if let text = request.query["field"] { field = try FieldPath(parsing: text) }
                return try await PageReading(request: request) { [field] after, limit throws(ControlError) in
                    try await agent.history(
                        HistoryQuery(space: space, name: name, field: field, after: after, limit: limit))
                }.response()
            },
            Route(.get, "/v1/spaces/{space}/watch", query: ["collection", "after"]) {
                [agent] request throws(ControlError) in try await Self.watch(request, agent)
            },
        ]
    }

    private static func watch(
        _ request: ControlRequest, _ agent: any AgentControl
    ) async throws(ControlError) -> Response {
        let (space, collection) = (try request.name(.space), try request.queryName(.collection))
        let start: UInt64
        // A browser's EventSource sends the last id it saw when it comes back.
        if let text = request.query["after"] ?? request.request.headers[.lastEventID] {
            guard case .arrival(let number) = try EventPosition(parsing: text) else {
                throw ControlError(
                    .invalidArgument, "The position of a watch is a whole number.",
                    hint: "Give the \"position\" of a line that was printed before, or 0 for all objects.")
            }
            start = number
        } else {
            start = try await agent.objectPosition(space: space)
        }
        let query = WatchQuery(space: space, collection: collection, after: start, limit: watchPageChanges)
        var response = request.stream(request.format == .lines ? .lines : .serverSentEvents) {
            try await write(query, agent, to: &$0)
        }
        response.headers[.watchPosition] = String(start)
        return response
    }

    private static func write(
        _ query: WatchQuery, _ agent: any AgentControl, to writer: inout StreamWriter
    ) async throws {
        var query = query
        while !Task.isCancelled {
            let changes = try await agent.nextObjectChanges(query)
            guard let last = changes.last else { return }
            try await writer.write(changes)
            query.after = last.position
        }
    }
}
