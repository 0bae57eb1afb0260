/// The increments of the counters below a value that its remover had seen.
///
/// For everything else the remover's vector says what it had seen. A vector does not say a counter's total at that moment, so
/// the removal carries it. Empty, and one byte long, when no counter is inside.
public struct Removal: Hashable, Sendable, Codable {
    /// The increments of one replica as seen: its last counter that incremented, and their sum.
    public struct Seen: Hashable, Sendable, Codable {
        /// The replica that made the increments.
        public let replica: ReplicaID
        /// The counter of its last increment.
        public let last: UInt64
        /// The sum of its increments up to there.
        public let total: Int64

        /// Creates the record of one replica's seen increments.
        public init(replica: ReplicaID, last: UInt64, total: Int64) {
            self.replica = replica
            self.last = last
            self.total = total
        }
    }

    /// The removal of the value under one key of a container.
    public struct Child: Hashable, Sendable, Codable {
        /// The key's canonical bytes.
        public let key: [UInt8]
        /// The removal of the value under the key.
        public let removal: Removal

        /// Creates a child; `removal` is not empty.
        public init(key: [UInt8], removal: Removal) {
            self.key = key
            self.removal = removal
        }
    }

    /// The increments seen in a counter; sorted by replica.
    public var seen: [Seen]
    /// The removals below a container, only those that are not empty; sorted by key.
    public var children: [Child]

    /// Sorted as the properties say.
    public init(seen: [Seen] = [], children: [Child] = []) {
        self.seen = seen
        self.children = children
    }

    /// True if there is nothing to carry.
    public var isEmpty: Bool { seen.isEmpty && children.isEmpty }
}
