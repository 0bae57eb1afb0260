/// The events that remain of a stretch of one replica's changes: each change that has events, with everything else in it
/// void. Dots, stamps and contexts are its author's; the chain cannot be checked any more.
///
/// It has the form of a segment, with gaps, so it is stored and read as one. Only its first change names other replicas: all
/// that its author had come to know since the change with events before it.
package struct EventResidue: Hashable, Sendable {
    package let replica: ReplicaID
    /// Canonical bytes of the changes, ascending. At most `Limits.segmentBytes` unless it is one larger change.
    package let bytes: [UInt8]
    /// The start of its first change.
    package let start: UInt64
    /// The counter behind its last change.
    package let end: UInt64
    /// The context of its first change.
    package let context: [VersionVector.Entry]
    package let firstStamp: Stamp
    package let lastStamp: Stamp

    /// Reads the changes. The bytes may come from a peer: never traps.
    package init(replica: ReplicaID, bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        let first = try ChangeView(&reader)
        guard !first.context.contains(where: { $0.replica == replica }) else {
            throw .outOfRange(field: "events.context")
        }
        try Self.check(first, in: bytes)
        var last = first
        while !reader.isAtEnd {
            let view = try ChangeView(&reader)
            guard view.start >= last.end else { throw .outOfRange(field: "events.start") }
            guard view.stamp > last.stamp else { throw .outOfRange(field: "events.stamp") }
            guard view.context.isEmpty else { throw .outOfRange(field: "events.context") }
            guard bytes.count <= Limits.segmentBytes else { throw .outOfRange(field: "events.length") }
            try Self.check(view, in: bytes)
            last = view
        }
        self.replica = replica
        self.bytes = bytes
        start = first.start
        end = last.end
        context = first.context
        firstStamp = first.stamp
        lastStamp = last.stamp
    }

    /// Events, at least one, and between them what is void in one piece.
    private static func check(_ view: ChangeView, in bytes: [UInt8]) throws(CodecError) {
        var hasEvents = false
        var wasVoid = false
        try view.forEachOperation(in: bytes) { _, operation throws(CodecError) in
            if operation.kind == Operation.Kind.appendEvent, operation.span == 1 {
                _ = try EventView(operation.body, in: bytes)
                hasEvents = true
                wasVoid = false
            } else {
                guard operation.kind == Operation.Kind.void, operation.body.isEmpty, !wasVoid else {
                    throw .outOfRange(field: "events.operation")
                }
                wasVoid = true
            }
        }
        guard hasEvents else { throw .outOfRange(field: "events.operation") }
    }

    /// The changes that lie within these counters; nil when none does. What those before them named is named by the first that is
    /// left.
    package func within(_ counters: Range<UInt64>) -> EventResidue? {
        if start >= counters.lowerBound, end <= counters.upperBound { return self }
        var writer = EventResidueWriter(of: replica)
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { preconditionFailure("a residue reads back") }
            if view.end > counters.upperBound { break }
            if view.start >= counters.lowerBound { writer.add(view, in: bytes) } else { writer.name(view.context) }
        }
        // As many changes as before, or fewer: it is one still.
        return writer.finish().first
    }
}

extension EventResidue: ByteCoded {
    /// Layout: replica, the changes up to the end.
    package func append(to bytes: inout [UInt8]) {
        bytes += replica.bytes
        bytes += self.bytes
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        let replica = try reader.replicaID("events.replica")
        try self.init(replica: replica, bytes: Array(reader.bytes[try reader.skip(reader.remainingCount)]))
    }
}

/// Makes residues of a replica's changes, which are given in their order; of residues too.
package struct EventResidueWriter {
    private let replica: ReplicaID
    /// A planted bug: of several events of one change only the first.
    private let keepsFirstOnly: Bool
    /// Changes of which all events are dropped are not kept.
    private let dropped: DroppedByStream
    /// The context that the author came to know since the last change that was kept.
    private var named = VersionVector()
    private var pending: [UInt8] = []
    private var finished: [EventResidue] = []

    package init(of replica: ReplicaID, keepsFirstOnly: Bool = false, but dropped: DroppedByStream = DroppedByStream())
    {
        self.replica = replica
        self.keepsFirstOnly = keepsFirstOnly
        self.dropped = dropped
    }

    /// Adds the context of a change that is not kept.
    package mutating func name(_ context: [VersionVector.Entry]) {
        if !context.isEmpty { named.join(VersionVector(context)) }
    }

    /// A change, of which the events are kept.
    package mutating func add(_ view: ChangeView, in bytes: [UInt8]) {
        name(view.context)
        guard let operations = view.onlyEvents(of: replica, in: bytes, firstOnly: keepsFirstOnly, but: dropped)
        else { return }
        // An author that met thousands of replicas at once names the rest later, as authors do.
        let context = Array(named.entries.prefix(Limits.contextEntries))
        named = VersionVector(named.entries.dropFirst(context.count))
        let change = Change(
            start: view.start, stamp: view.stamp, wallMilliseconds: view.wallMilliseconds, context: context,
            operations: operations
        ).encoded
        if !context.isEmpty || pending.count + change.count > Limits.segmentBytes { flush() }
        pending += change
    }

    /// Residues that nothing more is added to.
    package mutating func takeFinished() -> [EventResidue] {
        defer { finished = [] }
        return finished
    }

    /// Returns all residues, ascending. Contexts named behind the last change are not in them.
    package mutating func finish() -> [EventResidue] {
        flush()
        return takeFinished()
    }

    private mutating func flush() {
        guard !pending.isEmpty else { return }
        guard let residue = try? EventResidue(replica: replica, bytes: pending) else {
            preconditionFailure("what is left of changes reads back")
        }
        finished.append(residue)
        pending = []
    }
}

extension ChangeView {
    /// The change's operations with everything void but its events; nil for a change without events that are not dropped. Of
    /// others it keeps all, also those that are: so each stays at its place.
    package func onlyEvents(
        of replica: ReplicaID, in bytes: [UInt8], firstOnly: Bool = false, but dropped: DroppedByStream
    ) -> [Operation]? {
        var operations: [Operation] = []
        var (hasEvents, isShown) = (false, false)
        forEachOperation(in: bytes) { counter, operation in
            if operation.kind == Operation.Kind.appendEvent, operation.span == 1,
                let event = try? EventView(operation.body, in: bytes), !(firstOnly && hasEvents)
            {
                operations.append(Operation(operation, in: bytes))
                hasEvents = true
                let dot = Dot(replica: replica, counter: counter)
                isShown = isShown || !dropped.contains(dot, of: bytes[event.stream])
            } else if case .void(let span)? = operations.last {
                operations[operations.count - 1] = .void(span: span + operation.span)
            } else {
                operations.append(.void(span: operation.span))
            }
        }
        return isShown ? operations : nil
    }
}
