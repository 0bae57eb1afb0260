package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

/// `EventQuery` is the server's word here.
private typealias StoreQuery = SyncStore.EventQuery

extension Agent {
    package func emit(space: String, stream: String, events: [EventDraft]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        var response = EmitResponse(count: 0, first: nil, last: nil)
        for start in stride(from: 0, to: events.count, by: Limits.changesPerGroup) {
            let part = events[start..<min(start + Limits.changesPerGroup, events.count)]
            let writes = part.indices.map { index in
                let event = part[index]
                return LocalWrite.operations([
                    .appendEvent(.init(stream: stream, type: event.type, payload: event.payload.bytes))
                ]).once(at: index)
            }
            let outcomes: [Result<WriteOutcome, WriteRefusal>]
            do { outcomes = try await write(writes) } catch {
                let reason = ControlError(agent: error, directory: configuration.dataDirectory)
                throw ControlError(reason.code, reason.message, hint: reason.hint, written: response.count)
            }
            try response.count(outcomes)
        }
        return response
    }

    package func events(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        try checkSpace(query.space)
        return try await controlled { try await page(query, limit: limit) }
    }

    package func start(
        ofLast count: Int, _ query: EventQuery, before: EventPosition?
    ) async throws(ControlError) -> EventStart {
        try checkSpace(query.space)
        let bound = try before.map { position throws(ControlError) in try EventPlace(position, .arrival) }?.position
        let last = LastEvents(stream: query.stream, count: count, before: bound, type: query.type)
        let found = try stored { () throws(StoreError) in try store.start(of: last, space: .home) }
        return EventStart(after: .arrival(UInt64(clamping: found.after)), count: found.count)
    }

    package func nextEvents(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        try checkSpace(query.space)
        return try await controlled {
            while true {
                // Read before looking: what is committed after the look wakes the wait.
                let version = feed.version
                let page = try await page(query, limit: limit)
                if !page.events.isEmpty || feed.isFinished || Task.isCancelled { return page }
                await feed.wait(beyond: version)
            }
        }
    }

    private func page(_ query: EventQuery, limit: Int) async throws -> ControlAPI.EventPage {
        if query.consumer != nil || query.rewinds && query.order == .canonical {
            return try await consumerPage(query, limit: limit)
        }
        let place = try query.after.map { after throws(ControlError) in try EventPlace(after, query.order) }
        let order: StoreQuery.Order =
            query.order == .arrival ? .arrival(after: place?.position ?? 0) : .canonical(after: place?.key)
        let found = try store.events(
            StoreQuery(
                space: .home, stream: query.stream, order: order, limit: limit, byteBudget: Self.pageBytes))
        return ControlAPI.EventPage(query, found, streamExists: try !found.isEmpty || exists(query.stream))
    }

    static let pageBytes = 1 << 20

    func exists(_ stream: String) throws(StoreError) -> Bool {
        try store.streams(of: .home).contains { $0.name == stream }
    }
}
