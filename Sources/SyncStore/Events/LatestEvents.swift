package import SyncModel

/// The setting of a stream, and the operation that set it.
package struct KeptStream: Sendable, Hashable {
    package let setting: Operation.StreamSetting
    /// The greatest counts.
    package let key: CanonicalKey

    package init(_ setting: Operation.StreamSetting, at key: CanonicalKey) {
        self.setting = setting
        self.key = key
    }
}

/// The kind of events of which a `latestOnly` stream shows one.
package struct EventKind: Sendable, Hashable, Comparable {
    package let stream: ExactString
    package let type: ExactString?

    package init(stream: ExactString, type: ExactString?) {
        self.stream = stream
        self.type = type
    }

    package static func < (left: EventKind, right: EventKind) -> Bool {
        if left.stream != right.stream { return left.stream < right.stream }
        switch (left.type, right.type) {
        case (nil, nil), (_?, nil): return false
        case (nil, _?): return true
        case (let left?, let right?): return left < right
        }
    }
}

/// An event as far as it matters which of its kind is the greatest.
package struct RankedEvent: Sendable, Hashable {
    package let kind: EventKind
    package let key: CanonicalKey
    /// The arrival number of the event.
    package var position: Int64
    /// The term of the event in the state digest.
    package let term: Sum256

    package init(kind: EventKind, key: CanonicalKey, position: Int64, term: Sum256) {
        self.kind = kind
        self.key = key
        self.position = position
        self.term = term
    }

    init(_ event: StoredEvent, of stream: ExactString) {
        kind = EventKind(stream: stream, type: event.type.map { ExactString($0) })
        key = event.canonicalKey
        position = event.position
        term = EventItem.digestTerm(
            dot: event.dot, stamp: event.stamp, stream: stream.string, type: event.type, payload: event.payload)
    }
}

/// The greatest event of each kind among those taken.
struct LatestEvents {
    private(set) var events: [EventKind: RankedEvent] = [:]

    mutating func take(_ more: [RankedEvent]) { for event in more { take(event) } }

    mutating func take(_ event: RankedEvent) {
        if let known = events[event.kind], known.key > event.key { return }
        events[event.kind] = event
    }

    var digest: Sum256 { events.values.reduce(into: Sum256.zero) { $0 += $1.term } }
}

/// The stream contents that a transaction may read. Events dropped before it are not among them.
package protocol EventSource {
    /// Returns the latest event of a kind in a `latestOnly` stream.
    func latestEvent(of kind: EventKind) throws(StoreError) -> RankedEvent?
    /// Returns the latest events of a `latestOnly` stream, one per type.
    func latestEvents(of stream: ExactString) throws(StoreError) -> [RankedEvent]
    /// Every event of the stream.
    func forEachEvent(
        of stream: ExactString, _ body: (RankedEvent) throws(StoreError) -> Void
    ) throws(StoreError)
    /// The stream's runs in which these may drop something, with all their events.
    func forEachRun(
        of stream: ExactString, reachedBy dropped: DroppedEvents,
        _ body: (_ lastPosition: Int64, [RankedEvent]) throws(StoreError) -> Void
    ) throws(StoreError)
}

