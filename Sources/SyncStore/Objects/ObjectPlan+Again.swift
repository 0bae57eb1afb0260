import SyncModel

// Work of a history that does not count, written again as the same device's new operations.
extension ObjectPlan {
    /// Each operation takes as many counters as it had. What would say nothing now is void: events, schemas and settings of a
    /// history that was cut had counted all along, and of an object that is gone the edit is listed.
    ///
    /// - Parameters:
    ///   - isVoid: true for an operation that counts nowhere, of any device.
    ///   - cutAgain: lets a device go at what is held of it now.
    /// - Returns: false where something of what was taken back would count nowhere: its author is not let in yet by whose work it
    ///   is on. The change is to be taken back then.
    mutating func writeAgain(
        _ old: VoidChange, in change: inout Change, _ reading: some ObjectSource, _ places: inout [Rewriting],
        isVoid: @escaping (Dot) -> Bool, _ cutAgain: (CutFact) -> SyncModel.Operation
    ) throws(StoreError) -> Bool {
        switch old.reason {
        case .void(let mark?):
            places.append(mark.rewriting(at: change.origin.dot))
            try apply(.markRewriting(mark), in: &change, reading)
        case .void(nil): break
        case .takenBack(let before):
            places += (before + old.places(at: change.origin.dot)).filter { !places.contains($0) }
        }
        // Some of what its author had written before may stand under an earlier replica that wrote again.
        let before = places.map(\.new.replica).filter { !old.isTakenBack && $0.device == old.replica.device }
        let mapping = DotMapping(
            from: old.replica, to: change.origin.dot.replica, places, behind: before, isVoid: isVoid)
        var dot = Dot(replica: old.replica, counter: old.start)
        var skipped: UInt64 = 0
        for operation in old.operations {
            let origin = change.origin.advanced(by: skipped)
            if let again = try again(operation, at: dot, of: old, at: origin, mapping, reading, cutAgain) {
                if skipped > 0 { try apply(.void(span: skipped), in: &change, reading) }
                skipped = 0
                if old.isTakenBack, try !isAdmitted(again, at: origin, reading) { return false }
                try apply(again, in: &change, reading)
            } else {
                skipped += operation.span
            }
            dot = Dot(replica: dot.replica, counter: dot.counter + operation.span)
        }
        if skipped > 0 { try apply(.void(span: skipped), in: &change, reading) }
        return true
    }

    private mutating func isAdmitted(
        _ operation: SyncModel.Operation, at origin: Origin, _ reading: some ObjectSource
    ) throws(StoreError) -> Bool {
        try operation.work(at: origin) { key throws(StoreError) in try object(key, reading).state.lives }
            .allSatisfy { members.admits(origin, onWorkOf: $0.replica.device) }
    }

    /// - Parameters:
    ///   - origin: where it is said again.
    ///   - cutAgain: lets a device go at what is held of it now.
    private mutating func again(
        _ operation: SyncModel.Operation, at dot: Dot, of old: VoidChange, at origin: Origin, _ mapping: DotMapping,
        _ reading: some ObjectSource, _ cutAgain: (CutFact) -> SyncModel.Operation
    ) throws(StoreError) -> SyncModel.Operation? {
        let isTakenBack = old.isTakenBack
        var known = old.known
        // Work that counted nowhere anyway was kept aside when a history went (`WorkToRedo`).
        let then = Origin(dot: dot, stamp: .zero, context: known)
        if !isTakenBack, let life = operation.objectAction?.action.life(at: then),
            !members.admits(then, onWorkOf: life.replica.device)
        {
            return nil
        }
        // No other device has seen work that was taken back.
        if !isTakenBack { known.advance(dot.replica, to: dot.counter) }
        switch operation {
        case .editObject(let edit): return try again(edit, at: dot, of: old, known, at: origin, mapping, reading)
        case .editAgain(let again):
            // What it was judged by: also all of its own history so far, some of which may have counted.
            var judged = isTakenBack ? again.known.meet(known) : again.known
            judged.advance(dot.replica, to: known.next(of: dot.replica))
            if !isTakenBack { judged.join(mapping.places(ofAllIn: judged)) }
            return try self.again(again.edit, at: dot, of: old, judged, at: origin, mapping, reading)
        case .editAttachments(let edit):
            let birth = edit.life.birth(at: Self.origin(of: dot))
            guard let life = try life(birth, of: edit.object, mapping, reading) else {
                try list(edit.object, dot, old, reading)
                return nil
            }
            let moved: AttachmentSet.Operation =
                switch edit.edit {
                case .attach: edit.edit
                case .detach(let id): .detach(mapping(id))
                }
            if case .detach(let id) = moved, mapping.isMissing(id.dot(by: mapping.author), from: known) {
                try list(edit.object, dot, old, reading)
            }
            return .editAttachments(.init(object: edit.object, life: life, edit: moved))
        case .deleteObject(let deletion):
            // The user who deleted had not seen the others' later changes.
            let object = try object(deletion.object, reading)
            // Where it waits the deletion itself is there, but ends nothing of who has not let its author in.
            let itself = object.state.lives.deletions.contains { $0.dot == dot } ? dot : nil
            let isAsItWas = object.state.lives.touched.entries.allSatisfy {
                known.next(of: $0.replica) >= $0.next || itself.map($0.isLast) ?? false
                    || (isTakenBack ? mapping.isPlace($0) : $0.replica.device == dot.replica.device)
            }
            guard object.state.judgement.isThere else { return nil }
            if isAsItWas { return operation }
            try recordDroppedDeletion(of: deletion.object, by: dot.replica, at: old.wallMilliseconds, reading)
            return nil
        case .keepObject(let key):
            let judgement = try object(key, reading).state.judgement
            if judgement == .undecided { return operation }
            // The undecided state was decided otherwise.
            if !judgement.isThere { try list(key, dot, old, reading) }
            return nil
        // A device it had admitted was no member meanwhile, and is one again.
        case .addMember: return operation
        // What it stands beside is done again, too.
        case .acceptWork: return operation
        // A mark says of what stands behind it, counter by counter: so it does here.
        case .appendEvent, .editSchema, .setStream, .markRewriting: return isTakenBack ? operation : nil
        case .cut(let fact): return isTakenBack ? cutAgain(fact) : nil
        case .dropEvents(let drop):
            let events = drop.events.within(known)
            return isTakenBack && !events.isEmpty
                ? .dropEvents(.init(stream: drop.stream, events: events)) : nil
        case .settleCut, .trust, .void, .unknown: return nil
        }
    }

