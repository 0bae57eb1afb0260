/// A number that increments made apart add up in: ten plays on the phone and five on the laptop are fifteen.
///
/// Per replica it keeps the last increment and the sum up to it, so increments are never added twice. Removing the key
/// above cannot take an increment back; it raises the replica's base to the sum that the remover had seen, and what was
/// added apart remains.
public struct ReplicatedCounter: Replicated {
    /// The operations on a counter.
    public enum Operation: Hashable, Sendable, Codable {
        /// Adds, or takes away; adding 0 only makes the counter visible. Void when the replica's sum would overflow.
        case increment(by: Int64)
    }

    /// The sum that one replica added, and how much of it was removed.
    public struct Entry: Hashable, Sendable, Codable {
        /// The counter of the last increment plus one; 0 before the first.
        public internal(set) var next: UInt64 = 0
        /// The sum of all increments.
        public internal(set) var total: Int64 = 0
        /// The counter of the last increment that a removal had seen, plus one; 0 before the first removal.
        public internal(set) var baseNext: UInt64 = 0
        /// The sum at that increment.
        public internal(set) var base: Int64 = 0

        var isLive: Bool { next > baseNext }
    }

    /// The part of a counter that a replica lacks.
    public struct Delta: Hashable, Sendable, Codable {
        let entries: ReplicaTable<Entry>
    }

    var entries = ReplicaTable<Entry>()

    /// Creates a counter that no replica has added to.
    public init() {}

    /// The sum; clamped to 64 bits.
    ///
    /// Of a replica whose last increments are void a removal may have seen more than counts: it leaves nothing, not less.
    public var value: Int64 {
        let sum = entries.values.reduce(Int128(0)) { $1.isLive ? $0 + Int128($1.total) - Int128($1.base) : $0 }
        return Int64(clamping: sum)
    }

    /// Each replica's part of the sum, sorted by replica.
    public var parts: [(replica: ReplicaID, entry: Entry)] { entries.pairs.map { ($0.replica, $0.value) } }

    /// True if an increment by `replica` would count: its sum must stay within 64 bits.
    public func canIncrement(by amount: Int64, as replica: ReplicaID) -> Bool {
        !(entries[replica]?.total ?? 0).addingReportingOverflow(amount).overflow
    }

    /// True if a reader sees anything of it.
    public var isLive: Bool { entries.values.contains { $0.isLive } }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 { 1 }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .increment(let amount):
            let isPlanted = origin.faults.contains(.counterAddsTwice) && isAhead(of: origin)
            entries.update(origin.dot.replica, default: Entry()) { entry in
                let amount = isPlanted ? amount &* 2 : amount
                guard origin.dot.counter >= entry.next else { return }
                let (total, overflow) = entry.total.addingReportingOverflow(amount)
                guard !overflow else { return }
                entry.next = origin.dot.counter + 1
                entry.total = total
            }
        }
    }

    /// True if an increment is here that the author of `origin` had not seen.
    private func isAhead(of origin: Origin) -> Bool {
        entries.pairs.contains {
            $0.value.next > 0 && !origin.knows(Dot(replica: $0.replica, counter: $0.value.next - 1))
        }
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal {
        Removal(
            seen: entries.pairs.compactMap { replica, entry in
                entry.isLive ? Removal.Seen(replica: replica, last: entry.next - 1, total: entry.total) : nil
            })
    }

    /// A claim to have seen what the author's vector does not cover is void.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        for seen in removal.seen where origin.knows(Dot(replica: seen.replica, counter: seen.last)) {
            entries.update(seen.replica, default: Entry()) { $0.raise(baseNext: seen.last + 1, base: seen.total) }
        }
    }

    /// A raised base leaves no dot by which a vector could tell whether the receiver has it, so it is always sent.
    public func delta(since vector: VersionVector) -> Delta {
        Delta(entries: entries.filter { $1.baseNext > 0 || $1.next > vector.next(of: $0) })
    }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        for (replica, theirEntry) in delta.entries.pairs {
            entries.update(replica, default: Entry()) { entry in
                if theirEntry.next > entry.next {
                    entry.next = theirEntry.next
                    entry.total = theirEntry.total
                }
                entry.raise(baseNext: theirEntry.baseNext, base: theirEntry.base)
            }
        }
    }
}

extension ReplicatedCounter.Entry {
    /// The greatest base wins; of two that claim the same increment with another sum (one of them forged) the greater.
    mutating func raise(baseNext: UInt64, base: Int64) {
        guard (baseNext, base) > (self.baseNext, self.base) else { return }
        self.baseNext = baseNext
        self.base = base
    }
}

extension ReplicatedCounter: CustomStringConvertible {
    /// The sum.
    public var description: String { String(value) }
}
