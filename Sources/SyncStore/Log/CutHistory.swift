package import SyncModel

/// The parts of the log that are read when a cut arrives, or when evidence against a cut arrives.
package protocol CutHistory {
    /// Returns the changes in what the stored changes of a replica name of others, with the counters, in order.
    func contextSteps(
        of replica: ReplicaID
    ) throws(StoreError) -> [(start: UInt64, moved: [VersionVector.Entry])]
    /// The objects that operations of the replica with these counters are on.
    func objects(touchedBy replica: ReplicaID, within counters: Range<UInt64>) throws(StoreError) -> Set<ObjectKey>
    /// Calls `body` for each segment of a replica that ends behind a counter, in the order of counters.
    func forEachSegment(
        of replica: ReplicaID, behind start: UInt64, _ body: (Segment) -> Void
    ) throws(StoreError)
    /// Calls `body` for each stored segment, in the order of arrival.
    func forEachSegment(
        _ body: (VerifiedSegment, _ row: Int64) throws(StoreError) -> Void
    ) throws(StoreError)
}

extension FirstContexts {
    /// Returns what the author of the replica's first change had seen, all at once. The log does not name it otherwise, and
    /// without it the author would seem to vouch for changes it knew to be cut.
    package func beginning(of replica: ReplicaID) -> [(start: UInt64, moved: [VersionVector.Entry])] {
        var seen = inherited(by: replica)
        seen.join(context(of: replica))
        return seen.isEmpty ? [] : [(start: UInt64(0), moved: seen.entries)]
    }
}

extension Segment {
    /// The contexts that its changes name.
    var contextSteps: [(start: UInt64, moved: [VersionVector.Entry])] {
        var steps: [(start: UInt64, moved: [VersionVector.Entry])] = []
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            if !view.context.isEmpty { steps.append((view.start, view.context)) }
        }
        return steps
    }

    /// The objects that its operations with these counters are on.
    func objects(within counters: Range<UInt64>) -> Set<ObjectKey> {
        var keys: Set<ObjectKey> = []
        forEachOperation(within: counters) { _, operation in
            if let key = operation.objectAction?.object { keys.insert(key) }
        }
        return keys
    }

    /// Calls `body` for each operation on objects with one of these counters.
    func forEachOperation(within counters: Range<UInt64>, _ body: (UInt64, SyncModel.Operation) -> Void) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard counters.contains(counter), Operation.Kind.concernsObjects(operation.kind) else { return }
                body(counter, Operation(operation, in: bytes))
            }
        }
    }
}
