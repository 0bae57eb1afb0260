import ControlAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import SyncAgent

/// Streams of events: writing them, reading them once, following them.
struct EventRoutes: Sendable {
    let agent: Agent

    var routes: [Route] {
        [
            Route(.get, "/v1/spaces/{space}/streams") { [agent] request throws(ControlError) in
                .json(try await agent.streams(space: try request.name(.space)))
            },
            Route(
                .get, "/v1/spaces/{space}/streams/{stream}/events",
                query: ["after", "before", "last", "type", "order", "consumer", "limit", "follow"]
            ) { [agent] request throws(ControlError) in try await Self.read(request, from: agent) },
            Route(.post, "/v1/spaces/{space}/streams/{stream}/events", query: ["type", "envelope"]) {
                [agent] request throws(ControlError) in
                if try request.hasLines() { return try await Self.upload(request, to: agent).run() }
                return try await Self.emit(request, to: agent)
            },
            Route(.put, "/v1/spaces/{space}/streams/{stream}") { [agent] request throws(ControlError) in
                let (space, stream) = (try request.name(.space), try request.name(.stream))
                let settings = try await request.body(StreamSettings.self)
                return .json(
                    try await request.once { () throws(ControlError) in
                        try await agent.setStream(space: space, stream: stream, settings: settings)
                    })
            },
        ]
    }

    // MARK: Writing lines

    private static func upload(
        _ request: ControlRequest, to agent: Agent
    ) throws(ControlError) -> LineUpload<EventDraft> {
        let (space, stream) = (try request.name(.space), try request.name(.stream))
        let type = try request.queryName(.type)
        let hasEnvelopes = try request.flag("envelope")
        return try LineUpload(request: request, noun: "events", tooLarge: ControlError.payloadTooLarge) {
            line throws(ControlError) in
            guard hasEnvelopes else { return (try EventDraft(checking: line, type: type), nil) }
            let event = try JSONDecoding.value(EmitRequest.self, from: line.bytes, unknownKeys: .refuse)
            return (try EventDraft(checking: event.payload, type: event.type ?? type), event.id)
        } write: { events throws(ControlError) in
            try await agent.emit(space: space, stream: stream, events: events)
        }
    }

    // MARK: Writing one

    private static func emit(_ request: ControlRequest, to agent: Agent) async throws(ControlError)
        -> Response
    {
        let (space, stream) = (try request.name(.space), try request.name(.stream))
        guard request.query.isEmpty else {
            throw ControlError(
                .invalidArgument, "The query keys of this path are for lines.", hint: "Put the type into the JSON body."
            )
        }
        let body = try await request.body(EmitRequest.self)
        guard body.id == nil else {
            throw ControlError(
                .unknownKey, "The key \"id\" is for lines.", hint: "Of one event, give the header Idempotency-Key.")
        }
        let event = try EventDraft(checking: body.payload, type: body.type)
        return .json(
            try await request.once { () throws(ControlError) in
                try await agent.emit(space: space, stream: stream, events: [event])
            })
    }

    // MARK: Reading

    private static func query(of request: ControlRequest) throws(ControlError) -> EventQuery {
        var query = EventQuery(space: try request.name(.space), stream: try request.name(.stream))
        if let text = request.query["order"] {
            guard let order = EventOrder(rawValue: text) else {
                throw ControlError(.invalidArgument, "There is no such order.", hint: "Use arrival or canonical.")
            }
            query.order = order
        }
        // A browser's EventSource sends the last id it saw when it comes back.
        if let text = request.query["after"] ?? request.request.headers[.lastEventID] {
            query.after = try EventPosition(parsing: text)
        }
        if let consumer = request.query["consumer"] {
            try NameRule.check(consumer, is: .consumer)
            query.consumer = consumer
        }
        query.type = try request.queryName(.type)
        if query.type != nil, query.consumer != nil {
            throw ControlError(
                .invalidArgument, "A consumer reads events of all types.", hint: "Leave out \"type\" or \"consumer\".")
        }
        try query.check()
        return query
    }

