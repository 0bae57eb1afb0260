import SyncModel
import SyncStore
import Testing

// Stores that hear of each other, without an agent: verified segments go from one to another in an order that their
// contexts allow.

extension SQLiteStore {
    var vector: VersionVector {
        get throws {
            VersionVector(try state().tips.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) })
        }
    }

    /// Whole segments of a replica behind `tip`, as they would be shipped.
    func verifiedSegments(of replica: ReplicaID, behind tip: ReplicaTip? = nil) throws -> [VerifiedSegment] {
        var tip = tip ?? .empty(space: .home, replica: replica)
        return try segments(of: replica, from: tip.next, byteBudget: .max).map { segment in
            let verified = try segment.walked(from: tip)
            tip = verified.tip
            return verified
        }
    }

    /// What `source` has and this store lacks, in an order that contexts allow.
    ///
    /// - Parameter choose: which of the segments that may come next comes next.
    func missing(from source: SQLiteStore, choose: (Int) -> Int = { _ in 0 }) throws -> [VerifiedSegment] {
        let held = try state().tips
        var waiting: [VerifiedSegment] = []
        for known in try source.state().tips {
            let tip = held.first { $0.replica == known.replica }?.tip
            if (tip?.next ?? 0) >= known.tip.next { continue }
            waiting += try source.verifiedSegments(of: known.replica, behind: tip)
        }
        var ordered: [VerifiedSegment] = []
        var vector = try vector
        while true {
            let ready = waiting.indices.filter { index in
                let candidate = waiting[index]
                return candidate.segment.start == vector.next(of: candidate.segment.replica)
                    && candidate.context.allSatisfy { vector.next(of: $0.replica) >= $0.next }
            }
            if ready.isEmpty { break }
            let next = waiting.remove(at: ready[choose(ready.count)])
            vector.advance(next.segment.replica, to: next.segment.end)
            ordered.append(next)
        }
        #expect(waiting.isEmpty, "everything a store holds can be applied in some order")
        return ordered
    }

    /// Takes everything `source` has in one transaction.
    @discardableResult
    func pull(from source: SQLiteStore) throws -> [VerifiedSegment] {
        let missing = try missing(from: source)
        if !missing.isEmpty { _ = try apply(missing, wallMilliseconds: 0) }
        return missing
    }
}

/// Machines that know each other as members, with the facts already at all of them: the first and each other one said so.
func introduced(_ beds: [StoreBed]) throws -> [SQLiteStore] {
    let stores = try beds.map { try $0.open() }
    guard let first = stores.first else { return [] }
    _ = try first.append(beds.map { [.addMember($0.device.fact)] }, wallMilliseconds: 1)
    for store in stores.dropFirst() {
        try store.pull(from: first)
        _ = try store.append([[.addMember(beds[0].device.fact)]], wallMilliseconds: 1)
    }
    for store in stores.dropFirst() { try first.pull(from: store) }
    for store in stores.dropFirst() { try store.pull(from: first) }
    return stores
}

/// The first of the kind to test, the others in memory.
func introduced(_ kind: StoreKind, count: Int) throws -> [SQLiteStore] {
    try introduced((0..<count).map { StoreBed($0 == 0 ? kind : .memory, device: TestDevice(UInt8($0 + 1))) })
}

/// Exchanges changes until all stores hold the same.
func converge(_ stores: [SQLiteStore]) throws {
    for _ in 0..<2 {
        for target in stores {
            for source in stores where source !== target { try target.pull(from: source) }
        }
    }
}
