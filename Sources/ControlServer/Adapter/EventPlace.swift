import ControlAPI
import SyncModel
import SyncStore

/// A position as the agent writes and reads it.
struct EventPlace {
    let order: ConsumerCursor.Order
    /// The event's position in arrival order. In canonical order the position of the newest event at the time of writing; nil
    /// if the reader is not told of late events.
    let position: Int64?
    let key: CanonicalKey?

    /// - Throws: `invalid_argument` for what no agent wrote.
    init(_ position: EventPosition, _ order: EventOrder) throws(ControlError) {
        switch (order, position) {
        case (.arrival, .arrival(let number)):
            self.init(order: .arrival, position: Int64(clamping: number), key: nil)
        case (.canonical, .arrival(0)): self.init(order: .canonical, position: nil, key: nil)
        case (.canonical, .canonical(let text)):
            guard let place = EventPlace(text: text) else {
                throw ControlError(
                    .invalidArgument, "This is no position of this order.",
                    hint: "Give the \"position\" of an event that was printed with --order canonical.")
            }
            self = place
        case (.arrival, .canonical), (.canonical, .arrival):
            throw ControlError(
                .invalidArgument, "This position belongs to the other order.",
                hint: "A number is a position in arrival order, a text one in canonical order.")
        }
    }

    init(order: ConsumerCursor.Order, position: Int64?, key: CanonicalKey?) {
        self.order = order
        self.position = position
        self.key = key
    }

    /// Reads a position in canonical order: the key, and the arrival number behind it if there is one.
    private init?(text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard let key = CanonicalKey(text: parts.prefix(3).joined(separator: "-")), parts.count <= 4 else { return nil }
        var position: Int64?
        if parts.count == 4 {
            guard let number = Int64(parts[3]), number >= 0 else { return nil }
            position = number
        }
        self.init(order: .canonical, position: position, key: key)
    }

    var text: EventPosition {
        switch (order, key) {
        case (.arrival, _): .arrival(UInt64(clamping: position ?? 0))
        case (.canonical, nil): .arrival(0)
        case (.canonical, let key?): .canonical(position.map { "\(key.text)-\($0)" } ?? key.text)
        }
    }
}

extension ConsumerCursor.Order {
    init(_ order: EventOrder) {
        switch order {
        case .arrival: self = .arrival
        case .canonical: self = .canonical
        }
    }

    var word: EventOrder {
        switch self {
        case .arrival: .arrival
        case .canonical: .canonical
        }
    }
}
