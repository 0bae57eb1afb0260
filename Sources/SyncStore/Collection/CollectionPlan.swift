package import SyncModel

/// The result of one step of collection.
package struct CollectionStep: Sendable, Equatable {
    /// Objects whose deletions went.
    package let objects: Int
    /// Behind which deletion the next step goes on; nil when nothing is left to look at.
    package let next: Dot?
    package let counts: StoreCounts

    package init(objects: Int, next: Dot?, counts: StoreCounts) {
        self.objects = objects
        self.next = next
        self.counts = counts
    }
}

/// An object that keeps deletions, with the dot of the newest.
struct KeptDeletion: Sendable, Hashable {
    let dot: Dot
    let object: ObjectKey
}

/// A step of collection, computed while its transaction runs: pure except for its reads, the same for every store.
struct CollectionPlan: Sendable {
    private(set) var log: LogPlan
    private(set) var objects: ObjectPlan
    private let lookedAt: [KeptDeletion]
    private var collectedCount = 0

    var isChanged: Bool { collectedCount > 0 }

    /// - Parameter due: objects whose newest deletion is stable.
    init(
        _ stable: VersionVector, on state: LogState, _ reading: some ObjectSource,
        due: () throws(StoreError) -> [KeptDeletion]
    ) throws(StoreError) {
        log = try LogPlan([], on: state)
        objects = ObjectPlan(on: state)
        // Stable means held, by everybody; a caller that says otherwise gets nothing.
        lookedAt = state.held.covers(stable) ? try due() : []
        for kept in lookedAt where try objects.collect(kept.object, upTo: stable, reading) { collectedCount += 1 }
        guard collectedCount > 0 else { return }
        try objects.finish(reading)
        log.take(objects)
        log.raiseFloor(to: stable)
    }

    func step(limit: Int) -> CollectionStep {
        CollectionStep(
            objects: collectedCount, next: lookedAt.count < limit ? nil : lookedAt.last?.dot, counts: log.after.counts)
    }
}

extension LogState {
    /// Our own acknowledgement with the ends of what we have written: changes that the asker has not heard of may be
    /// older than what it acknowledges, and must be waited for.
    func completing(_ acknowledgement: Acknowledgement) -> Acknowledgement {
        let own = held.entries.filter { $0.replica.device == acknowledgement.device }
        return Acknowledgement(
            device: acknowledgement.device, stamp: acknowledgement.stamp, vector: acknowledgement.vector,
            digest: acknowledgement.digest, laterEnds: VersionVector(own))
    }
}

extension Segment {
    /// The chain head at a counter where one of its changes ends, from the head before its first.
    func head(at end: UInt64, from head: ChainHead) -> ChainHead? {
        var reader = ByteReader(bytes)
        var head = head
        while !reader.isAtEnd, let view = try? ChangeView(&reader), view.end <= end {
            head = head.appending(view.digest(in: bytes))
            if view.end == end { return head }
        }
        return nil
    }
}
