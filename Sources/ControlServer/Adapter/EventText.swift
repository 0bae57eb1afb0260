import ControlAPI
import SyncModel
import SyncStore

extension DotText {
    init(_ dot: Dot) { self.init(replica: "\(dot.replica)", counter: dot.counter) }
}

extension CanonicalKey {
    /// `c`, stamp and replica in hexadecimal, counter: everything an agent needs to go on, and no business of readers.
    var text: String {
        let stampDigits = String(stamp.rawValue, radix: 16)
        return "c\(stampDigits)-\(dot.replica.bytes.hexadecimal)-\(dot.counter)"
    }

    /// Nil for anything `text` does not give.
    init?(text: String) {
        let parts = text.dropFirst().split(separator: "-", omittingEmptySubsequences: false)
        guard text.first == "c", parts.count == 3, let stamp = UInt64(parts[0], radix: 16),
            let bytes = [UInt8](hexadecimal: parts[1]), let replica = ReplicaID(bytes: bytes),
            let counter = UInt64(parts[2])
        else { return nil }
        self.init(stamp: Stamp(rawValue: stamp), dot: Dot(replica: replica, counter: counter))
    }
}

extension [UInt8] {
    /// Nil unless an even number of hexadecimal digits.
    fileprivate init?(hexadecimal text: some StringProtocol) {
        let digits = text.utf8.compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2) else { return nil }
        self = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
    }
}

extension ControlAPI.EventPage {
    /// - Parameter deliveredBefore: up to this position a consumer was handed events before; 0 without one.
    init(_ query: EventQuery, _ events: [StoredEvent], deliveredBefore: Int64, streamExists: Bool) {
        // One page has few authors: their texts are made once.
        var texts: [ReplicaID: (replica: String, device: String)] = [:]
        let lines = events.map { event in
            let author =
                texts[event.dot.replica] ?? ("\(event.dot.replica)", "\(event.dot.replica.device)")
            texts[event.dot.replica] = author
            let position: EventPosition =
                switch query.order {
                case .arrival: .arrival(UInt64(clamping: event.position))
                case .canonical: .canonical(CanonicalKey(stamp: event.stamp, dot: event.dot).text)
                }
            return EventLine(
                dot: DotText(replica: author.replica, counter: event.dot.counter), stream: query.stream,
                type: event.type, payload: JSONText(checked: event.payload),
                time: Timestamp(millisecondsSinceEpoch: event.wallMilliseconds), device: author.device,
                position: position, redelivered: event.position <= deliveredBefore)
        }
        self.init(events: lines, next: lines.last?.position, streamExists: streamExists)
    }
}
