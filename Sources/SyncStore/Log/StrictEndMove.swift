package import SyncModel

/// The strict ends of histories (`CutTable.strictEnd`) before and after a transaction.
package struct StrictEndMove: Sendable {
    private let before: CutTable
    private let after: CutTable
    /// The counters, of changes held before the transaction, that are void before it or after it and not both.
    package let ranges: [ReplicaID: Range<UInt64>]

    /// No end moves.
    init(staying cuts: CutTable) {
        (before, after, ranges) = (cuts, cuts, [:])
    }

    /// - Parameter held: before the transaction.
    init(from before: CutTable, to after: CutTable, held: VersionVector) {
        (self.before, self.after) = (before, after)
        var ranges: [ReplicaID: Range<UInt64>] = [:]
        for entry in before == after ? [] : held.entries {
            let one = min(before.strictEnd(of: entry.replica) ?? .max, entry.next)
            let other = min(after.strictEnd(of: entry.replica) ?? .max, entry.next)
            if one != other { ranges[entry.replica] = min(one, other)..<max(one, other) }
        }
        self.ranges = ranges
    }

    func wasVoid(_ dot: Dot) -> Bool { before.isStrictlyVoid(dot) }
    func isVoid(_ dot: Dot) -> Bool { after.isStrictlyVoid(dot) }
}
