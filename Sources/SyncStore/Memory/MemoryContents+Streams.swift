import SyncModel

extension MemoryContents: EventSource {
    func latestEvent(of kind: EventKind) -> RankedEvent? { latest[kind] }

    func latestEvents(of stream: ExactString) -> [RankedEvent] { latest.values.filter { $0.kind.stream == stream } }

    func forEachEvent(
        of stream: ExactString, _ body: (RankedEvent) throws(StoreError) -> Void
    ) throws(StoreError) {
        for event in try events(of: stream) { try body(RankedEvent(event, of: stream)) }
    }

    func forEachRun(
        of stream: ExactString, reachedBy dropped: DroppedEvents,
        _ body: (_ lastPosition: Int64, [RankedEvent]) throws(StoreError) -> Void
    ) throws(StoreError) {
        for stored in runs[Name.Bytes(stream.string)] ?? [] where dropped.vector.next(of: stored.replica) > 0 {
            var events: [RankedEvent] = []
            let isSound = reader(of: stored)?.forEach(from: Int64(0)) { event in
                events.append(RankedEvent(event, of: stream))
                return true
            }
            guard isSound ?? false else { throw .corrupt(detail: "the places of a stream do not fit its segment") }
            try body(stored.lastPosition, events)
        }
    }

    /// Every event that is kept, in the order of arrival.
    func events(of stream: ExactString) throws(StoreError) -> [StoredEvent] {
        var events: [StoredEvent] = []
        for stored in runs[Name.Bytes(stream.string)] ?? [] {
            let isSound = reader(of: stored)?.forEach(from: Int64(0)) { event in
                events.append(event)
                return true
            }
            guard isSound ?? false else { throw .corrupt(detail: "the places of a stream do not fit its segment") }
        }
        return events
    }

    /// Every event that a reader is shown, in the order of arrival.
    func shownEvents(of stream: String) throws(StoreError) -> [StoredEvent] {
        let name = ExactString(stream)
        let all = try events(of: name)
        guard log.isLatestOnly(stream) else { return all }
        let shown = Set(latestEvents(of: name).map(\.position))
        return all.filter { shown.contains($0.position) }
    }

    /// Returns events of a stream that shows only the greatest event per type.
    func latest(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        let name = ExactString(query.stream)
        let shown = Set(latestEvents(of: name).map(\.position))
        var found = try events(of: name).filter { shown.contains($0.position) }
        switch query.order {
        case .arrival(let position): found.removeAll { $0.position <= position }
        case .canonical(let key):
            found.removeAll { event in key.map { event.canonicalKey <= $0 } ?? false }
            found.sort { $0.canonicalKey < $1.canonicalKey }
        }
        var page = EventPage(query)
        for event in found where !page.take(event) { break }
        return page.events
    }

    /// The streams with events or a setting, by name.
    var streams: [StreamSummary] {
        let names = Set(runs.keys).union(log.streams.keys.map { Name.Bytes($0.string) })
        return names.sorted().map { name in
            let found = runs[name] ?? []
            let setting = log.streams[ExactString(name.text)]?.setting
            let isLatestOnly = setting?.latestOnly ?? false
            let events =
                isLatestOnly
                ? Int64(latestEvents(of: ExactString(name.text)).count) : found.reduce(0) { $0 + $1.run.count }
            return StreamSummary(
                name: name.text, events: events, lastPosition: found.last?.lastPosition ?? 0, setting: setting,
                hasDropped: !log.dropped[ExactString(name.text)].isEmpty)
        }
    }

    var recomputedEventDigest: Sum256 {
        var sum = Sum256.zero
        var latest = LatestEvents()
        for stored in segments.values.joined() {
            let scan = SegmentScan(
                stored.verified, collecting: log.latestOnlyStreams, dropped: log.dropped)
            sum += scan.digest
            latest.take(scan.collected)
        }
        sum += latest.digest
        return sum
    }
}
