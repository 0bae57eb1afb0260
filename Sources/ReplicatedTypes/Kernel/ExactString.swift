/// A string whose identity is its scalars: "é" in one scalar and in two are different keys, as they are in JSON.
///
/// `String` calls them equal, and two nodes that normalise differently would then disagree about which key was meant.
/// Order is that of the UTF-8 bytes.
public struct ExactString: Hashable, Sendable, Comparable, Codable, ExpressibleByStringLiteral {
    /// The string.
    public let string: String

    /// The string, scalar by scalar.
    public init(_ string: String) { self.string = string }
    /// The string as it is written in the source.
    public init(stringLiteral value: String) { string = value }

    /// Exact equality.
    public static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.utf8.count == right.string.utf8.count && left.comparing(right) { $0.elementsEqual($1) }
    }

    /// The order in which they leave a process.
    public static func < (left: ExactString, right: ExactString) -> Bool {
        left.comparing(right) { left, right in
            for index in 0..<min(left.count, right.count) where unsafe left[index] != right[index] {
                return unsafe left[index] < right[index]
            }
            return left.count < right.count
        }
    }

    /// The UTF-8 of both, without walking it scalar by scalar: keys are compared all the time.
    private func comparing(
        _ other: ExactString, _ compare: (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Bool
    ) -> Bool {
        var (left, right) = (string, other.string)
        return left.withUTF8 { left in right.withUTF8 { right in unsafe compare(left, right) } }
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        string = try decoder.singleValueContainer().decode(String.self)
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension ExactString: CustomStringConvertible {
    /// The string.
    public var description: String { string }
}
