import SyncModel

/// The conversion of an open tail into signed history, or a shorter open tail: folded, chained anew, and applied as if that
/// had been written.
///
/// What the store showed does not change: objects keep positions, versions and what belongs to this node alone, events keep
/// their arrival numbers, and the digest stays the same. An object for which that would not hold is left unfolded.
struct Sealing: Sendable {
    let log: LogPlan
    let objects: ObjectPlan
    /// Objects of which nothing is left: created and deleted before anybody heard of them.
    let vanished: [ObjectKey]
    /// The tip of the tail's replica; the counter is unchanged.
    let tip: ReplicaTip
    /// The state behind the sealing: as `LogPlan.after`, with the positions that were given out.
    let after: LogState
    /// Counters of events that went, now or when the tail was folded before, ascending.
    let foldedEvents: [UInt64]

    /// - Parameters:
    ///   - current: what the log amounts to with the tail.
    ///   - stored: reads the objects as they are now, whose operations in the tail are out of `touches` already.
    init(
        _ tail: OpenTail, current: LogState, isLatestOnly: @escaping (String) -> Bool,
        _ stored: some ObjectSource, faults: ModelFaults = [], sign: ([UInt8]) -> [UInt8]
    ) throws(StoreError) {
        let steady = Set(tail.steady.keys)
        var keeps: Set<ObjectKey> = []
        while true {
            let folding = tail.folding(keeps: keeps, isLatestOnly: isLatestOnly)
            let foldedEvents = (tail.foldedEvents + folding.events).sorted()
            var writer = SegmentWriter(space: tail.before.space, replica: tail.replica, from: tail.sealedTip)
            for change in folding.changes { writer.add(change, sign: sign) }
            let segments = writer.finish(sign: sign)
            var log = try LogPlan(segments, on: tail.before, foldedEvents: foldedEvents)
            var objects = try log.applyObjects(
                on: tail.before, steady: steady, EarlierObjects(bases: tail.bases, stored: stored), faults: faults)
            let kept = try objects.keepWhatWasShown(
                of: folding, at: current.objectPosition, stored)
            guard kept.differing.isEmpty else {
                guard kept.differing.isDisjoint(with: keeps) else {
                    throw .corrupt(detail: "the open tail does not give the objects stored with it")
                }
                keeps.formUnion(kept.differing)
                continue
            }
            // Also that which no operation is left to bring up.
            let left = Set(objects.changed.map(\.object.key))
            vanished = tail.bases.filter { $0.value.state.isEmpty && !left.contains($0.key) }.map(\.key).sorted()
            tip = writer.tip
            var after = log.after
            after.objectPosition = current.objectPosition
            after.digest = current.digest
            for object in tail.steady.values {
                after.counts.count(from: object.before, to: object.now)
                after.counts.attachments += object.attachments
            }
            self.log = log
            self.objects = objects
            self.foldedEvents = foldedEvents
            self.after = after
            return
        }
    }
}

/// The objects as they were before the tail.
private struct EarlierObjects<Stored: ObjectSource>: ObjectSource {
    let bases: [ObjectKey: StoredObject]
    let stored: Stored

    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        if let base = bases[key] { return base }
        return try stored.object(key)
    }

    func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema? {
        try stored.schema(of: collection)
    }

    func touches(of key: ObjectKey) throws(StoreError) -> [PastOperation] { try stored.touches(of: key) }

    func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning? { try stored.beginning(of: key) }

    func objects(
        of collection: ExactString, _ body: (StoredObject) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try stored.objects(of: collection) { object throws(StoreError) in try body(bases[object.key] ?? object) }
    }
}