    /// `last` and `before` are a place to begin at, and how many to read from there.
    private static func begin(
        _ query: inout EventQuery, _ request: ControlRequest, follows: Bool, from agent: Agent
    ) async throws(ControlError) -> Int? {
        let last = try request.optionalInteger("last", in: ControlLimits.pageEvents)
        let before = try request.query["before"].map { text throws(ControlError) in try EventPosition(parsing: text) }
        let limit = try request.optionalInteger("limit", in: ControlLimits.pageEvents)
        guard last != nil || before != nil else { return limit }
        guard query.order == .arrival, query.after == nil, query.consumer == nil, limit == nil,
            before == nil || !follows
        else {
            throw ControlError(
                .invalidArgument,
                "Reading backwards goes with the order of arrival, and without other places or limits.",
                hint: "Give \"last\", with \"before\" for what came earlier, or with \"follow\" for what comes later.")
        }
        let count = last ?? PageSize.standard
        let start = try await agent.start(ofLast: count, query, before: before)
        if start.count > 0 || !follows { query.after = start.after }
        return follows ? nil : start.count
    }

    /// Returns a page without the events of other types.
    private static func page(
        _ query: EventQuery, limit: Int, from agent: Agent
    ) async throws(ControlError) -> EventPage {
        var page = try await agent.events(query, limit: limit)
        guard let type = query.type else { return page }
        var (query, found) = (query, page.events.filter { $0.type == type })
        while found.count < limit, let next = page.next {
            query.after = next
            page = try await agent.events(query, limit: limit)
            found += page.events.filter { $0.type == type }
        }
        found = Array(found.prefix(limit))
        return EventPage(events: found, next: found.last?.position, streamExists: page.streamExists)
    }

    private static func read(_ request: ControlRequest, from agent: Agent) async throws(ControlError)
        -> Response
    {
        var query = try query(of: request)
        let follows = try request.flag("follow")
        let limit = try await begin(&query, request, follows: follows, from: agent)
        // Who reads once is given what is there; who goes on must hear of what belongs before it.
        query.rewinds = follows
        guard request.format != .page || follows else {
            return .json(try await page(query, limit: limit ?? PageSize.standard, from: agent))
        }
        let format = request.format == .lines ? StreamFormat.lines : .serverSentEvents
        // The first page is read before the answer begins, so that what is wrong has a status of its own.
        let first = try await agent.events(
            query, limit: query.type == nil ? min(limit ?? .max, PageSize.bulk) : PageSize.bulk)
        let reading = EventReading(agent: agent, query: query, remaining: limit, follows: follows)
        var response = request.stream(format) { try await reading.write(from: first, to: &$0) }
        response.headers[.streamExists] = first.streamExists ? "true" : "false"
        return response
    }
}

extension EventQuery {
    fileprivate func check() throws(ControlError) {
        switch (order, after) {
        case (_, nil), (.arrival, .arrival?), (.canonical, .canonical?), (.canonical, .arrival(0)?): return
        case (.arrival, .canonical?), (.canonical, .arrival?):
            throw ControlError(
                .invalidArgument, "The position is one of the other order.",
                hint: "Give the \"position\" of an event that was read in the same order.")
        }
    }
}

/// The state of one reader in a stream: a page is asked for when the page before was written to its socket.
private struct EventReading: Sendable {
    let agent: Agent
    let query: EventQuery
    let remaining: Int?
    let follows: Bool

    func write(from first: EventPage, to writer: inout StreamWriter) async throws {
        var (query, page, remaining) = (query, first, remaining ?? .max)
        while !Task.isCancelled {
            if page.events.isEmpty {
                guard follows else { return }
            } else {
                if let rewind = page.rewind {
                    try await writer.write(RewindLine(stream: query.stream, position: rewind))
                }
                let wanted = query.type.map { type in page.events.filter { $0.type == type } } ?? page.events
                try await writer.write(Array(wanted.prefix(remaining)))
                remaining -= wanted.count
                guard remaining > 0 else { return }
                query.after = page.next
            }
            let limit = query.type == nil ? min(remaining, PageSize.bulk) : PageSize.bulk
            page =
                follows
                ? try await agent.nextEvents(query, limit: limit) : try await agent.events(query, limit: limit)
            if follows, page.events.isEmpty { return }
        }
    }
}

extension HTTPField.Name {
    /// The header that server-sent events resume with (WHATWG HTML, section 9.2.4).
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let streamExists = HTTPField.Name(ControlHeader.streamExists)!
}
