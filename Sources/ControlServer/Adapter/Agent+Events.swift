package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

/// `EventQuery` is the server's word here.
private typealias StoreQuery = SyncStore.EventQuery

extension Agent {
    package func emit(space: String, stream: String, events: [EventDraft]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        return try await writeEach(events.count) { ObjectWrite(events[$0], to: stream) }
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
        let found = try await stored { () throws(StoreError) in try store.start(of: last, space: .home) }
        return EventStart(after: .arrival(UInt64(clamping: found.after)), count: found.count)
    }

    package func nextEvents(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        try checkSpace(query.space)
        return try await controlled {
            while true {
                // Read before looking: what is committed after the look wakes the wait.
                let version = eventSignal.version
                let page = try await page(query, limit: limit)
                if !page.events.isEmpty || eventSignal.isFinished || Task.isCancelled { return page }
                await eventSignal.wait(beyond: version)
                if Task.isCancelled { return page }
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
        let wanted = StoreQuery(
            space: .home, stream: query.stream, order: order, limit: limit, byteBudget: Self.pageBytes)
        return try await stored { () throws(StoreError) in
            let found = try store.events(wanted)
            return ControlAPI.EventPage(query, found, streamExists: try exists(query.stream, holding: found))
        }
    }

    static let pageBytes = 1 << 20

    /// - Parameter events: those that were read from it.
    func exists(_ stream: String, holding events: [StoredEvent]) throws(StoreError) -> Bool {
        if !events.isEmpty { return true }
        return try store.streams(of: .home).contains { $0.name == stream }
    }
}
