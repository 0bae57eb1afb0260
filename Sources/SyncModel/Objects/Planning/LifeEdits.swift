/// The operations of one write to an object, life by life.
///
/// Operations follow each other from `origin` on, and each is planned against what those before it left: so it knows its
/// own dots.
struct LifeEdits {
    private struct Life {
        let reference: Operation.LifeReference
        let fields: PlannedFields
    }

    private let object: ObjectKey
    /// The lives in the order in which they are shown.
    private let lives: [Life]
    private let isBirth: Bool
    /// The origin of the next operation.
    private var origin: Origin
    private var edits: [(life: Operation.LifeReference, operations: [ObjectFields.Operation])] = []

    /// Begins a write to present lives.
    init(_ object: ObjectKey, in state: ObjectState, births: [Dot], from origin: Origin) {
        self.object = object
        self.origin = origin
        isBirth = false
        lives = births.compactMap { birth in
            state.fields(of: birth).map { fields in
                Life(
                    reference: Operation.LifeReference(to: birth, by: origin.dot.replica),
                    fields: PlannedFields(fields, at: origin))
            }
        }
    }

    /// Begins a write to a life that begins with it; the birth owns the first counter.
    init(_ object: ObjectKey, bornAt origin: Origin) {
        self.object = object
        self.origin = origin.advanced(by: 1)
        isBirth = true
        lives = [Life(reference: .birth, fields: PlannedFields(ObjectFields(), at: self.origin))]
    }

    /// Plans one step of the write, in every life: each sees what all of them held before the step.
    mutating func step(
        _ schema: CollectionSchema?, _ body: (DictionaryPlace) throws(ObjectRefusal) -> Void
    ) throws(ObjectRefusal) {
        let before = lives.count > 1 ? lives.map(\.fields.value) : nil
        for (index, life) in lives.enumerated() {
            try body(
                DictionaryPlace(
                    life.fields.draft(at: origin), path: [], schema: schema,
                    lives: before.map { MergedLives(dictionaries: $0, mine: index) }))
            origin = life.fields.origin
            append(life.fields.take(), to: life.reference)
        }
    }

    private mutating func append(_ operations: [ObjectFields.Operation], to life: Operation.LifeReference) {
        guard !operations.isEmpty else { return }
        if let last = edits.indices.last, edits[last].life == life {
            edits[last].operations += operations
        } else {
            edits.append((life, operations))
        }
    }

    /// Throws `tooLarge` when no change could hold it, and `catchingUp` when an edit would be void on every node.
    func operations(_ members: MemberFacts, at start: Origin) throws(ObjectRefusal) -> [Operation] {
        let all = isBirth && edits.isEmpty ? [(.birth, [])] : edits
        var operations: [Operation] = []
        var byteCount = 0
        for (life, nestedEdits) in all {
            guard members.admits(start, onWorkOf: life.birth(at: start).replica.device) else { throw .catchingUp }
            for nested in nestedEdits {
                let count = nested.canonicalBytes.count
                guard count <= Limits.editBytes else { throw .tooLarge(limitBytes: Limits.payloadBytes) }
                byteCount += count
            }
            // What names the object and the life beside the edits.
            byteCount += Limits.nameBytes + Limits.objectIDBytes + ReplicaID.byteCount + 32
            operations.append(.editObject(Operation.ObjectEdit(object: object, life: life, edits: nestedEdits)))
        }
        guard byteCount <= Limits.operationsBytes else { throw .tooLarge(limitBytes: Limits.payloadBytes) }
        return operations
    }
}
