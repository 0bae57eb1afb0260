public import ControlAPI

extension LanyardClient {
    /// Calls `body` with batches of objects that changed, as they are then, until it throws or the task is cancelled.
    ///
    /// It begins behind `position`, or with what comes from now on; `onStart` is told where, as soon as the agent listens.
    /// An object that changed several times between two calls comes once. A slow `body` holds back the agent.
    public func watchObjects(
        _ collection: String? = nil, after position: UInt64? = nil, space: String = "home",
        onStart: (UInt64) async throws -> Void = { _ in }, _ body: ([ObjectChange]) async throws -> Void
    ) async throws {
        try await watchObjectLines(collection, after: position, space: space, onStart: onStart) { block in
            var changes: [ObjectChange] = []
            for line in block.split(separator: 0x0A) {
                changes.append(try JSONDecoding.value(ObjectChange.self, from: Array(line), unknownKeys: .ignore))
            }
            try await body(changes)
        }
    }

    /// The same with the lines as they came: each block ends in a line break.
    package func watchObjectLines(
        _ collection: String?, after position: UInt64?, space: String,
        onStart: (UInt64) async throws -> Void = { _ in }, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "watch")
        request.query = [("collection", collection), ("after", position.map { String($0) })]
        try await readBlocks(request, onStart: onStart, body)
    }

    /// Calls `body` with the result of a query, and then with each difference to it, until it throws or the task is cancelled.
    ///
    /// The first difference is the whole result (`isReset`), unless `position` is that of an earlier one whose result the caller
    /// still has. Later ones may be the whole result as well: after a change of the schema, or of very much. What changes between
    /// two calls comes as one difference: a slow `body` is never behind by more than one. `QueryDifference.apply` brings a list
    /// up to date. Throws `too_large` for a result without a limit that has more than 100,000 objects.
    public func followObjects(
        _ collection: String, where condition: ObjectCondition? = nil, order: ListOrder = ListOrder(),
        limit: Int? = nil, after position: String? = nil, space: String = "home",
        _ body: (QueryDifference) async throws -> Void
    ) async throws {
        var difference = QueryDifference()
        try await followObjectLines(
            collection, where: condition, order: order, limit: limit, after: position, space: space
        ) { block in
            for line in block.split(separator: 0x0A) {
                let change = try JSONDecoding.value(QueryChange.self, from: Array(line), unknownKeys: .ignore)
                guard difference.take(change) else { continue }
                try await body(difference)
                difference = QueryDifference()
            }
        }
    }

    /// The same with the lines as they came: each block ends in a line break.
    package func followObjectLines(
        _ collection: String, where condition: ObjectCondition?, order: ListOrder, limit: Int?, after position: String?,
        space: String, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        try condition?.check()
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "collections", .name(collection), "live")
        request.query =
            order.query + [("where", condition?.text), ("after", position), ("limit", limit.map(String.init))]
        try await readBlocks(request, onStart: { _ in }, body)
    }

    /// Reads an answer that goes on, in blocks of whole lines.
    func readBlocks(
        _ request: ClientRequest, onStart: (UInt64) async throws -> Void, _ body: ([UInt8]) async throws -> Void
    ) async throws {
        var request = request
        request.accept = ContentType.lines
        try await withCaller { connection in
            let head = try await connection.send(request)
            try await connection.check(head)
            if let start = head.first(name: ControlHeader.watchPosition).flatMap(UInt64.init) {
                try await ClientConnection.handing { try await onStart(start) }
            }
            var lines = LineBuffer()
            while let chunk = try await connection.nextChunk() {
                if let (block, _) = try lines.appendBlock(chunk) {
                    try await ClientConnection.handing { try await body(block) }
                }
            }
        }
    }
}
