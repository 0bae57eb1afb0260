/// Replica → next counter: says exactly which operations a store holds, for every replica all before `next`.
///
/// Vectors are only partially ordered, so the type is not `Comparable`; ask `relation(to:)` or `covers(_:)`.
/// Entries are kept sorted by replica and never zero: equal vectors have equal bytes.
public struct VersionVector: Hashable, Sendable {
    /// The end of what is held of one replica.
    public struct Entry: Hashable, Sendable, Codable {
        /// The replica of the operations.
        public let replica: ReplicaID
        /// All before this counter are held.
        public var next: UInt64

        /// Both parts.
        public init(replica: ReplicaID, next: UInt64) {
            self.replica = replica
            self.next = next
        }
    }

    /// The relation of two vectors.
    public enum Relation: Sendable {
        case equal
        case before
        case after
        case concurrent
    }

    /// Sorted by replica, each once, `next` > 0.
    public private(set) var entries: [Entry] = []

    /// Creates a vector that covers no operation.
    public init() {}

    /// The least vector that covers every entry given; order and repetition do not matter.
    @inlinable
    public init(_ entries: some Sequence<Entry>) { self.init(sorting: Array(entries)) }

    @usableFromInline
    init(sorting entries: [Entry]) {
        for entry in entries.sorted(by: { $0.replica < $1.replica }) where entry.next > 0 {
            if let last = self.entries.last, last.replica == entry.replica {
                self.entries[self.entries.count - 1].next = max(last.next, entry.next)
            } else {
                self.entries.append(entry)
            }
        }
    }

    /// True if no operation is covered.
    public var isEmpty: Bool { entries.isEmpty }

    /// 0 for a replica of which nothing is held.
    public func next(of replica: ReplicaID) -> UInt64 {
        let index = position(of: replica)
        return index < entries.count && entries[index].replica == replica ? entries[index].next : 0
    }

    /// True if the vector covers the operation.
    public func covers(_ dot: Dot) -> Bool { dot.counter < next(of: dot.replica) }

    /// True if the vector covers everything that `other` covers.
    public func covers(_ other: VersionVector) -> Bool {
        var index = 0
        for entry in other.entries {
            while index < entries.count, entries[index].replica < entry.replica { index += 1 }
            guard index < entries.count, entries[index].replica == entry.replica, entries[index].next >= entry.next
            else { return false }
        }
        return true
    }

    /// Returns the relation of this vector to `other`.
    public func relation(to other: VersionVector) -> Relation {
        switch (covers(other), other.covers(self)) {
        case (true, true): .equal
        case (true, false): .after
        case (false, true): .before
        case (false, false): .concurrent
        }
    }

    /// Raises one entry; never lowers it.
    public mutating func advance(_ replica: ReplicaID, to next: UInt64) {
        guard next > 0 else { return }
        let index = position(of: replica)
        if index < entries.count, entries[index].replica == replica {
            entries[index].next = max(entries[index].next, next)
        } else {
            entries.insert(Entry(replica: replica, next: next), at: index)
        }
    }

    /// The least vector that covers both.
    public mutating func join(_ other: VersionVector) {
        // A few entries are put in one by one; many cost one pass instead of one shift each.
        guard other.entries.count > 8 else {
            for entry in other.entries { advance(entry.replica, to: entry.next) }
            return
        }
        self = VersionVector(entries + other.entries)
    }

    /// The greatest vector that both cover.
    public func meet(_ other: VersionVector) -> VersionVector {
        var meet = VersionVector()
        var index = 0
        for entry in entries {
            while index < other.entries.count, other.entries[index].replica < entry.replica { index += 1 }
            guard index < other.entries.count else { break }
            guard other.entries[index].replica == entry.replica else { continue }
            meet.entries.append(Entry(replica: entry.replica, next: min(entry.next, other.entries[index].next)))
        }
        return meet
    }

    /// The entries that are greater here than in `other`.
    public func entries(beyond other: VersionVector) -> [Entry] {
        entries.filter { $0.next > other.next(of: $0.replica) }
    }

    /// First index whose replica is not before `replica`.
    private func position(of replica: ReplicaID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
