/// Writes this device's changes: counters, contexts, stamps, the chain, and where segments end. Pure; the store calls it
/// inside the transaction that makes the result durable, and keeps the new value only when that succeeded.
package struct ChangeAuthor: Sendable {
    package let space: SpaceID
    package let replica: ReplicaID
    package private(set) var tip: ReplicaTip
    /// The vector named so far, by contexts or by the first changes of the device's other replicas. The next change names
    /// only what moved since.
    package private(set) var named: VersionVector

    package init(space: SpaceID, replica: ReplicaID, tip: ReplicaTip, named: VersionVector) {
        self.space = space
        self.replica = replica
        self.tip = tip
        self.named = named
    }

    /// True if these operations may be one change: at least one, and within the limits of `Operation` and `Change`.
    package static func canAuthor(_ operations: [Operation]) -> Bool {
        var body: [UInt8] = []
        var count: UInt64 = 0
        for operation in operations {
            guard operation.span > 0, operation.span <= Limits.operationsPerChange - count else { return false }
            count += operation.span
            let start = body.count
            operation.append(to: &body)
            guard body.count <= Limits.operationsBytes else { return false }
            if operation.isOnObjects, !operation.readsBack(from: Array(body[start...])) { return false }
        }
        return count > 0
    }

    /// Authors one change per element of `groups`, each one that `canAuthor` allows, as segments ready to store.
    /// - Returns: nil when stamps are used up (a forged clock near the end of time).
    package mutating func author(
        _ groups: [[Operation]], held: VersionVector, greatestStamp: Stamp, wallMilliseconds: Int64,
        sign: ([UInt8]) -> [UInt8]
    ) -> [VerifiedSegment]? {
        var batch = ChangeBatch(
            self, held: held, greatestStamp: greatestStamp, wallMilliseconds: wallMilliseconds)
        for operations in groups {
            guard batch.nextOrigin != nil else { return nil }
            batch.add(operations, sign: sign)
        }
        let segments = batch.finish(sign: sign)
        self = batch.author
        return segments
    }

    /// Takes over the end of a batch.
    mutating func extend(to tip: ReplicaTip, naming moved: [VersionVector.Entry]) {
        self.tip = tip
        if !moved.isEmpty { named.join(VersionVector(moved)) }
    }
}

extension Operation {
    /// True if peers read the operation as it was written. Otherwise it would be void for the peers and applied here.
    fileprivate func readsBack(from bytes: [UInt8]) -> Bool {
        var reader = ByteReader(bytes)
        guard let view = try? OperationView(&reader) else { return false }
        return Operation(view, in: bytes) == self
    }

    fileprivate var isOnObjects: Bool {
        switch self {
        case .editObject, .deleteObject, .editSchema, .keepObject, .setStream, .editAttachments, .cut,
            .markRewriting, .editAgain, .settleCut, .dropEvents, .trust, .acceptWork:
            true
        case .appendEvent, .addMember, .void, .unknown: false
        }
    }
}
