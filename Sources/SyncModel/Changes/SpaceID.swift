/// The id of a space, the data that is shared as a whole. Every device has the space `home`, under one fixed id, so pairing
/// merges homes.
public struct SpaceID: Hashable, Sendable, Comparable {
    /// 16 bytes.
    public static let byteCount = 16
    /// The space that every device has.
    public static let home = SpaceID(bytes: Array("lanyard/home/v1\0".utf8))!

    /// Exactly `byteCount` bytes.
    public let bytes: [UInt8]

    /// Nil unless exactly `byteCount` bytes.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// The order of the bytes.
    public static func < (left: SpaceID, right: SpaceID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
