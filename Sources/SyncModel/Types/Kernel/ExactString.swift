/// A string whose identity is its scalars: "é" in one scalar and in two are different keys, as they are in JSON.
///
/// `String` calls them equal, and two nodes that normalise differently would then disagree about which key was meant.
/// Order is that of the UTF-8 bytes.
public struct ExactString: Hashable, Sendable, Comparable, Codable, ExpressibleByStringLiteral {
    /// The string itself.
    public let string: String

    /// Takes the string as it is.
    public init(_ string: String) { self.string = string }
    /// Takes the literal as it is.
    public init(stringLiteral value: String) { string = value }

    /// The same scalars.
    public static func == (left: ExactString, right: ExactString) -> Bool {
        left.string.utf8.count == right.string.utf8.count && left.comparing(right) { $0.elementsEqual($1) }
    }

    /// By UTF-8 bytes.
    public static func < (left: ExactString, right: ExactString) -> Bool {
        left.comparing(right) { left, right in
            for index in 0..<min(left.count, right.count) where unsafe left[index] != right[index] {
                return unsafe left[index] < right[index]
            }
            return left.count < right.count
        }
    }

    /// Of the UTF-8 bytes.
    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    /// A plain string.
    public init(from decoder: any Decoder) throws {
        string = try decoder.singleValueContainer().decode(String.self)
    }

    /// A plain string.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(string)
    }
}

extension ExactString: CustomStringConvertible {
    /// The string itself.
    public var description: String { string }
}
