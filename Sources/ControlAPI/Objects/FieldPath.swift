/// The way to a value in an object: a field, and keys (or, in a list, numbers of elements) below it.
///
/// As text the keys are separated by `/`; in a key `~1` stands for `/` and `~0` for `~` (RFC 6901, without the leading
/// slash). Invariant: at least one key.
public struct FieldPath: Sendable {
    /// The keys from the outside in; the first is the field.
    public let keys: [String]

    /// The field itself.
    public init(field: String) { keys = [field] }

    /// The keys as they are. Throws `invalid_argument` for none, `too_deep` for more than `ControlLimits.valueDepth`.
    public init(keys: [String]) throws(ControlError) {
        guard !keys.isEmpty else {
            throw ControlError(.invalidArgument, "The path names no field.", hint: "Write FIELD or FIELD/KEY.")
        }
        guard keys.count <= ControlLimits.valueDepth else {
            throw ControlError(
                .tooDeep, "The path goes more than \(ControlLimits.valueDepth) deep.",
                hint: "No value is that deep: check the path.")
        }
        self.keys = keys
    }

    /// Reads the text form. Throws `invalid_argument` for a `~` that escapes nothing.
    public init(parsing text: String) throws(ControlError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        var keys: [String] = []
        for part in parts { keys.append(try Self.unescaped(part)) }
        try self.init(keys: keys)
    }

    /// The field the path begins with.
    public var field: String { keys[0] }

    private static func unescaped(_ part: Substring.UTF8View) throws(ControlError) -> String {
        guard part.contains(UInt8(ascii: "~")) else { return String(Substring(part)) }
        var bytes: [UInt8] = []
        var iterator = part.makeIterator()
        while let byte = iterator.next() {
            guard byte == UInt8(ascii: "~") else {
                bytes.append(byte)
                continue
            }
            switch iterator.next() {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            case _:
                throw ControlError(
                    .invalidArgument, "In a path, ~ stands before 0 or 1.",
                    hint: "Write ~0 for a ~ in a key, and ~1 for a slash.")
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension FieldPath: Hashable, CustomStringConvertible {
    /// The text form.
    public var description: String {
        keys.map { key in
            var bytes: [UInt8] = []
            for byte in key.utf8 {
                switch byte {
                case UInt8(ascii: "~"): bytes += Array("~0".utf8)
                case UInt8(ascii: "/"): bytes += Array("~1".utf8)
                case _: bytes.append(byte)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }.joined(separator: "/")
    }

    /// Keys are equal when their bytes are.
    public static func == (left: FieldPath, right: FieldPath) -> Bool {
        left.keys.elementsEqual(right.keys) { $0.utf8.elementsEqual($1.utf8) }
    }

    /// Hashes the bytes of the keys.
    public func hash(into hasher: inout Hasher) {
        for key in keys {
            hasher.combine(key.utf8.count)
            for byte in key.utf8 { hasher.combine(byte) }
        }
    }
}

extension FieldPath: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        try self.init(parsing: try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
