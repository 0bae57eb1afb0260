import SyncModel

/// A step of a large write, planned beside the writer against the object as it was stored then.
///
/// The plan counts if the object, its local fields and its schema are still the same when the write's turn comes, and if the change
/// then knows all that the plan knew and still counts on the lives it edits. Its operations move to the counters that are free by that
/// time, in n steps. Otherwise the step is planned anew, by the writer.
package struct PreparedWrite: Sendable, Hashable {
    /// Counters of operations that are planned ahead lie so far beyond the newest: further than one change reaches.
    private static let lead: UInt64 = 1 << 24

    /// The index in its `LocalWrite`.
    let step: Int
    private let position: Int64
    private let version: Dot?
    private let localFields: [JSONValue.Member]
    private let schema: CollectionSchema?
    /// The dot at which the first operation was planned.
    private let first: Dot
    /// The context of the planned operations; it covers all that had touched the object.
    private let known: VersionVector
    private let planned: PlannedWrite

    /// Nil for a write that is refused, whose turn may yet be a better one, and for operations that cannot move.
    fileprivate init?(
        _ write: ObjectWrite, step: Int, to object: StoredObject, _ schema: CollectionSchema?, from origin: Origin,
        _ members: MemberFacts
    ) {
        // An operation that the object shows and the plan does not know would be no part of what the plan edits.
        guard origin.context.covers(object.state.lives.touched) else { return nil }
        let ahead = origin.advanced(by: Self.lead)
        let planner = ObjectPlanner(
            object.key, object.state, localFields: object.localFields, version: object.version, schema: schema,
            origin: ahead, members: members)
        guard let planned = try? planner.plan(write), planned.operations.allSatisfy(\.canMove) else { return nil }
        self.step = step
        position = object.position
        version = object.version
        localFields = object.localFields
        self.schema = schema
        first = ahead.dot
        known = origin.context
        self.planned = planned
    }

    /// The plan from `origin` on; nil if it does not hold any more.
    ///
    /// - Parameter checking: false plants the bug that a plan counts whatever became of its object.
    func planned(
        for object: StoredObject, _ schema: CollectionSchema?, at origin: Origin, _ members: MemberFacts,
        checking: Bool = true
    ) -> PlannedWrite? {
        let isSame =
            object.position == position && object.version == version && object.localFields == localFields
            && schema == self.schema
        guard isSame || !checking, origin.dot.replica == first.replica, knowsPlan(origin), counts(at: origin, members)
        else { return nil }
        let span = planned.operations.reduce(0) { $0 + $1.span }
        guard origin.dot.counter + span <= first.counter else { return nil }
        let mapping = DotMapping(
            from: first.replica, to: first.replica, [Rewriting(old: first, count: span, new: origin.dot)])
        var moved = planned
        moved.operations = planned.operations.map { $0.moved(by: mapping) }
        return moved
    }

    /// A change may name less than was held: after a history was taken back, or from a key that is new on old data.
    private func knowsPlan(_ origin: Origin) -> Bool {
        known.entries.allSatisfy { entry in
            entry.replica == first.replica || origin.context.next(of: entry.replica) >= entry.next
        }
    }

    /// True if the operations are void on no node, as the planner asks of those it plans.
    private func counts(at origin: Origin, _ members: MemberFacts) -> Bool {
        planned.operations.allSatisfy { operation in
            guard case .editObject(let edit) = operation else { return false }
            return members.admits(origin, onWorkOf: edit.life.birth(at: origin).replica.device)
        }
    }
}

extension SyncModel.Operation {
    /// False for removals of keys: what one carries depends on what it meets, so it is planned by the writer.
    fileprivate var canMove: Bool {
        if case .editObject(let edit) = self { !edit.edits.contains(where: \.removesKeys) } else { false }
    }

    fileprivate func moved(by mapping: DotMapping) -> SyncModel.Operation {
        guard case .editObject(let edit) = self else { return self }
        return .editObject(
            .init(object: edit.object, life: edit.life, edits: edit.edits.map { mapping($0, on: ObjectFields()) }))
    }
}

