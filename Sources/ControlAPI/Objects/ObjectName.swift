/// The name of an object on every node: its collection and its id.
public struct ObjectName: Sendable {
    /// The collection, 1 to 128 bytes.
    public let collection: String
    /// The id, 1 to 256 bytes.
    public let id: String

    /// Checks both against the rule for names. Throws `invalid_name`.
    public init(collection: String, id: String) throws(ControlError) {
        try NameRule.check(collection, is: .collection)
        try NameRule.check(id, is: .id)
        self.collection = collection
        self.id = id
    }

    /// Reads `COLLECTION/ID`. Throws `invalid_argument` without a slash, `invalid_name` for bad parts.
    public init(parsing text: String) throws(ControlError) {
        guard let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")) else {
            throw ControlError(
                .invalidArgument, "The object's id is missing.", hint: "Write COLLECTION/ID, for example note/n1.")
        }
        try self.init(
            collection: String(text[..<slash]), id: String(text[text.utf8.index(after: slash)...]))
    }
}

extension ObjectName: Hashable, Comparable, CustomStringConvertible {
    /// `COLLECTION/ID`.
    public var description: String { "\(collection)/\(id)" }

    /// Names are equal when their bytes are: normalisation twins name two objects.
    public static func == (left: ObjectName, right: ObjectName) -> Bool {
        left.collection.utf8.elementsEqual(right.collection.utf8) && left.id.utf8.elementsEqual(right.id.utf8)
    }

    /// Sorts by collection, then id, in the order of their UTF-8 bytes.
    public static func < (left: ObjectName, right: ObjectName) -> Bool {
        left.collection.utf8.elementsEqual(right.collection.utf8)
            ? left.id.utf8.lexicographicallyPrecedes(right.id.utf8)
            : left.collection.utf8.lexicographicallyPrecedes(right.collection.utf8)
    }

    /// Hashes the bytes of both parts.
    public func hash(into hasher: inout Hasher) {
        for byte in collection.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(ascii: "/"))
        for byte in id.utf8 { hasher.combine(byte) }
    }
}
