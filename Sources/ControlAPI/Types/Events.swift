/// The order in which a stream is read.
public enum EventOrder: String, Codable, CaseIterable, Sendable {
    /// The order in which events arrived at this node: causal, never revised, local to the node.
    case arrival
    /// The same on every node.
    case canonical
}

/// A place in a stream as one node reads it: everything up to and including it has been read.
///
/// In JSON an arrival position is a whole number, a canonical one a text that only the agent takes apart.
public enum EventPosition: Hashable, Sendable {
    /// The arrival number of the last event read; 0 is before the first.
    case arrival(UInt64)
    /// The agent's text for (stamp, replica, counter, arrival number). ASCII letters, digits and `:.@-_` only.
    case canonical(String)

    /// Reads `--after POSITION`: digits are an arrival number. Throws `invalid_argument`.
    public init(parsing text: String) throws(ControlError) {
        if let number = UInt64(text), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            self = .arrival(number)
            return
        }
        let allowed = text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x3A, 0x40...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
            case _: false
            }
        }
        let isNumber = text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2D || $0 == 0x2E }
        guard allowed, !isNumber, (1...512).contains(text.utf8.count) else {
            throw ControlError(
                .invalidArgument, "This is not a position.",
                hint: "Give the \"position\" of an event that was printed before, or 0 for the beginning.")
        }
        self = .canonical(text)
    }

    /// The text form that `init(parsing:)` reads.
    public var text: String {
        switch self {
        case .arrival(let number): String(number)
        case .canonical(let text): text
        }
    }
}

extension EventPosition: Comparable {
    /// Compares positions of one order in one stream, as the agent gave them. An arrival number is less than every text.
    public static func < (left: EventPosition, right: EventPosition) -> Bool {
        switch (left, right) {
        case (.arrival(let left), .arrival(let right)): left < right
        case (.canonical(let left), .canonical(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.arrival, .canonical): true
        case (.canonical, .arrival): false
        }
    }
}

extension EventPosition: Codable {
    /// Reads a whole number or a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let number = try? container.decode(UInt64.self) {
            self = .arrival(number)
        } else {
            self = try EventPosition(parsing: try container.decode(String.self))
        }
    }

    /// Writes a whole number or a text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .arrival(let number): try container.encode(number)
        case .canonical(let text): try container.encode(text)
        }
    }
}

/// The name of one operation; in JSON `REPLICA:COUNTER`.
public struct DotText: Hashable, Codable, Sendable, CustomStringConvertible {
    /// The replica's text form. Agents share one string per replica, so a page of events costs no copies of it.
    public let replica: String
    /// The operation's counter.
    public let counter: UInt64

    /// Both parts.
    public init(replica: String, counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    /// `REPLICA:COUNTER`.
    public var description: String { "\(replica):\(counter)" }

    /// Reads `REPLICA:COUNTER`; nil for any other text.
    public init?(_ text: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")), colon != text.startIndex else { return nil }
        let digits = text[text.utf8.index(after: colon)...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let counter = UInt64(digits) else { return nil }
        self.init(replica: String(text[..<colon]), counter: counter)
    }

    /// Reads `--if-version VERSION`. Throws `invalid_argument`.
    public init(parsing text: String) throws(ControlError) {
        guard let dot = DotText(text) else {
            throw ControlError(
                .invalidArgument, "This is not a version.",
                hint: "Give the \"version\" of an object that was printed: REPLICA:COUNTER.")
        }
        self = dot
    }

    /// Reads `REPLICA:COUNTER`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let dot = DotText(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "expected REPLICA:COUNTER")
        }
        self = dot
    }

    /// Writes `REPLICA:COUNTER`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// An event as a reader sees it: a line of `lanyard events`.
public struct EventLine: Codable, Equatable, Sendable {
    /// The event's dot, which names it everywhere and permanently.
    public var dot: DotText
    /// The stream it was appended to.
    public var stream: String
    /// The event's type; null if it was emitted without one.
    public var type: String?
    /// The payload as its author wrote it, byte for byte.
    public var payload: JSONText
    /// The time at which its author wrote it, by the author's wall clock.
    public var time: Timestamp
    /// The id of the device that wrote it.
    public var device: String
    /// The position to acknowledge, or to give as `--after`.
    public var position: EventPosition
    /// True if this consumer was given the event before and did not acknowledge it.
    public var redelivered: Bool