    private mutating func again(
        _ edit: SyncModel.Operation.ObjectEdit, at dot: Dot, of old: VoidChange, _ known: VersionVector,
        at origin: Origin, _ mapping: DotMapping, _ reading: some ObjectSource
    ) throws(StoreError) -> SyncModel.Operation? {
        if edit.life == .birth {
            let written = mapping.written(
                edit.edits, on: ObjectFields(), at: origin.advanced(by: 1), knowing: known)
            return .editObject(.init(object: edit.object, life: .birth, edits: written.edits))
        }
        let birth = edit.life.birth(at: Self.origin(of: dot))
        guard let life = try life(birth, of: edit.object, mapping, reading) else {
            try list(edit.object, dot, old, reading)
            return nil
        }
        let now = life.birth(at: origin)
        let fields = try object(edit.object, reading).state.fields(of: now) ?? ObjectFields()
        var known = known
        // All of it that the author had seen where the object began.
        if now != birth {
            known.advance(now.replica, to: now.counter + 1)
            known.join(mapping.place(in: now.replica, of: birth.replica, in: known))
        }
        let written = mapping.written(edit.edits, on: fields, at: origin, knowing: known)
        let isDone = try !leaves(of: edit, knowing: written.known, mapping, reading)
        if written.isLost || !isDone { try list(edit.object, dot, old, reading) }
        let moved = SyncModel.Operation.ObjectEdit(object: edit.object, life: life, edits: written.edits)
        // Where this device writes the life again nothing has been written apart from it: the others have not seen it.
        return now != birth && now.replica.device == origin.dot.replica.device
            ? .editObject(moved) : .editAgain(.init(moved, known: written.known))
    }

    /// True if the edit removes a field, a value or a key, and its author had seen what another device had written to that field and
    /// what is not there now: it stays where that device writes it again.
    private func leaves(
        of edit: SyncModel.Operation.ObjectEdit, knowing known: VersionVector, _ mapping: DotMapping,
        _ reading: some ObjectSource
    ) throws(StoreError) -> Bool {
        let fields = Set(edit.edits.compactMap(\.fieldOfRemoval))
        let last = known.entries.map { Dot(replica: $0.replica, counter: $0.next - 1) }
        guard !fields.isEmpty, last.contains(where: { mapping.isMissing($0, from: known) }) else { return false }
        return try reading.touches(of: edit.object).contains { touch in
            guard case .edit(_, let edits) = touch.action, mapping.isMissing(touch.origin.dot, from: known) else {
                return false
            }
            return edits.contains { if case .update(let key, _) = $0 { fields.contains(key) } else { false } }
        }
    }

    /// Returns an origin of which only the dot matters.
    private static func origin(of dot: Dot) -> Origin {
        Origin(dot: dot, stamp: .zero, context: VersionVector())
    }

    /// Nil for a life that is not here any more.
    private mutating func life(
        _ birth: Dot, of key: ObjectKey, _ mapping: DotMapping, _ reading: some ObjectSource
    ) throws(StoreError) -> SyncModel.Operation.LifeReference? {
        let now = mapping.place(of: birth) ?? birth
        let isHere = try object(key, reading).state.isThere(now)
        return isHere ? .init(to: now, by: mapping.author) : nil
    }

    /// An edit that comes too late: a person is told, here.
    private mutating func list(
        _ key: ObjectKey, _ dot: Dot, _ old: VoidChange, _ reading: some ObjectSource
    ) throws(StoreError) {
        try recordDroppedEdit(of: key, by: dot.replica, at: old.wallMilliseconds, reading)
    }
}

extension VersionVector.Entry {
    fileprivate func isLast(_ dot: Dot) -> Bool { replica == dot.replica && next == dot.counter + 1 }
}
