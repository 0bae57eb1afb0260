package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

/// `EventQuery` is the server's word here.
private typealias StoreQuery = SyncStore.EventQuery

extension Agent {
    /// Writes each event as a change of its own, in this order, in as few durable commits as it takes. At most
    /// `ControlLimits.groupEvents`; returns after the last commit is durable. When a commit fails, what earlier
    /// commits wrote stays, and the error's `written` counts it.
    package func emit(space: String, stream: String, events: [EventDraft]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        return try await writeEach(events.count) { ObjectWrite(events[$0], to: stream) }
    }

    /// Returns the next events of `query`, at most `limit` and `ControlLimits.pagePayloadBytes` of payload (one event may be
    /// larger), without waiting for more than are there. An empty page means the end. An unknown stream gives an
    /// empty page with `streamExists` false. A consumer is given what its state does not hold: throws `consumer_bound` for
    /// one that reads in the other order, `restore_unfinished`.
    package func events(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        try checkSpace(query.space)
        return try await controlled { try await page(query, limit: limit) }
    }

    /// Returns the place where the last `count` events of the stream begin in arrival order: of one type or all, before
    /// `before` or up to the end.
    package func start(
        ofLast count: Int, _ query: EventQuery, before: EventPosition?
    ) async throws(ControlError) -> EventStart {
        try checkSpace(query.space)
        let bound = try before.map { position throws(ControlError) in try EventPlace(position, .arrival) }?.position
        let last = LastEvents(stream: query.stream, count: count, before: bound, type: query.type)
        let found = try await stored { () throws(StoreError) in try store.start(of: last, space: .home) }
        return EventStart(after: .arrival(UInt64(clamping: found.after)), count: found.count)
    }

    /// Returns the same as `events`, but no empty page: the call waits until there is an event, the agent stops, or the task
    /// is cancelled (then the page is empty). A stream that does not exist yet is waited for. The server asks again only
    /// after the reader took the page before, so a slow reader holds back one page and memory does not grow.
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
