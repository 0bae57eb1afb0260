/// What the remover of a value saw of the counters below it.
///
/// For everything else the remover's vector says what it saw; of a counter it does not say the total at that moment, so
/// the removal carries it. Empty, and one byte long, when no counter is inside.
public struct Removal: Hashable, Sendable, Codable {
    /// One replica's increments as seen: its last counter that incremented, and their sum.
    public struct Seen: Hashable, Sendable, Codable {
        public let replica: ReplicaID
        public let last: UInt64
        public let total: Int64

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
        public let removal: Removal

        public init(key: [UInt8], removal: Removal) {
            self.key = key
            self.removal = removal
        }
    }

    /// Of a counter; sorted by replica.
    public var seen: [Seen]
    /// Of a container, only those that are not empty; sorted by key.
    public var children: [Child]

    public init(seen: [Seen] = [], children: [Child] = []) {
        self.seen = seen
        self.children = children
    }

    public var isEmpty: Bool { seen.isEmpty && children.isEmpty }
}
