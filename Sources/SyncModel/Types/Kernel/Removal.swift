/// What the remover of a value saw of the counters below it.
///
/// For everything else the remover's vector says what it saw; of a counter it does not say the total at that moment, so
/// the removal carries it. Empty, and one byte long, when no counter is inside.
public struct Removal: Hashable, Sendable, Codable {
    /// One replica's increments as seen: its last counter that incremented, and their sum.
    public struct Seen: Hashable, Sendable, Codable {
        /// Whose increments.
        public let replica: ReplicaID
        /// The counter of its last increment.
        public let last: UInt64
        /// The sum of its increments up to there.
        public let total: Int64

        /// What was seen of one replica.
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
        /// What to carry of the value under the key.
        public let removal: Removal

        /// Not empty.
        public init(key: [UInt8], removal: Removal) {
            self.key = key
            self.removal = removal
        }
    }

    /// Of a counter; sorted by replica.
    public var seen: [Seen]
    /// Of a container, only those that are not empty; sorted by key.
    public var children: [Child]

    /// Sorted as the properties say.
    public init(seen: [Seen] = [], children: [Child] = []) {
        self.seen = seen
        self.children = children
    }

    /// Nothing to carry.
    public var isEmpty: Bool { seen.isEmpty && children.isEmpty }
}
