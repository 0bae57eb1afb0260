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
            let writes = part.map { event in
                LocalWrite.operations([
                    .appendEvent(.init(stream: stream, type: event.type, payload: event.payload.bytes))
                ])
            }
            let outcomes: [Result<WriteOutcome, WriteRefusal>]
            do { outcomes = try await write(writes) } catch {
                let reason = ControlError(agent: error, directory: configuration.dataDirectory)
                throw ControlError(reason.code, reason.message, hint: reason.hint, written: response.count)
            }
            response.count += part.count
            let dots = outcomes.compactMap { try? $0.get().dots }
            response.first = response.first ?? dots.first.map { DotText($0.lowerBound) }
            if let last = dots.last { response.last = DotText(last.upperBound) }
        }
        return response
    }

    package func events(_ query: EventQuery, limit: Int) async throws(ControlError) -> ControlAPI.EventPage {
        try checkSpace(query.space)
        return try await controlled { try await page(query, limit: limit) }
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
        let cursor = try await cursor(of: query)
        let found = try store.events(
            StoreQuery(
                space: .home, stream: query.stream, order: try order(of: query, cursor), limit: limit,
                byteBudget: 1 << 20))
        if let consumer = cursor, let last = found.last, last.position > consumer.delivered {
            try await update { store throws(StoreError) in
                try store.noteDelivered(
                    consumer: consumer.name, stream: consumer.stream, space: .home, position: last.position)
            }
        }
        let exists = try found.isEmpty ? store.streams(of: .home).contains { $0.name == query.stream } : true
        return ControlAPI.EventPage(query, found, deliveredBefore: cursor?.delivered ?? 0, streamExists: exists)
    }

    private func cursor(of query: EventQuery) async throws -> Consumer? {
        guard let name = query.consumer else { return nil }
        guard query.order == .arrival else {
            throw ControlError(
                .invalidArgument, "A consumer reads in the order of arrival.",
                hint: "Leave out --order canonical, or read without --consumer.")
        }
        let stream = query.stream
        return try await update { store throws(StoreError) in
            try store.consumer(name, stream: stream, space: .home)
        }
    }

    private func order(of query: EventQuery, _ cursor: Consumer?) throws(ControlError) -> StoreQuery.Order {
        switch (query.order, query.after) {
        case (.arrival, nil): return .arrival(after: cursor?.position ?? 0)
        case (.arrival, .arrival(let position)?): return .arrival(after: Int64(clamping: position))
        case (.canonical, nil), (.canonical, .arrival(0)): return .canonical(after: nil)
        case (.canonical, .canonical(let text)?):
            guard let key = CanonicalKey(text: text) else {
                throw ControlError(
                    .invalidArgument, "This is no position of this order.",
                    hint: "Give the \"position\" of an event that was printed with --order canonical.")
            }
            return .canonical(after: key)
        case (.arrival, .canonical), (.canonical, .arrival):
            throw ControlError(
                .invalidArgument, "This position belongs to the other order.",
                hint: "A number is a position in arrival order, a text one in canonical order.")
        }
    }

    package func acknowledge(
        space: String, consumer: String, stream: String, position: EventPosition
    ) async throws(ControlError) {
        try checkSpace(space)
        try await move(consumer, stream, to: try arrival(position), rewinding: false)
    }

    private func arrival(_ position: EventPosition) throws(ControlError) -> Int64 {
        guard case .arrival(let number) = position else {
            throw ControlError(
                .invalidArgument, "A consumer's position is a number.",
                hint: "Give the \"position\" of an event that was printed in arrival order.")
        }
        return Int64(clamping: number)
    }

    private func move(_ consumer: String, _ stream: String, to position: Int64, rewinding: Bool)
        async throws(ControlError)
    {
        try await controlled {
            try await update { store throws(StoreError) in
                try store.acknowledge(
                    consumer: consumer, stream: stream, space: .home, position: position, rewinding: rewinding)
            }
        }
    }

    package func streams(space: String) async throws(ControlError) -> [StreamEntry] {
        try checkSpace(space)
        return try await controlled {
            try store.streams(of: .home).map { StreamEntry($0) }
        }
    }

    package func consumers(space: String) async throws(ControlError) -> [ConsumerEntry] {
        try checkSpace(space)
        return try await controlled { try store.consumers(of: .home).map { try entry(of: $0) } }
    }

    private func entry(of consumer: Consumer) throws(StoreError) -> ConsumerEntry {
        ConsumerEntry(
            name: consumer.name, stream: consumer.stream,
            position: consumer.position > 0 ? .arrival(UInt64(consumer.position)) : nil,
            behind: Int(try store.eventCount(stream: consumer.stream, space: .home, after: consumer.position)))
    }

    package func setConsumer(
        space: String, name: String, stream: String?, position: EventPosition
    ) async throws(ControlError) -> ConsumerEntry {
        try checkSpace(space)
        let known = try await controlled { try store.consumers(of: .home).filter { $0.name == name } }
        let target: String
        if let stream {
            target = stream
        } else {
            guard let first = known.first else {
                throw ControlError(
                    .unknownConsumer, "There is no consumer \"\(name)\".",
                    hint: "A consumer begins with `lanyard events STREAM --consumer \(name)`.")
            }
            guard known.count == 1 else {
                throw ControlError(
                    .consumerBound, "The consumer \"\(name)\" reads several streams.", hint: "Say which one.")
            }
            target = first.stream
        }
        try await move(name, target, to: try arrival(position), rewinding: true)
        return try await controlled { try entry(of: try store.consumer(name, stream: target, space: .home)) }
    }

    package func removeConsumer(space: String, name: String) async throws(ControlError) -> Bool {
        try checkSpace(space)
        return try await controlled {
            try await update { store throws(StoreError) in try store.removeConsumer(name, space: .home) }
        }
    }
}

extension StreamEntry {
    init(_ stream: StreamSummary) {
        self.init(
            name: stream.name, events: Int(stream.events), latestOnly: stream.setting?.latestOnly ?? false,
            retainSeconds: stream.setting?.retainMilliseconds.map { Int($0 / 1_000) },
            position: stream.lastPosition > 0 ? .arrival(UInt64(stream.lastPosition)) : nil)
    }
}
