import ControlAPI
import SyncModel
import SyncStore

extension DotText {
    init(_ dot: Dot) { self.init(replica: "\(dot.replica)", counter: dot.counter) }
}

extension CanonicalKey {
    /// `c`, stamp and replica in hexadecimal, counter, each with all its digits: texts have the order of keys.
    var text: String {
        func digits(_ number: UInt64, radix: Int, count: Int) -> String {
            let text = String(number, radix: radix)
            return String(repeating: "0", count: count - text.count) + text
        }
        let stampDigits = digits(stamp.rawValue, radix: 16, count: 16)
        let counter = digits(dot.counter, radix: 10, count: 20)
        return "c\(stampDigits)-\(dot.replica.bytes.hexadecimal)-\(counter)"
    }

    /// Nil for anything `text` does not give.
    init?(text: String) {
        let parts = text.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
        guard text.first == "c", parts.count == 3, let stamp = UInt64(parts[0], radix: 16),
            let bytes = Hexadecimal.bytes(parts[1]), let replica = ReplicaID(bytes: bytes),
            let counter = UInt64(parts[2])
        else { return nil }
        self.init(stamp: Stamp(rawValue: stamp), dot: Dot(replica: replica, counter: counter))
    }
}

extension ControlAPI.EventPage {
    /// - Parameters:
    ///   - newest: the position of the newest event, for canonical positions of a reader that is told of late events; nil for
    ///     others.
    ///   - wasHandedOut: returns true if the consumer was given the event before.
    init(
        _ query: EventQuery, _ events: [StoredEvent], streamExists: Bool, rewind: CanonicalKey? = nil,
        newest: Int64? = nil, wasHandedOut: (StoredEvent) -> Bool = { _ in false }
    ) {
        // One page has few authors: their texts are made once.
        var texts: [ReplicaID: (replica: String, device: String)] = [:]
        let order = ConsumerCursor.Order(query.order)
        func place(_ key: CanonicalKey, _ position: Int64) -> EventPosition {
            switch order {
            case .arrival: EventPlace(order: order, position: position, key: nil).text
            case .canonical: EventPlace(order: order, position: newest, key: key).text
            }
        }
        let lines = events.map { event in
            let author =
                texts[event.dot.replica] ?? ("\(event.dot.replica)", "\(event.dot.replica.device)")
            texts[event.dot.replica] = author
            return EventLine(
                dot: DotText(replica: author.replica, counter: event.dot.counter), stream: query.stream,
                type: event.type, payload: JSONText(checked: event.payload),
                time: Timestamp(millisecondsSinceEpoch: event.wallMilliseconds), device: author.device,
                position: place(event.canonicalKey, event.position), redelivered: wasHandedOut(event))
        }
        self.init(
            events: lines, next: lines.last?.position, streamExists: streamExists,
            rewind: rewind.map { place($0, 0) })
    }
}
