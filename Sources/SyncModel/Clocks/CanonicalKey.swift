/// A place in the one order that is the same on every node: (stamp, replica, counter).
public struct CanonicalKey: Hashable, Sendable, Comparable, Codable {
    public let stamp: Stamp
    public let dot: Dot

    public init(stamp: Stamp, dot: Dot) {
        self.stamp = stamp
        self.dot = dot
    }

    public static func < (left: CanonicalKey, right: CanonicalKey) -> Bool {
        left.stamp == right.stamp ? left.dot < right.dot : left.stamp < right.stamp
    }
}
