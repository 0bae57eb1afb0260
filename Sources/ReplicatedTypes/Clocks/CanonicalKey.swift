/// A place in the one order that is the same on every node: (stamp, replica, counter).
public struct CanonicalKey: Hashable, Sendable, Comparable, Codable {
    /// The stamp of the change.
    public let stamp: Stamp
    /// The dot of the operation.
    public let dot: Dot

    /// Both parts.
    public init(stamp: Stamp, dot: Dot) {
        self.stamp = stamp
        self.dot = dot
    }

    /// Compares by stamp, then by dot.
    public static func < (left: CanonicalKey, right: CanonicalKey) -> Bool {
        left.stamp == right.stamp ? left.dot < right.dot : left.stamp < right.stamp
    }
}
