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
