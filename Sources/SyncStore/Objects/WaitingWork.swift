import Synchronization
package import SyncModel

/// The work that this device wrote before it heard of its retirement and has to write again, as its own readers see it until then.
///
/// Nothing of it is stored: when an object is read, it is laid over what all devices judge. So it is in no digest and no state, and the
/// plan of a write does not see it. A write to such an object is refused until then (`ObjectRefusal.writingAgain`): what the writer
/// saw is not what the write would change.
struct WaitingWork: Sendable {
    /// In the order in which they are written again.
    private let stretches: [VoidStretch]
    /// In the order of the stretches.
    private let operations: [ObjectKey: [PastOperation]]
    /// The work that any device wrote again, and where it stands now.
    private let places: [Rewriting]
    /// The part of it that this device wrote.
    private let rewritten: [Rewriting]
    private let members: MemberFacts

    /// Nil if nothing waits.
    ///
    /// - Parameter known: the work as it was read before, of the same branches of the device's histories.
    fileprivate init?(of device: DeviceID, in rows: LogRows, knowing known: WaitingWork?) throws(StoreError) {
        let state = try rows.state()
        stretches = state.stretchesToRewrite(of: device)
        if stretches.isEmpty { return nil }
        members = state.members
        places = state.cuts.rewritten
        rewritten = places.filter { $0.new.replica.device == device }
        let stretches = stretches
        if let known, stretches.allSatisfy({ $0.isPart(of: known.stretches) }) {
            operations = known.operations.compactMapValues { operations in
                let left = stretches.flatMap { stretch in operations.filter { stretch.contains($0.origin.dot) } }
                return left.isEmpty ? nil : left
            }
            return
        }
        let objects = ObjectRows(rows)
        var operations: [ObjectKey: [PastOperation]] = [:]
        for stretch in stretches {
            guard let row = try rows.findReplica(stretch.replica) else { continue }
            let steps = try objects.contextSteps(
                of: row, upTo: .max, behind: state.firsts.inherited(by: stretch.replica))
            try rows.forEachSegment(of: stretch.replica, behind: stretch.counters.lowerBound) { segment in
                let context = steps.context(at: Int64(clamping: segment.end))
                PastOperation.forEach(in: segment.bytes, by: stretch.replica, context: context) { key, operation in
                    if stretch.contains(operation.origin.dot) { operations[key, default: []].append(operation) }
                }
            }
        }
        self.operations = operations
    }

    /// The objects that it is on.
    var objects: some Collection<ObjectKey> { operations.keys }

    func concerns(_ object: ObjectKey) -> Bool { operations[object] != nil }

    func concerns(_ collection: ExactString) -> Bool { objects.contains { $0.collection == collection } }

    /// Returns the object with the work on it, as far as it would be done if it were written again now.
    func laid(over object: StoredObject, _ schema: CollectionSchema?) -> StoredObject {
        var shown = object
        var last: PastOperation?
        for operation in operations[object.key] ?? [] {
            let (action, origin) = moved(
                operation.action, at: moved(operation, on: shown.state.lives), on: shown.state)
            guard isDone(action, at: origin, on: shown.state) else { continue }
            let outcome = shown.state.apply(
                action, at: origin, wallMilliseconds: operation.wallMilliseconds, members: members, earlier: { [] })
            if case .applied = outcome { last = operation }
        }
        guard let last else { return object }
        shown.version = last.origin.advanced(by: max(last.action.span, 1) - 1).dot
        shown.changedMilliseconds = max(object.changedMilliseconds, last.wallMilliseconds)
        shown.summary = shown.summarized(schema)
        shown.summary.forgetTables()
        return shown
    }

    /// True if the operation would be done if it were written again now (`ObjectPlan.writeAgain`).
    private func isDone(_ action: ObjectState.Action, at origin: Origin, on state: ObjectState) -> Bool {
        switch action {
        case .edit(.birth, _): true
        case .edit(let life, _), .editAttachments(let life, _): state.isThere(life.birth(at: origin))
        case .delete:
            state.judgement.isThere
                && state.lives.touched.entries.allSatisfy {
                    $0.replica.device == origin.dot.replica.device || origin.context.next(of: $0.replica) >= $0.next
                }
        case .keep: state.judgement == .undecided
        }
    }

    // What an operation builds upon may be written again already, in part. A register holds what is written last, and what begins,
    // is attached or decides is written with the knowledge of that day.

