/// A replicated value together with the vector that it reflects: what one replica holds, and what it writes with.
///
///     var list = Document<ReplicatedSet<ExactString>>(replica: mine)
///     let change = list.edit(wallMilliseconds: now) { draft in
///         draft.insert("milk")
///     }
///     // … `change` travels …
///     try other.apply(change)
///
/// Changes, whole documents and deltas may be mixed at will: whatever road the writes take, documents that hold the same
/// writes have equal values. A replica must be written from one place only, and never again from an older copy of its
/// document: a counter names one operation for ever.
public struct Document<Value: Replicated>: Hashable, Sendable, Codable {
    /// The history that edits here are written to.
    public let replica: ReplicaID
    /// The result of all writes held so far.
    public internal(set) var value: Value
    /// The vector of those writes.
    public internal(set) var vector: VersionVector
    /// The greatest stamp among them.
    public internal(set) var greatestStamp: Stamp

    /// A document without any write.
    public init(replica: ReplicaID) {
        self.replica = replica
        value = Value()
        vector = VersionVector()
        greatestStamp = .zero
    }

    /// Another replica's document that starts with everything this one holds.
    public func forked(as replica: ReplicaID) -> Document {
        var fork = Document(replica: replica)
        fork.value = value
        fork.vector = vector
        fork.greatestStamp = greatestStamp
        return fork
    }

    /// Writes: what `body` does with the draft is one change. Nil when it did nothing that needs to be recorded.
    ///
    /// When `body` throws, nothing is written. A body that can throw costs a copy of what it touches, to go back to.
    @discardableResult
    public mutating func edit<Failure: Error>(
        wallMilliseconds: Int64, _ body: (inout Draft<Value>) throws(Failure) -> Void
    ) throws(Failure) -> DocumentChange<Value.Operation>? {
        let start = Dot(replica: replica, counter: vector.next(of: replica))
        // The stamps are out of reach of honest writers, and `apply` admits no others.
        let stamp =
            Stamp.next(after: greatestStamp, wallMilliseconds: wallMilliseconds) ?? Stamp(rawValue: .max)
        let before = Failure.self == Never.self ? nil : value
        let root = DraftRoot(value, at: Origin(dot: start, stamp: stamp, context: vector))
        // One owner at a time, or the first edit would copy the value.
        value = Value()
        do throws(Failure) {
            var draft = root.draft
            try body(&draft)
        } catch {
            root.close()
            if let before { value = before }
            throw error
        }
        root.close()
        value = root.value
        guard !root.operations.isEmpty else { return nil }
        let change = DocumentChange(
            start: start, count: root.count, stamp: stamp, context: vector, operations: root.operations)
        vector.advance(replica, to: start.counter + root.count)
        greatestStamp = stamp
        return change
    }

    /// Takes in a change that was written elsewhere. One that is held already is ignored.
    ///
    /// Throws `DocumentError`; then nothing has changed.
    public mutating func apply(_ change: DocumentChange<Value.Operation>) throws(DocumentError) {
        let (start, next) = (change.start, vector.next(of: change.start.replica))
        guard let end = Self.end(of: change) else { throw .malformed }
        if end <= next { return }
        guard start.counter <= next, vector.covers(change.context) else { throw .missingContext }
        guard start.counter == next else { throw .overlap }
        guard change.stamp.isReachable(from: greatestStamp) else { throw .malformed }
        var origin = Origin(dot: start, stamp: change.stamp, context: change.context)
        for operation in change.operations {
            value.apply(operation, at: origin)
            origin = origin.advanced(by: Value.span(of: operation))
        }
        vector.advance(start.replica, to: end)
        greatestStamp = max(greatestStamp, change.stamp)
    }

    /// The counter behind the last one of `change`; nil when its operations do not count what it says.
    private static func end(of change: DocumentChange<Value.Operation>) -> UInt64? {
        var end = change.start.counter
        for operation in change.operations {
            let span = Value.span(of: operation)
            guard end <= Limits.counters, span <= Limits.counters - end else { return nil }
            end += span
        }
        return change.operations.isEmpty || end - change.start.counter != change.count ? nil : end
    }
}

extension Document {
    /// Takes in everything another replica's document holds: commutative, associative, idempotent.
    public mutating func merge(_ other: Document) {
        guard !vector.covers(other.vector) else { return }
        value.merge(other.value, held: vector, theirs: other.vector)
        vector.join(other.vector)
        greatestStamp = max(greatestStamp, other.greatestStamp)
    }

    /// Returns the part that a replica which holds `vector` lacks. It is smaller than the whole document when the replica
    /// lacks little.
    public func delta(since vector: VersionVector) -> DocumentDelta<Value.Delta> {
        DocumentDelta(
            since: vector, vector: self.vector, greatestStamp: greatestStamp, content: value.delta(since: vector))
    }

    /// Takes in a delta. Throws `missingContext` when it was made for a replica that holds more than this one.
    public mutating func join(_ delta: DocumentDelta<Value.Delta>) throws(DocumentError) {
        guard vector.covers(delta.since) else { throw .missingContext }
        guard !vector.covers(delta.vector) else { return }
        value.join(delta.content, held: vector, theirs: delta.vector)
        vector.join(delta.vector)
        greatestStamp = max(greatestStamp, delta.greatestStamp)
    }
}
