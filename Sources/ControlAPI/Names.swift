/// The bounds of the control API, each with the reason for its number.
public enum ControlLimits {
    /// An event's payload: it must fit a session frame of 1 MiB together with others. Larger things are attachments.
    public static let payloadBytes = 1_048_576
    /// Names of collections, streams, spaces, consumers and event types, in UTF-8.
    public static let nameBytes = 1...128
    /// Ids of objects, in UTF-8.
    public static let idBytes = 1...256
    /// The fields of an object as they are written at once, and one value of an edit.
    public static let valueBytes = 1_048_576
    /// The number of elements and members in a value, on all levels together. Other writes wait while one is planned.
    public static let valueParts = 100_000
    /// The depth of a value's nesting, counted from the object that holds it. Deeper ones cost every reader stack.
    public static let valueDepth = 64
    /// Operations of one transaction: it is one change, held in memory by every node that applies it.
    public static let transactionOperations = 1...4_096
    /// Edits of one `edit`.
    public static let editOperations = 1...4_096
    /// Objects, deletions or history entries on one page.
    public static let pageEntries = 1...10_000
    /// The length of a cursor, the place where a page begins; its content is private to the agent.
    public static let cursorBytes = 1...512
    /// The fields that one list is sorted by: their values travel in its cursor.
    public static let sortKeys = 4
    /// All conditions of one list together, as text: they travel in the request's line.
    public static let conditionBytes = 8_192
    /// A JSON request body: one payload and room for the keys around it.
    public static let bodyBytes = payloadBytes + 65_536
    /// Events on one page; a page is held in memory once.
    public static let pageEvents = 1...10_000
    /// Payload on one page; an event larger than this comes alone.
    public static let pagePayloadBytes = 1_048_576
    /// Events of one `emit` call to the agent.
    public static let groupEvents = 1_024
    /// The bytes of one attachment: 16 GiB, of which the hashes of its chunks take 2 MiB.
    public static let attachmentBytes: UInt64 = 16 << 30
    /// An attachment's name, in UTF-8; empty where it has none. A file's name of 255 bytes in any encoding, and more.
    public static let attachmentNameBytes = 0...1_024
    /// Schema versions of snapshots: what an application counts up, in numbers that JSON readers hold exactly.
    public static let snapshotSchema: ClosedRange<Int64> = 0...(1 << 53)
    /// The value of one session of presence, as JSON text.
    public static let presenceValueBytes = 1_024
    /// The number of snapshots to keep.
    public static let snapshotsKept = 1...1_000_000
    /// The bytes that fit `sockaddr_un` with its terminating zero.
    public static let socketPathBytes = 107
}

extension ControlError {
    /// The error for a path that does not fit a socket's address.
    package static func socketPathTooLong(_ path: String, hint: String) -> ControlError {
        ControlError(
            .socketPathTooLong,
            "The path of the control socket has \(path.utf8.count) bytes; the system allows \(ControlLimits.socketPathBytes).",
            hint: hint)
    }
}

/// The kinds of things that have names; the raw value appears in messages.
public enum NameKind: String, Sendable {
    /// A group of objects of one kind.
    case collection
    /// A named sequence of events.
    case stream
    /// The id of an object within its collection.
    case id
    /// A set of collections and streams that devices share as a whole.
    case space
    /// A durable reader of a stream.
    case consumer
    /// The type of an event.
    case type
    /// A room of presence.
    case topic
}

/// The one rule for names: 1 to 128 bytes (ids: 256) of UTF-8 without `/` and control characters.
public enum NameRule {
    /// Throws `invalid_name` when `name` breaks the rule.
    public static func check(_ name: String, is kind: NameKind) throws(ControlError) {
        guard let fault = fault(name, kind.lengthBytes) else { return }
        throw ControlError(
            .invalidName, "\(kind.subject) \(fault).",
            hint: "Use 1 to \(kind.lengthBytes.upperBound) bytes of UTF-8 without \"/\" and control characters.")
    }

    private static func fault(_ name: String, _ lengthBytes: ClosedRange<Int>) -> String? {
        if name.isEmpty { return "is empty" }
        if !lengthBytes.contains(name.utf8.count) { return "is longer than \(lengthBytes.upperBound) bytes" }
        for scalar in name.unicodeScalars {
            if scalar == "/" { return "contains a slash" }
            if scalar.properties.generalCategory == .control { return "contains a control character" }
        }
        return nil
    }
}

extension NameKind {
    fileprivate var lengthBytes: ClosedRange<Int> {
        switch self {
        case .collection, .stream, .space, .consumer, .type, .topic: ControlLimits.nameBytes
        case .id: ControlLimits.idBytes
        }
    }

    fileprivate var subject: String {
        switch self {
        case .collection, .stream, .space, .consumer, .type, .topic: "The name of the \(rawValue)"
        case .id: "The id"
        }
    }
}

extension ControlError {
    /// An event is too large to be one.
    package static func payloadTooLarge(byteCount: Int) -> ControlError {
        ControlError(
            .payloadTooLarge,
            "The payload has \(byteCount) bytes; an event holds at most \(ControlLimits.payloadBytes) (1 MiB).",
            hint: "Attach it as a file instead, and emit an event that names the attachment.")
    }
}