    private func moved(_ operation: PastOperation, on lives: ObjectLives) -> Origin {
        let origin = operation.origin
        var known = origin.context
        known.advance(origin.dot.replica, to: origin.dot.counter)
        known = rewritten.places(ofAllIn: known)
        switch operation.action {
        case .edit(.birth, _), .editAttachments, .keep: known.join(lives.touched)
        case .edit, .delete: break
        }
        let stamp = Stamp.next(
            after: max(origin.stamp, lives.greatestStamp), wallMilliseconds: operation.wallMilliseconds)
        return origin.knowing(known, stamp: stamp ?? origin.stamp)
    }

    private func moved(
        _ action: ObjectState.Action, at origin: Origin, on state: ObjectState
    ) -> (ObjectState.Action, Origin) {
        let replica = origin.dot.replica
        let mapping = DotMapping(from: replica, to: replica, places, behind: rewritten.map(\.new.replica))
        func present(_ life: Operation.LifeReference) -> Dot {
            let birth = life.birth(at: origin)
            return mapping.place(of: birth) ?? birth
        }
        switch action {
        case .edit(.birth, _), .delete, .keep: return (action, origin)
        case .edit(let life, let edits):
            let birth = present(life)
            var known = origin.context
            let old = life.birth(at: origin)
            if birth != old {
                known.advance(birth.replica, to: birth.counter + 1)
                known.join(mapping.place(in: birth.replica, of: old.replica, in: known))
            }
            let all = origin.knowing(state.lives.touched, stamp: origin.stamp)
            let written = mapping.written(
                edits, on: state.fields(of: birth) ?? ObjectFields(), at: all, knowing: known)
            return (
                .edit(.init(to: birth, by: replica), written.edits),
                origin.knowing(written.known, stamp: origin.stamp)
            )
        case .editAttachments(let life, .detach(let id)):
            return (.editAttachments(.init(to: present(life), by: replica), .detach(mapping(id))), origin)
        case .editAttachments(let life, .attach(let file)):
            return (.editAttachments(.init(to: present(life), by: replica), .attach(file)), origin)
        }
    }
}

extension VoidStretch {
    fileprivate func isPart(of others: [VoidStretch]) -> Bool {
        others.contains {
            $0.replica == replica && $0.counters.lowerBound <= counters.lowerBound
                && counters.upperBound <= $0.counters.upperBound
        }
    }
}

extension SQLiteStore {
    /// The waiting work that was read last, and the view of the store that it is of.
    struct KnownWork: Sendable {
        let view: View
        let work: WaitingWork?

        /// Two views with the same value show the same waiting work.
        struct View: Hashable, Sendable {
            /// See `Published.generation`.
            let generation: UInt64
            let cuts: [UInt8]
            /// See `LogRows.takenBackPosition`.
            let takenBack: Int64?
        }
    }

    /// Reads objects as this device's own readers see them.
    func readShown<Value>(
        _ space: SpaceID, _ body: (LogRows, ObjectRows) throws(StoreError) -> Value
    ) throws(StoreError) -> Value? {
        // Before the view begins: what is known later of an earlier view must not be taken for the present.
        let generation = published.withLock(\.generation)
        return try readLog(space) { rows throws(StoreError) in
            try body(rows, ObjectRows(rows, waiting: try waitingWork(in: rows, generation)))
        }
    }

    /// True if this device has to write work on the object again.
    package func hasWaitingWork(on key: ObjectKey, space: SpaceID) throws(StoreError) -> Bool {
        try readShown(space) { _, objects in objects.waiting?.concerns(key) ?? false } ?? false
    }

    /// Returns what waits in the view of the store that `rows` reads, so that a transaction that makes work void, or writes it again,
    /// changes both at once for readers.
    func waitingWork(in rows: LogRows, _ generation: UInt64) throws(StoreError) -> WaitingWork? {
        guard published.withLock(\.wasRetired) else { return nil }
        let view = KnownWork.View(
            generation: generation, cuts: try rows.cutBytes(), takenBack: try rows.takenBackPosition())
        let known = knownWork.withLock { $0 }
        if let known, known.view == view { return known.work }
        // Where a branch took the place of another, the same counters may be of other operations.
        let work = try WaitingWork(of: device, in: rows, knowing: view.takenBack == nil ? known?.work : nil)
        knownWork.withLock { $0 = KnownWork(view: view, work: work) }
        return work
    }
}