extension SQLiteStore {
    /// The same write, its large steps planned against what readers see now: the writer is not held meanwhile.
    package func prepared(_ write: LocalWrite, wallMilliseconds: Int64) throws(StoreError) -> LocalWrite {
        guard write.isLarge else { return write }
        switch write {
        case .once(let key, let inner): return .once(key, try prepared(inner, wallMilliseconds: wallMilliseconds))
        case .planned(let steps, row: nil): return try prepared(write, steps, wallMilliseconds)
        case .planned, .operations, .retire, .trust, .again, .prepared: return write
        }
    }

    private func prepared(
        _ write: LocalWrite, _ steps: [ObjectWrite], _ wallMilliseconds: Int64
    ) throws(StoreError) -> LocalWrite {
        var prepared: [PreparedWrite] = []
        for (step, write) in steps.enumerated() where write.isLarge {
            guard let key = write.key else { continue }
            let object = try object(key, space: .home) ?? StoredObject(key: key)
            let schema = try schema(of: key.collection, space: .home)
            // Read behind the object, of which it has to know everything.
            guard let origin = try nextOrigin(wallMilliseconds) else { continue }
            if let plan = PreparedWrite(write, step: step, to: object, schema, from: origin, try members()) {
                prepared.append(plan)
            }
        }
        return prepared.isEmpty ? write : .prepared(write, prepared)
    }

    /// The origin that a local operation would have now; nil where this store has no history of its own yet.
    private func nextOrigin(_ wallMilliseconds: Int64) throws(StoreError) -> Origin? {
        let state = try state()
        let newest = state.tips.map(\.tip.stamp).max() ?? .zero
        guard let replica = state.ownReplica, let stamp = Stamp.next(after: newest, wallMilliseconds: wallMilliseconds)
        else { return nil }
        let held = VersionVector(state.tips.map { .init(replica: $0.replica, next: $0.tip.next) })
        return Origin(dot: Dot(replica: replica, counter: held.next(of: replica)), stamp: stamp, context: held)
    }
}

extension LocalWrite {
    /// Planning it takes long enough for others to notice.
    package var isLarge: Bool {
        switch self {
        case .planned(let steps, row: _): steps.contains(where: \.isLarge)
        case .once(_, let write), .prepared(let write, _): write.isLarge
        case .operations, .retire, .trust, .again: false
        }
    }
}

extension ObjectWrite {
    /// The number of values in a large write; planning one takes about 20 µs.
    private static let largeCount = 1_000

    fileprivate var isLarge: Bool {
        var left = Self.largeCount
        switch self {
        case .put(_, let put): for field in put.fields { field.value.count(downFrom: &left) }
        case .edit(_, let edits, _):
            for edit in edits {
                switch edit.action {
                case .set(let value), .insert(_, let value): value.count(downFrom: &left)
                case .increment, .unset, .add, .remove, .delete, .move: left -= 1
                }
            }
        case .delete, .resolve, .attach, .detach, .convert, .setSchema, .appendEvent, .setStream, .accept: break
        }
        return left <= 0
    }

    fileprivate var key: ObjectKey? {
        switch self {
        case .put(let key, _), .edit(let key, _, _): key
        case .delete, .resolve, .attach, .detach, .convert, .setSchema, .appendEvent, .setStream, .accept: nil
        }
    }
}

extension JSONValue {
    /// Looks no further than it has to.
    fileprivate func count(downFrom left: inout Int) {
        guard left > 0 else { return }
        left -= 1
        switch self {
        case .null, .bool, .integer, .double: break
        case .string(let text): left -= text.string.utf8.count / 64
        case .array(let elements): for element in elements where left > 0 { element.count(downFrom: &left) }
        case .object(let members): for member in members where left > 0 { member.value.count(downFrom: &left) }
        }
    }
}