    /// All fields.
    public init(
        dot: DotText, stream: String, type: String?, payload: JSONText, time: Timestamp, device: String,
        position: EventPosition, redelivered: Bool = false
    ) {
        self.dot = dot
        self.stream = stream
        self.type = type
        self.payload = payload
        self.time = time
        self.device = device
        self.position = position
        self.redelivered = redelivered
    }

    /// Appends the line without its line break: the same text as encoding it, at the speed of a bulk read.
    package func write(to writer: inout JSONWriter) {
        writer.raw("{\"dot\":\"")
        writer.stringContent(dot.replica)
        writer.byte(UInt8(ascii: ":"))
        writer.integer(dot.counter)
        writer.raw("\",\"stream\":")
        writer.string(stream)
        writer.raw(",\"type\":")
        if let type { writer.string(type) } else { writer.null() }
        writer.raw(",\"payload\":")
        writer.raw(payload.bytes)
        writer.raw(",\"time\":\"")
        time.write(to: &writer.bytes)
        writer.raw("\",\"device\":")
        writer.string(device)
        writer.raw(",\"position\":")
        switch position {
        case .arrival(let number): writer.integer(number)
        case .canonical(let text): writer.string(text)
        }
        writer.raw(",\"redelivered\":")
        writer.bool(redelivered)
        writer.byte(UInt8(ascii: "}"))
    }
}

/// Answer of `GET …/events` as one page.
public struct EventPage: Codable, Equatable, Sendable {
    /// The position of a rewind, in canonical order: an event came that belongs before events that were read. All events given
    /// from behind this position are undone, and `events` begin here again. Null: no rewind.
    public var rewind: EventPosition?
    /// The events in the order asked for, at most as many as asked for.
    public var events: [EventLine]
    /// The position where the next page begins; null when nothing was read.
    public var next: EventPosition?
    /// False for a stream in which nothing was ever emitted.
    public var streamExists: Bool

    /// All fields.
    public init(events: [EventLine], next: EventPosition?, streamExists: Bool, rewind: EventPosition? = nil) {
        self.rewind = rewind
        self.events = events
        self.next = next
        self.streamExists = streamExists
    }
}

/// An event to be written.
public struct EventDraft: Hashable, Sendable {
    /// The event's type; nil for none.
    public var type: String?
    /// The event's payload, at most `ControlLimits.payloadBytes`.
    public var payload: JSONText

    /// Both fields.
    public init(type: String?, payload: JSONText) {
        self.type = type
        self.payload = payload
    }

    /// Throws `payload_too_large` or `invalid_name`.
    package init(checking payload: JSONText, type: String?) throws(ControlError) {
        guard payload.bytes.count <= ControlLimits.payloadBytes else {
            throw ControlError.payloadTooLarge(byteCount: payload.bytes.count)
        }
        if let type { try NameRule.check(type, is: .type) }
        self.init(type: type, payload: payload)
    }
}

/// Request of `POST …/events` with a JSON body.
public struct EmitRequest: Codable, Equatable, Sendable {
    /// The event's type; null or absent for none.
    public var type: String?
    /// Any JSON value; it is stored as written.
    public var payload: JSONText
    /// The key under which a line with `envelope` is written once, as `Idempotency-Key` is of a request.
    public var id: String?

    /// The fields; `id` only for lines.
    public init(type: String?, payload: JSONText, id: String? = nil) {
        self.type = type
        self.payload = payload
        self.id = id
    }
}

/// Answer of `lanyard emit`, and of objects put as lines, after all is durable.
public struct EmitResponse: Codable, Equatable, Sendable {
    /// The number of events, or objects, that were written.
    public var count: Int
    /// The dot of the first; null when nothing was.
    public var first: DotText?
    /// The dot of the last; null when nothing was.
    public var last: DotText?

