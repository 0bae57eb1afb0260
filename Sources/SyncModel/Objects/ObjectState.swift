/// The stored state of one object: its lives and deletions, and the fields and attachments of each life.
///
/// The data of a life stays, hidden, while a deletion may still be judged otherwise; what `deleteWins` ended is dropped at
/// once. Fields and attachments of one life never touch those of another: they are merged when read.
package struct ObjectState: Hashable, Sendable {
    package private(set) var lives = ObjectLives()
    /// The fields of each life in `lives`, in the same order.
    private(set) var fields: [ObjectFields] = []
    /// The attachments of each, in the same order.
    private(set) var attachments: [AttachmentSet] = []

    package init() {}

    init(lives: ObjectLives, fields: [ObjectFields], attachments: [AttachmentSet]) {
        precondition(
            lives.lives.count == fields.count && fields.count == attachments.count, "every life has its content")
        self.lives = lives
        self.fields = fields
        self.attachments = attachments
    }

    /// The effect of an operation on one object.
    package enum Action: Hashable, Sendable {
        case edit(Operation.LifeReference, [ObjectFields.Operation])
        /// An edit of attachments; never of a life that this operation begins.
        case editAttachments(Operation.LifeReference, AttachmentSet.Operation)
        case delete(DeletePolicy)
        case keep
    }

    /// The outcome of an operation.
    package enum Outcome: Hashable, Sendable {
        /// The operation counts. The dots are the births of the lives it was on; for a deletion, those that ended finally.
        case applied([Dot])
        /// A deletion that wins had ended the life: counted there if its author did not know of the deletion.
        case droppedWhileDeleted
        /// Covered by our vector but not here: it was collected, or there never was one.
        case unknownLife
        /// The operation has no effect on any node.
        case void
        case repeated
    }

    /// Applies one operation whose causal past is applied.
    ///
    /// - Parameter earlier: the births, edits and decisions of this object that were not void, from the caller's index;
    ///   asked for only when a deletion that wins arrives.
    package mutating func apply(
        _ action: Action, at origin: Origin, wallMilliseconds: Int64, members: MemberFacts,
        earlier: () -> [ObjectLives.EarlierEdit]
    ) -> Outcome {
        switch action {
        case .edit(let life, let edits):
            return edit(life, edits, at: origin, wallMilliseconds: wallMilliseconds, members: members)
        case .editAttachments(let life, let edit):
            return editAttachments(life, edit, at: origin, wallMilliseconds: wallMilliseconds, members: members)
        case .delete(let policy):
            let kept = lives.lives.map(\.birth)
            let gone = lives.delete(
                policy, at: origin.judged(byClock: wallMilliseconds), wallMilliseconds: wallMilliseconds,
                members: members, earlier: earlier)
            guard let gone else { return .repeated }
            for (index, birth) in kept.enumerated().reversed() where gone.contains(birth) {
                fields.remove(at: index)
                attachments.remove(at: index)
            }
            return .applied(gone)
        case .keep:
            let judged = origin.judged(byClock: wallMilliseconds)
            let kept = lives.keep(at: judged, wallMilliseconds: wallMilliseconds, members: members)
            guard let kept else { return .repeated }
            // A decision may answer a deletion and speak for no life: that is not nothing.
            return lives.touched.covers(judged.dot) ? .applied(kept) : .void
        }
    }

    private mutating func edit(
        _ life: Operation.LifeReference, _ edits: [ObjectFields.Operation], at origin: Origin, wallMilliseconds: Int64,
        members: MemberFacts
    ) -> Outcome {
        let span = Action.edit(life, edits).span
        let judged = origin.judged(byClock: wallMilliseconds)
        let admission =
            life == .birth
            ? lives.bear(at: judged, span: span, wallMilliseconds: wallMilliseconds)
            : lives.edit(
                life.birth(at: origin), at: judged, span: span, wallMilliseconds: wallMilliseconds, members: members)
        if case .applied(let birth) = admission {
            let index = index(of: birth)
            if life == .birth {
                fields.insert(ObjectFields(), at: index)
                attachments.insert(AttachmentSet(), at: index)
            }
            var place = life == .birth ? origin.advanced(by: 1) : origin
            for edit in edits {
                fields[index].apply(edit, at: place)
                place = place.advanced(by: ObjectFields.span(of: edit))
            }
        }
        return Outcome(admission)
    }

    private mutating func editAttachments(
        _ life: Operation.LifeReference, _ edit: AttachmentSet.Operation, at origin: Origin, wallMilliseconds: Int64,
        members: MemberFacts
    ) -> Outcome {
        guard life != .birth else { return .void }
        let admission = lives.edit(
            life.birth(at: origin), at: origin.judged(byClock: wallMilliseconds), span: AttachmentSet.span(of: edit),
            wallMilliseconds: wallMilliseconds, members: members)
        if case .applied(let birth) = admission {
            let index = origin.faults.contains(.attachToFirstLife) ? 0 : index(of: birth)
            attachments[index].apply(edit, at: origin)
        }
        return Outcome(admission)
    }

    /// Returns the index of a life that took an operation.
    private func index(of birth: Dot) -> Int {
        guard let index = lives.lives.firstIndex(where: { $0.birth == birth }) else {
            preconditionFailure("a life that took an operation is here")
        }
        return index
    }

    /// Changes the fields of one life where they are.
    mutating func changeFields(of birth: Dot, _ body: (inout ObjectFields) -> Void) {
        if let index = lives.lives.firstIndex(where: { $0.birth == birth }) { body(&fields[index]) }
    }

    package var isEmpty: Bool { lives.isEmpty }
    package var judgement: ObjectLives.Judgement { lives.judgement }

    /// True if a reader may find conflicts in the shown values. False is certain, and cheap to find.
    package var mayBeContested: Bool {
        fields.count != 1 || fields[0].mayBeContested
    }

    /// True if the life that `birth` began is there for readers, or waits for a decision.
    package func isThere(_ birth: Dot) -> Bool {
        switch judgement {
        case .live(let births): births.contains(birth)
        case .undecided: lives.lives.contains { $0.birth == birth }
        case .absent, .deleted: false
        }
    }

    /// The fields of the life that `birth` began; nil when it is not here.
    package func fields(of birth: Dot) -> ObjectFields? {
        lives.lives.firstIndex { $0.birth == birth }.map { fields[$0] }
    }

    /// The attachments of the life that `birth` began; nil when it is not here.
    package func attachments(of birth: Dot) -> AttachmentSet? {
        lives.lives.firstIndex { $0.birth == birth }.map { attachments[$0] }
    }

    /// Forgets deletions that are stable, and the lives they ended. See `ObjectLives.collect`.
    /// - Returns: whether anything went.
    package mutating func collect(where isStable: (Dot) -> Bool) -> Bool {
        let kept = lives.lives.map(\.birth)
        guard lives.collect(where: isStable) else { return false }
        let rest = Set(lives.lives.map(\.birth))
        fields = zip(kept, fields).filter { rest.contains($0.0) }.map(\.1)
        attachments = zip(kept, attachments).filter { rest.contains($0.0) }.map(\.1)
        return true
    }
}

