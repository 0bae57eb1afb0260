package import SyncModel

/// Replica → tip, sorted by replica, with the vector digest kept up to date.
package struct TipTable: Hashable, Sendable {
    package struct Entry: Hashable, Sendable {
        package let replica: ReplicaID
        package var tip: ReplicaTip

        package init(replica: ReplicaID, tip: ReplicaTip) {
            self.replica = replica
            self.tip = tip
        }
    }

    package private(set) var entries: [Entry] = []
    /// The sum of one hash per (replica, next, head).
    package private(set) var digest = Sum256.zero

    package init() {}

    package subscript(replica: ReplicaID) -> ReplicaTip? {
        let index = position(of: replica)
        return index < entries.count && entries[index].replica == replica ? entries[index].tip : nil
    }

    package func next(of replica: ReplicaID) -> UInt64 { self[replica]?.next ?? 0 }

    /// The greatest stamp of all changes held: stamps only grow within a replica.
    package var greatestStamp: Stamp { entries.lazy.map(\.tip.stamp).max() ?? .zero }

    package func covers(_ context: [VersionVector.Entry]) -> Bool {
        context.allSatisfy { next(of: $0.replica) >= $0.next }
    }

    package mutating func set(_ replica: ReplicaID, _ tip: ReplicaTip) {
        let index = position(of: replica)
        if index < entries.count, entries[index].replica == replica {
            digest -= entries[index].tip.digestTerm(of: replica)
            entries[index].tip = tip
        } else {
            entries.insert(Entry(replica: replica, tip: tip), at: index)
        }
        digest += tip.digestTerm(of: replica)
    }

    /// Sets several, of which the last one of a replica counts: many cost one pass instead of one shift each.
    package mutating func set(all news: [Entry]) {
        guard news.count > 8 else {
            for entry in news { set(entry.replica, entry.tip) }
            return
        }
        var last: [ReplicaID: ReplicaTip] = [:]
        for entry in news { last[entry.replica] = entry.tip }
        let sorted = last.map { Entry(replica: $0.key, tip: $0.value) }.sorted { $0.replica < $1.replica }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + sorted.count)
        var old = entries[...]
        for entry in sorted {
            while let first = old.first, first.replica < entry.replica {
                merged.append(first)
                old.removeFirst()
            }
            if let first = old.first, first.replica == entry.replica {
                digest -= first.tip.digestTerm(of: first.replica)
                old.removeFirst()
            }
            digest += entry.tip.digestTerm(of: entry.replica)
            merged.append(entry)
        }
        entries = merged + old
    }

    /// The entries of one device's replicas.
    package func entries(of device: DeviceID) -> ArraySlice<Entry> {
        let first = position(of: ReplicaID(device: device, incarnation: 0))
        var end = position(of: ReplicaID(device: device, incarnation: .max))
        if end < entries.count, entries[end].replica.device == device { end += 1 }
        return entries[first..<end]
    }

    /// Raises an entry to `tip` unless it is as far already.
    package mutating func advance(_ replica: ReplicaID, _ tip: ReplicaTip) {
        if next(of: replica) < tip.next { set(replica, tip) }
    }

    /// Returns the entries that differ from those of `other`.
    package func entries(changedSince other: TipTable) -> [Entry] {
        entries.filter { other[$0.replica] != $0.tip }
    }

    /// Returns the number of operations that `other` lacks.
    package func operations(beyond other: TipTable) -> UInt64 {
        entries.reduce(0) { sum, entry in
            let theirs = other.next(of: entry.replica)
            return sum &+ (entry.tip.next > theirs ? entry.tip.next - theirs : 0)
        }
    }

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
