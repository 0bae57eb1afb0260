/// The void work of one device on an object that an admin may accept: the object without it and with it.
///
/// It is a function of the object's operations: the same on all nodes that hold the same.
package struct WorkToAccept: Sendable {
    /// A statement that work was accepted, where it stands.
    package struct Acceptance: Hashable, Sendable {
        package let dot: Dot
        /// The stamp of its change, which no other change of the replica has.
        package let stamp: Stamp
        package let work: Operation.AcceptedWork

        package init(dot: Dot, stamp: Stamp, work: Operation.AcceptedWork) {
            self.dot = dot
            self.stamp = stamp
            self.work = work
        }
    }

    /// The object as it is without the work; what was accepted of the device before is part of it.
    package let without: ObjectState
    /// The object as it would be if the work counted.
    package let with: ObjectState
    /// The accepted operations, for the statement of a change that takes over the difference.
    package let work: Operation.AcceptedWork
    /// False if some of the work is on what the operations given here do not have.
    package let isWhole: Bool

    /// - Parameters:
    ///   - device: the author of the void work.
    ///   - operations: all operations on the object, in causal order.
    ///   - acceptances: those on this object and of this device's work that count.
    ///   - rewritten: where the device wrote void work again. What was accepted in its old place is accepted in the new one.
    ///   - isVoid: true for an operation that does not count.
    ///   - isOffered: true for an operation of the device that an admin may accept.
    /// - Returns: nil if nothing is left to accept.
    package init?(
        on object: ObjectKey, of device: DeviceID, _ operations: [PastOperation], from beginning: ObjectBeginning?,
        acceptances: [Acceptance], rewritten: [Rewriting] = [], members: MemberFacts, isVoid: (Dot) -> Bool,
        isOffered: (Dot) -> Bool
    ) {
        func isAccepted(_ dot: Dot) -> Bool { acceptances.covers(dot, written: rewritten) }
        let known = beginning?.state.lives.touched ?? VersionVector()
        let held = operations.filter { !known.covers($0.origin.dot) }
        let applied = acceptances.filter { acceptance in
            held.contains { isOffered($0.origin.dot) && acceptance.work.covers($0.origin.dot) }
        }
        /// True for an operation that did accepted work again, where that work stands in its place.
        func isAcceptance(_ origin: Origin) -> Bool {
            applied.contains { $0.dot.replica == origin.dot.replica && $0.stamp == origin.stamp }
        }
        let work = held.filter { isOffered($0.origin.dot) && !isAccepted($0.origin.dot) }
        guard !work.isEmpty else { return nil }
        let pending = Set(work.map(\.origin.dot))
        self.work = Operation.AcceptedWork(object: object, device: device, stretches: Self.stretches(of: work))
        var without = beginning?.state ?? ObjectState()
        var (with, isWhole) = (without, true)
        for operation in held {
            let dot = operation.origin.dot
            let isPending = pending.contains(dot)
            guard isPending || !isVoid(dot) || (isOffered(dot) && isAccepted(dot)), !isAcceptance(operation.origin)
            else { continue }
            if !isPending { _ = Self.apply(operation, to: &without, members) }
            switch Self.apply(operation, to: &with, members) {
            case .applied, .droppedWhileDeleted, .repeated: break
            case .unknownLife, .void: if isPending { isWhole = false }
            }
        }
        (self.without, self.with, self.isWhole) = (without, with, isWhole)
    }

    private static func apply(
        _ operation: PastOperation, to state: inout ObjectState, _ members: MemberFacts
    ) -> ObjectState.Outcome {
        state.apply(
            operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds, members: members,
            earlier: { [] })
    }

    private static func stretches(of work: [PastOperation]) -> [Operation.AcceptedWork.Stretch] {
        var ends: [UInt64: Range<UInt64>] = [:]
        for operation in work {
            let dot = operation.origin.dot
            let range = dot.counter..<dot.counter + max(operation.action.span, 1)
            let known = ends[dot.replica.incarnation] ?? range
            ends[dot.replica.incarnation] =
                min(known.lowerBound, range.lowerBound)..<max(known.upperBound, range.upperBound)
        }
        return ends.sorted { $0.key < $1.key }.map {
            Operation.AcceptedWork.Stretch(incarnation: $0.key, start: $0.value.lowerBound, end: $0.value.upperBound)
        }
    }
}

extension [WorkToAccept.Acceptance] {
    /// True if the operation was accepted, where it stands or where its author had written it before.
    package func covers(_ dot: Dot, written rewritten: [Rewriting]) -> Bool {
        var dot = dot
        // Each step leads to an earlier place.
        for _ in 0...rewritten.count {
            if contains(where: { $0.work.covers(dot) }) { return true }
            let place = rewritten.first {
                $0.new.replica == dot.replica && $0.new.counter <= dot.counter
                    && dot.counter < $0.new.counter + $0.count
            }
            guard let place else { return false }
            dot = Dot(replica: place.old.replica, counter: place.old.counter + (dot.counter - place.new.counter))
        }
        return false
    }
}

// The writes that take the work over.
extension WorkToAccept {
    /// The effect of an acceptance on the object.
    package enum Change: Hashable, Sendable {
        /// The object is the same with the work and without it.
        case nothing
        /// The object exists only with the work, or begins a new life.
        case create
        case edit
        case delete
        /// Others deleted the object, and the work does not bring it back.
        case gone
    }

    package var change: Change {
        switch (without.isLive, with.isLive) {
        case (true, true): differs ? .edit : .nothing
        case (true, false): .delete
        case (false, true): .create
        case (false, false): without.judgement == .absent ? .nothing : .gone
        }
    }

    private var differs: Bool {
        !without.differences(to: with, schema: nil).isEmpty || !attachments.isEmpty
    }

    private var attachments: AttachmentDifference {
        AttachmentDifference(from: without.shownAttachments, to: with.shownAttachments)
    }

    /// Returns the fields in which a reader finds something else, sorted by name.
    package func fields(_ schema: CollectionSchema?) -> [ExactString] {
        without.differences(to: with, schema: schema).map(\.field)
    }

    /// Returns the writes of one change that make `object`, as it is shown now, what the work says.
    ///
    /// - Parameter version: the version of the object now, which the writes name; nil if it is not shown.
    package func writes(to object: ObjectKey, at version: Dot?, _ schema: CollectionSchema?) -> [ObjectWrite] {
        switch change {
        case .nothing, .gone: return []
        case .delete: return version.map { [.delete(object, ifVersion: $0), .accept(work)] } ?? []
        case .edit: if version == nil { return [] }
        case .create: break
        }
        var steps: [ObjectWrite] = []
        let values = without.differences(to: with, schema: schema).map { difference in
            (field: difference.field, value: with.shownValue(at: [difference.field], schema))
        }
        if let version {
            let edits = values.map { change in
                FieldEdit(path: [change.field], action: change.value.map { .set($0) } ?? .unset)
            }
            if !edits.isEmpty { steps.append(.edit(object, edits, .init(ifVersion: version))) }
        } else {
            let fields = values.compactMap { change in
                change.value.map { JSONValue.Member(key: change.field, value: $0) }
            }
            steps.append(.put(object, .init(fields: fields, ifAbsent: true)))
        }
        steps += attachments.gone.map { .detach(object, attachment: $0.id) }
        // In the order in which they were attached.
        steps += attachments.new.newestFirst.reversed().map { .attach(object, $0.file) }
        return steps.isEmpty ? [] : steps + [.accept(work)]
    }
}

extension ObjectState {
    fileprivate var isLive: Bool { if case .live = judgement { true } else { false } }
}