/// The changes of a transaction to streams that show only the greatest event per type, and to streams that lose events: pure
/// except for its reads, the same for every store.
package struct StreamPlan: Sendable {
    /// The stream's events in one segment, some of which are dropped.
    struct ShorterRun: Sendable {
        let lastPosition: Int64
        let droppedCount: Int64
        /// True if no event is left of it.
        let isEmpty: Bool
    }

    /// Settings that changed.
    package private(set) var settings: [KeptStream] = []
    /// Streams of which more is dropped, with all that is, and what that does to runs, in the order of their positions.
    private(set) var dropped: [(stream: ExactString, events: DroppedEvents, runs: [ShorterRun])] = []
    private(set) var droppedCount: Int64 = 0
    /// Streams of which `latest` replaces all that they showed.
    package private(set) var cleared: [ExactString] = []
    /// The greatest of their kinds from now on, sorted by kind.
    package private(set) var latest: [RankedEvent] = []
    package private(set) var digestChange = Sum256.zero

    /// - Parameters:
    ///   - dropping: of streams of which more is dropped than before.
    ///   - collected: the transaction's events of every stream that is `latestOnly` before or after it.
    init(
        from before: [ExactString: KeptStream], to after: [ExactString: KeptStream],
        dropping: [ExactString: DroppedEvents] = [:], collected: [RankedEvent], _ reading: some EventSource
    ) throws(StoreError) {
        settings = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }.map(\.value)
        var events: [ExactString: [RankedEvent]] = [:]
        for event in collected { events[event.kind.stream, default: []].append(event) }
        for stream in Set(events.keys).union(settings.map(\.setting.stream)).union(dropping.keys).sorted() {
            let was = before[stream]?.setting.latestOnly ?? false
            let shown = after[stream]?.setting.latestOnly ?? false
            let dropped = dropping[stream] ?? DroppedEvents()
            let gone = try drop(dropped, of: stream, reading)
            try take(
                events[stream] ?? [], of: stream, without: dropped, gone, wasLatestOnly: was, isLatestOnly: shown,
                reading)
        }
        latest.sort { $0.kind < $1.kind }
    }

    /// - Returns: the sum of what goes.
    private mutating func drop(
        _ events: DroppedEvents, of stream: ExactString, _ reading: some EventSource
    ) throws(StoreError) -> Sum256 {
        var gone = Sum256.zero
        if events.isEmpty { return gone }
        var runs: [ShorterRun] = []
        try reading.forEachRun(of: stream, reachedBy: events) { position, held in
            let dropped = held.filter { events.contains($0.key.dot) }
            if dropped.isEmpty { return }
            for event in dropped { gone += event.term }
            runs.append(
                ShorterRun(
                    lastPosition: position, droppedCount: Int64(dropped.count), isEmpty: dropped.count == held.count))
        }
        runs.sort { $0.lastPosition < $1.lastPosition }
        droppedCount += runs.reduce(0) { $0 + $1.droppedCount }
        dropped.append((stream, events, runs))
        return gone
    }

    private mutating func take(
        _ events: [RankedEvent], of stream: ExactString, without dropped: DroppedEvents, _ gone: Sum256,
        wasLatestOnly: Bool, isLatestOnly: Bool, _ reading: some EventSource
    ) throws(StoreError) {
        switch (wasLatestOnly, isLatestOnly) {
        case (false, false):
            digestChange -= gone
            for event in events { digestChange += event.term }
        case (true, true):
            let shown = dropped.isEmpty ? [] : try reading.latestEvents(of: stream)
            guard !shown.contains(where: { dropped.contains($0.key.dot) }) else {
                for event in shown { digestChange -= event.term }
                return try showLatest(events, of: stream, without: dropped, reading)
            }
            var greatest = LatestEvents()
            greatest.take(events)
            for event in greatest.events.values {
                let known = try reading.latestEvent(of: event.kind)
                if let known, known.key > event.key { continue }
                if let known { digestChange -= known.term }
                digestChange += event.term
                latest.append(event)
            }
        case (false, true):
            try reading.forEachEvent(of: stream) { event throws(StoreError) in digestChange -= event.term }
            try showLatest(events, of: stream, without: dropped, reading)
        case (true, false):
            cleared.append(stream)
            for event in try reading.latestEvents(of: stream) { digestChange -= event.term }
            try reading.forEachEvent(of: stream) { event throws(StoreError) in digestChange += event.term }
            digestChange -= gone
            for event in events { digestChange += event.term }
        }
    }

    /// The greatest of all that are there from now on.
    private mutating func showLatest(
        _ events: [RankedEvent], of stream: ExactString, without dropped: DroppedEvents, _ reading: some EventSource
    ) throws(StoreError) {
        var greatest = LatestEvents()
        try reading.forEachEvent(of: stream) { event throws(StoreError) in
            if !dropped.contains(event.key.dot) { greatest.take(event) }
        }
        greatest.take(events)
        digestChange += greatest.digest
        cleared.append(stream)
        latest += greatest.events.values
    }
}
