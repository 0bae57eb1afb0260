package import SyncModel

/// The stream contents that a transaction may read. Events dropped before it are not among them.
package protocol EventSource {
    /// Returns the latest event of a kind in a `latestOnly` stream.
    func latestEvent(of kind: EventKind) throws(StoreError) -> RankedEvent?
    /// Returns the latest events of a `latestOnly` stream, one per type.
    func latestEvents(of stream: ExactString) throws(StoreError) -> [RankedEvent]
    /// Every event of the stream, also those beyond a strict end.
    func forEachEvent(
        of stream: ExactString, _ body: (RankedEvent) throws(StoreError) -> Void
    ) throws(StoreError)
    /// The stream's runs in segments that hold some of these counters, with all their events, also those beyond a strict end.
    func forEachRun(
        of stream: ExactString, within counters: [ReplicaID: Range<UInt64>],
        _ body: (_ lastPosition: Int64, [RankedEvent]) throws(StoreError) -> Void
    ) throws(StoreError)
    /// Every stream of the space.
    func streams() throws(StoreError) -> [ExactString]
}

/// The changes of a transaction to streams that show only the greatest event per type, and to streams of which events are
/// dropped, become void, or count again: pure except for its reads, the same for every store.
package struct StreamPlan: Sendable {
    /// The stream's events in one segment, of which other ones are shown than before.
    struct ChangedRun: Sendable {
        let lastPosition: Int64
        /// The number of events it shows more than before; negative if it shows fewer.
        let change: Int64
        /// True if all of its events are dropped. A run of void events stays: they may count again.
        let isEmpty: Bool
    }

    /// Settings that changed.
    package private(set) var settings: [KeptStream] = []
    /// Streams that have no setting any more.
    package private(set) var unset: [ExactString] = []
    /// Streams of which more is dropped, with all that is.
    private(set) var dropped: [(stream: ExactString, events: DroppedEvents)] = []
    /// The changes of runs, in the order of their positions.
    private(set) var runs: [(stream: ExactString, runs: [ChangedRun])] = []
    /// The number of stored events shown more than before.
    private(set) var eventChange: Int64 = 0
    /// Streams of which `latest` replaces all that they showed.
    package private(set) var cleared: [ExactString] = []
    /// The greatest of their kinds from now on, sorted by kind.
    package private(set) var latest: [RankedEvent] = []
    package private(set) var digestChange = Sum256.zero

    /// - Parameters:
    ///   - dropping: of streams of which more is dropped than before.
    ///   - ends: which events are void, before and after.
    ///   - collected: the transaction's events of every stream that is `latestOnly` before or after it.
    init(
        from before: [ExactString: KeptStream], to after: [ExactString: KeptStream],
        dropping: [ExactString: DroppedEvents] = [:], ends: StrictEndMove, collected: [RankedEvent],
        _ reading: some EventSource
    ) throws(StoreError) {
        settings = after.filter { before[$0.key] != $0.value }.sorted { $0.key < $1.key }.map(\.value)
        unset = before.keys.filter { after[$0] == nil }.sorted()
        var events: [ExactString: [RankedEvent]] = [:]
        for event in collected { events[event.kind.stream, default: []].append(event) }
        var streams = Set(events.keys).union(settings.map(\.setting.stream)).union(unset).union(dropping.keys)
        if !ends.ranges.isEmpty { streams.formUnion(try reading.streams()) }
        for stream in streams.sorted() {
            let was = before[stream]?.setting.latestOnly ?? false
            let shown = after[stream]?.setting.latestOnly ?? false
            let stored = try change(of: stream, dropping: dropping[stream] ?? DroppedEvents(), ends, reading)
            try take(
                events[stream] ?? [], of: stream, stored, wasLatestOnly: was, isLatestOnly: shown, reading)
        }
        latest.sort { $0.kind < $1.kind }
    }

    /// The changes to which stored events of one stream are shown.
    private struct StoredChange {
        /// Dropped by this transaction.
        let dropped: DroppedEvents
        let ends: StrictEndMove
        /// The change to the sum of those that are shown.
        var difference = Sum256.zero
        /// True if some are shown that were not.
        var showsMore = false

        var isPossible: Bool { !dropped.isEmpty || !ends.ranges.isEmpty }

        func wasShown(_ event: RankedEvent) -> Bool { !ends.wasVoid(event.key.dot) }
        func isShown(_ event: RankedEvent) -> Bool { !dropped.contains(event.key.dot) && !ends.isVoid(event.key.dot) }
    }

    private mutating func change(
        of stream: ExactString, dropping events: DroppedEvents, _ ends: StrictEndMove, _ reading: some EventSource
    ) throws(StoreError) -> StoredChange {
        var change = StoredChange(dropped: events, ends: ends)
        guard change.isPossible else { return change }
        var counters = ends.ranges
        for entry in events.vector.entries {
            counters[entry.replica] = 0..<max(entry.next, counters[entry.replica]?.upperBound ?? 0)
        }
        var runs: [ChangedRun] = []
        try reading.forEachRun(of: stream, within: counters) { position, held in
            var (shown, droppedCount): (Int64, Int) = (0, 0)
            for event in held {
                if events.contains(event.key.dot) { droppedCount += 1 }
                switch (change.wasShown(event), change.isShown(event)) {
                case (true, false):
                    shown -= 1
                    change.difference -= event.term
                case (false, true):
                    shown += 1
                    change.difference += event.term
                    change.showsMore = true
                case (true, true), (false, false): break
                }
            }
            if shown == 0, droppedCount == 0 { return }
            runs.append(
                ChangedRun(lastPosition: position, change: shown, isEmpty: droppedCount == held.count))
        }
        runs.sort { $0.lastPosition < $1.lastPosition }
        eventChange += runs.reduce(0) { $0 + $1.change }
        if !events.isEmpty { dropped.append((stream, events)) }
        if !runs.isEmpty { self.runs.append((stream, runs)) }
        return change
    }

    private mutating func take(
        _ events: [RankedEvent], of stream: ExactString, _ stored: StoredChange, wasLatestOnly: Bool,
        isLatestOnly: Bool, _ reading: some EventSource
    ) throws(StoreError) {
        switch (wasLatestOnly, isLatestOnly) {
        case (false, false):
            digestChange += stored.difference
            for event in events { digestChange += event.term }
        case (true, true):
            let shown = stored.isPossible ? try reading.latestEvents(of: stream) : []
            guard !stored.showsMore, shown.allSatisfy(stored.isShown) else {
                for event in shown { digestChange -= event.term }
                return try showLatest(events, of: stream, stored, reading)
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
            try reading.forEachEvent(of: stream) { event throws(StoreError) in
                if stored.wasShown(event) { digestChange -= event.term }
            }
            try showLatest(events, of: stream, stored, reading)
        case (true, false):
            cleared.append(stream)
            for event in try reading.latestEvents(of: stream) { digestChange -= event.term }
            try reading.forEachEvent(of: stream) { event throws(StoreError) in
                if stored.isShown(event) { digestChange += event.term }
            }
            for event in events { digestChange += event.term }
        }
    }

    /// The greatest of all that are there from now on.
    private mutating func showLatest(
        _ events: [RankedEvent], of stream: ExactString, _ stored: StoredChange, _ reading: some EventSource
    ) throws(StoreError) {
        var greatest = LatestEvents()
        try reading.forEachEvent(of: stream) { event throws(StoreError) in
            if stored.isShown(event) { greatest.take(event) }
        }
        greatest.take(events)
        digestChange += greatest.digest
        cleared.append(stream)
        latest += greatest.events.values
    }
}
