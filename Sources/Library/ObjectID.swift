import ControlAPI
import Synchronization

/// The name of an object in its collection: 1 to 256 bytes of UTF-8 without `/` and control characters.
///
/// A fresh id makes an object of its own: two that are called alike are two. An id with a text of the application's names the
/// same object on every device, and what two devices put into it merges.
///
/// The id of a value that was read also carries the fields as they were read, so that ``Lanyard/save(_:)->_`` sends only what the
/// application changed since. They take no part in comparing, hashing and coding.
public struct ObjectID: Hashable, Sendable {
    /// The name itself.
    public let text: String
    /// The reading that the value with this id comes from; nil for an id that only refers to an object.
    let origin: Origin?

    /// A fresh id: 128 random bits.
    public init() { self.init(text: Self.random(), origin: Origin()) }

    /// An id with this text. It is checked when it is used.
    public init(_ text: String) { self.init(text: text, origin: Origin()) }

    init(text: String, origin: Origin?) {
        self.text = text
        self.origin = origin
    }

    /// Ids are equal when their bytes are.
    public static func == (left: ObjectID, right: ObjectID) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    /// Hashes the bytes of the text.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    private static func random() -> String {
        let digits = Array("0123456789abcdefghjkmnpqrstvwxyz".utf8)
        var bits: UInt128 = .random(in: 0 ... .max)
        let bytes = (0..<26).map { _ in
            defer { bits >>= 5 }
            return digits[Int(bits & 31)]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension ObjectID: ExpressibleByStringLiteral, CustomStringConvertible {
    /// An id with this text.
    public init(stringLiteral text: String) { self.init(text) }

    /// The text.
    public var description: String { text }
}

extension ObjectID: Codable {
    /// Reads the text.
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        // Only the object's own id, not one that refers to another object.
        let isOwn = decoder.codingPath.count == 1 && decoder.codingPath[0].stringValue == FieldCoding.idKey
        self.init(text: text, origin: isOwn ? decoder.userInfo[.origin] as? Origin : nil)
    }

    /// Writes the text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension ObjectID: CodingKeyRepresentable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// The text as a key, so that a dictionary whose keys are ids is written as a JSON object.
    public var codingKey: any CodingKey { Key(stringValue: text) }

    /// Reads a key.
    public init?(codingKey: some CodingKey) { self.init(text: codingKey.stringValue, origin: nil) }
}

/// The object as it was when the value was read, or the fields that the last save of a new value sent.
///
/// Copies of a value share it. That of a value which was read never changes: an older copy that is saved later must not undo
/// what a newer one says.
final class Origin: Sendable {
    /// A state of the object.
    struct Reading: Sendable {
        /// The space it was read from.
        let space: String
        /// The object that was read: another type may use the same id.
        let name: ObjectName
        /// The fields as the agent gave them, or as they were sent.
        let fields: JSONText
        /// The version of the object then; nil where it may have been another than these fields.
        let version: DotText?
    }

    private let state: Mutex<Reading?>
    private let isFresh: Bool

    /// The origin of a value that the application made.
    init() {
        state = Mutex(nil)
        isFresh = true
    }

    /// The origin of a value that was read.
    init(_ reading: Reading) {
        state = Mutex(reading)
        isFresh = false
    }

    /// The reading, if it is one of this object in this space.
    func reading(of name: ObjectName, in space: String) -> Reading? {
        state.withLock { $0?.space == space && $0?.name == name ? $0 : nil }
    }

    /// Keeps what a save of a new value sent. Not what came of it: a value that the application goes on with does not have what
    /// others wrote.
    func recordSent(_ reading: Reading) {
        if isFresh { state.withLock { $0 = reading } }
    }
}
