import ControlAPI
import HTTPTypes
import HummingbirdCore
import SyncAgent

/// Objects in numbers: lists, deletions, history, and what changes.
struct ObjectListRoutes: Sendable {
    let agent: Agent

    /// Changes per page of a watch.
    private static let watchPageChanges = 1_000

    var routes: [Route] {
        [
            Route(
                .get, ObjectRoutes.objects, query: ["reverse", "after", "limit"], repeated: ["where", "sort"]
            ) {
                [agent] request throws(ControlError) in
                let (space, collection) = (try request.name(.space), try request.name(.collection))
                let (condition, order) = (try request.objectCondition(), try request.listOrder())
                let memory = PageMemory()
                return try await PageReading(request: request) { after, limit throws(ControlError) in
                    try await agent.objects(
                        ObjectListQuery(
                            space: space, collection: collection, condition: condition, order: order, after: after,
                            limit: limit), memory)
                }.response()
            },
            Route(
                .get, "/v1/spaces/{space}/collections/{collection}/count", query: ["reverse", "limit"],
                repeated: ["where", "sort"]
            ) {
                [agent] request throws(ControlError) in
                .json(
                    try await agent.objectCount(
                        space: try request.name(.space), collection: try request.name(.collection),
                        where: try request.objectCondition(), order: try request.listOrder(),
                        limit: try request.optionalInteger("limit", in: ControlLimits.pageEntries)))
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
                let memory = PageMemory()
                return try await PageReading(request: request) { [field] after, limit throws(ControlError) in
                    try await agent.history(
                        HistoryQuery(space: space, name: name, field: field, after: after, limit: limit), memory)
                }.response()
            },
            Route(.get, ObjectRoutes.object + "/blame", query: ["field", "at", "after", "limit"]) {
                [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                guard let text = request.query["field"] else {
                    throw ControlError(
                        .invalidArgument, "It takes a field to say who wrote it.",
                        hint: "Give \"field\", for example body.")
                }
                let entries = try await agent.blame(
                    BlameQuery(
                        space: space, name: name, field: try FieldPath(parsing: text), at: try request.version("at")))
                return try await PageReading(request: request) { after, limit throws(ControlError) in
                    try entries.page(after: after, limit: limit)
                }.response()
            },
            Route(.get, ObjectRoutes.object + "/difference", query: ["from", "at", "field"]) {
                [agent] request throws(ControlError) in
                let (space, name) = (try request.name(.space), try request.objectName())
                guard let from = try request.version("from") else {
                    throw ControlError(
                        .invalidArgument, "It takes a version to compare with.",
                        hint: "Give \"from\": a version that the object's history names.")
                }
                var field: FieldPath?
                if let text = request.query["field"] { field = try FieldPath(parsing: text) }
                return .json(
                    try await agent.difference(
                        DifferenceQuery(
                            space: space, name: name, from: from, at: try request.version("at"), field: field)))
            },
            Route(.get, "/v1/spaces/{space}/watch", query: ["collection", "after"]) {
                [agent] request throws(ControlError) in try await Self.watch(request, agent)
            },
        ]
    }

    private static func watch(
        _ request: ControlRequest, _ agent: Agent
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
        _ query: WatchQuery, _ agent: Agent, to writer: inout StreamWriter
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

extension ControlRequest {
    /// Returns the condition that all values of `where` together make.
    func objectCondition() throws(ControlError) -> ObjectCondition? {
        var conditions: [ObjectCondition] = []
        let texts = queryLists["where"] ?? []
        try ObjectCondition.check(byteCount: texts.reduce(0) { $0 + $1.utf8.count })
        for text in texts { conditions.append(try ObjectCondition(parsing: text)) }
        let condition = ObjectCondition.joining(conditions)
        try condition?.check()
        return condition
    }

    func listOrder() throws(ControlError) -> ListOrder {
        try ListOrder(parsing: queryLists["sort"] ?? [], reverse: try flag("reverse"))
    }
}

extension [BlameEntry] {
    /// A cursor is the number of the entry that a page begins with.
    fileprivate func page(after cursor: String?, limit: Int) throws(ControlError) -> EntryPage<BlameEntry> {
        var start = 0
        if let cursor {
            guard let number = Int(cursor), indices.contains(number) else { throw .badCursor }
            start = number
        }
        let end = limit < count - start ? start + limit : count
        return EntryPage(entries: Array(self[start..<end]), next: end < count ? String(end) : nil)
    }
}