    /// All fields.
    public init(count: Int, first: DotText?, last: DotText?) {
        self.count = count
        self.first = first
        self.last = last
    }
}

/// A row of `lanyard streams`.
public struct StreamEntry: Codable, Equatable, Sendable {
    /// The stream's name.
    public var name: String
    /// The number of retained events.
    public var events: Int
    /// True if it shows only the greatest event per type.
    public var latestOnly: Bool
    /// The time that events are kept, in seconds; null for ever.
    public var retainSeconds: Int?
    /// The arrival position of its newest event.
    public var position: EventPosition?
    /// The time at which its newest event was written, by its author's wall clock.
    public var lastEvent: Timestamp?
    /// The time at which the oldest remaining event was written; null if none were removed by retention, and if none remain.
    public var begins: Timestamp?
    /// True if retention removed older events.
    public var letGo: Bool
    /// The events that retention should have removed and did not; null if there are none.
    public var overdue: OverdueEvents?

    /// All fields.
    public init(
        name: String, events: Int, latestOnly: Bool = false, retainSeconds: Int? = nil, position: EventPosition?,
        lastEvent: Timestamp? = nil, begins: Timestamp? = nil, letGo: Bool = false, overdue: OverdueEvents? = nil
    ) {
        self.letGo = letGo
        self.overdue = overdue
        self.name = name
        self.events = events
        self.latestOnly = latestOnly
        self.retainSeconds = retainSeconds
        self.position = position
        self.lastEvent = lastEvent
        self.begins = begins
    }
}

/// The reason why events are here that are older than their stream keeps them.
public struct OverdueEvents: Codable, Equatable, Sendable {
    /// The condition that holds back their removal.
    public enum Awaited: String, Codable, Sendable {
        /// A member has not acknowledged them: `status` says who (`stable.heldBackBy`).
        case members
        /// A snapshot of the stream does not hold them, or this node cannot tell.
        case snapshot
        /// The stream shows the latest of more types than can be named.
        case types
        /// A clock is minutes off that of a connected device (`status` warns of it).
        case clock
        /// This device has other work to finish: `status` says what.
        case device
    }

    /// The time at which the oldest of them could have been removed.
    public var since: Timestamp
    /// The condition that holds back their removal.
    public var waitsFor: Awaited

    /// Both fields.
    public init(since: Timestamp, waitsFor: Awaited) {
        self.since = since
        self.waitsFor = waitsFor
    }
}

/// A row of `lanyard consumers`: one consumer's cursor in one stream.
public struct ConsumerEntry: Codable, Equatable, Sendable {
    /// The consumer's name.
    public var name: String
    /// The stream it reads.
    public var stream: String
    /// The order it reads in.
    public var order: EventOrder
    /// The position up to which everything is acknowledged; null before the first acknowledgement.
    public var position: EventPosition?
    /// Events it has not acknowledged, and no snapshot covers that it began with.
    public var behind: Int
    /// A restore was begun and not finished: nothing is read for it until it is, or it is moved.
    public var restoring: Bool

    /// All fields.
    public init(
        name: String, stream: String, order: EventOrder = .arrival, position: EventPosition?, behind: Int,
        restoring: Bool = false
    ) {
        self.restoring = restoring
        self.name = name
        self.stream = stream
        self.order = order
        self.position = position
        self.behind = behind
    }
}

/// Request of `PUT …/consumers/{name}` (set) and `POST …/consumers/{name}/acknowledge`.
public struct ConsumerPosition: Codable, Equatable, Sendable {
    /// The stream; may be absent when the consumer reads only one.
    public var stream: String?
    /// The position up to which everything counts as read.
    public var position: EventPosition

    /// Both fields.
    public init(stream: String?, position: EventPosition) {
        self.stream = stream
        self.position = position
    }
}

/// Answer of `lanyard consumers remove`.
public struct RemovedResponse: Codable, Equatable, Sendable {
    /// False when there was nothing to remove.
    public var removed: Bool

    /// The one field.
    public init(removed: Bool) { self.removed = removed }
}

/// Answer of `GET /v1/logs`.
public struct LogLines: Codable, Equatable, Sendable {
    /// The newest lines, oldest of them first.
    public var lines: [String]

    /// The one field.
    public init(lines: [String]) { self.lines = lines }
}