extension ObjectState.Action {
    /// The number of counters it owns.
    package var span: UInt64 {
        switch self {
        case .edit(let life, let edits): edits.reduce(life == .birth ? 1 : 0) { $0 + ObjectFields.span(of: $1) }
        case .editAttachments(_, let edit): AttachmentSet.span(of: edit)
        case .delete, .keep: 1
        }
    }

    /// The one life that it is on; nil for what is on several.
    package var life: Operation.LifeReference? {
        switch self {
        case .edit(let life, _), .editAttachments(let life, _): life
        case .delete, .keep: nil
        }
    }
}

extension ObjectState.Outcome {
    fileprivate init(_ admission: ObjectLives.Admission) {
        self =
            switch admission {
            case .applied(let birth): .applied([birth])
            case .droppedWhileDeleted: .droppedWhileDeleted
            case .unknownLife: .unknownLife
            case .void: .void
            case .repeated: .repeated
            }
    }
}

extension Origin {
    /// Returns the origin by which deletions judge the operation: with its stamp, unless a bug is planted.
    fileprivate func judged(byClock wallMilliseconds: Int64) -> Origin {
        guard faults.contains(.policyReadsWallClock) else { return self }
        let stamp = Stamp.next(after: .zero, wallMilliseconds: wallMilliseconds) ?? stamp
        return Origin(dot: dot, stamp: stamp, context: context).planting(faults)
    }
}

extension Operation {
    /// Nil for operations that are not on one object.
    package var objectAction: (object: ObjectKey, action: ObjectState.Action)? {
        switch self {
        case .editObject(let edit): (edit.object, .edit(edit.life, edit.edits))
        case .editAttachments(let edit): (edit.object, .editAttachments(edit.life, edit.edit))
        case .deleteObject(let deletion): (deletion.object, .delete(deletion.policy))
        case .keepObject(let object): (object, .keep)
        case .editAgain(let again): (again.edit.object, .edit(again.edit.life, again.edit.edits))
        case .appendEvent, .addMember, .editSchema, .setStream, .cut, .markRewriting, .settleCut, .dropEvents, .trust,
            .acceptWork, .void, .unknown:
            nil
        }
    }

    /// The object with which the operation is found; nil for operations that are not about one object.
    package var touchedObject: ObjectKey? {
        if case .acceptWork(let work) = self { work.object } else { objectAction?.object }
    }
}
