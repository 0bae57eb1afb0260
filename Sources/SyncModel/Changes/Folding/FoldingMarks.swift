/// The operations of an open tail that have no effect any more, because a later operation that knows them undid all of it.
///
/// They are found from the end backwards. Only *earlier* operations become void; the later ones keep dot and content.
struct FoldingMarks {
    /// First counters of operations, of edits inside an operation on an object, and of events.
    private(set) var void: Set<UInt64> = []
    /// Objects whose edits were replaced: their state may not change by a byte.
    private(set) var edited: Set<ObjectKey> = []
    /// Objects of which something went because of a deletion.
    private(set) var deleted: Set<ObjectKey> = []
    /// Counters of events among `void`, ascending.
    private(set) var events: [UInt64] = []

    private enum Ending {
        /// The object exists in this tail alone: nothing of it is left.
        case whole
        /// The lives are known, so the deletion stays; it drops their data on every node.
        case edits
        /// A later operation keeps the object, or deletes it with a policy other than `deleteWins`: it makes no earlier edit
        /// void.
        case none
    }

    private struct Life: Hashable {
        let object: ObjectKey
        let birth: Dot
    }

    private struct EventKind: Hashable {
        let stream: ExactString
        let type: ExactString?
    }

    private let rules: Folding.Rules
    private let replica: ReplicaID
    private var endings: [ObjectKey: Ending] = [:]
    private var replaced: [Life: Set<ReplacedPlace>] = [:]
    private var removed: [Life: [[ReplacedPlace.Step]]] = [:]
    private var detached: [Life: Set<Dot>] = [:]
    private var newer: Set<EventKind> = []

    init(_ changes: [Change], of replica: ReplicaID, _ rules: Folding.Rules) {
        self.rules = rules
        self.replica = replica
        for change in changes.reversed() {
            let places = change.operationsWithCounters
            markEvents(of: places)
            for (counter, operation) in places.reversed() { mark(operation, at: counter) }
        }
        events.sort()
    }

    private mutating func mark(_ operation: Operation, at counter: UInt64) {
        switch operation {
        case .editObject(let edit): if mayChange(edit.object) { mark(edit, at: counter) }
        case .editAttachments(let edit): if mayChange(edit.object) { mark(edit, at: counter) }
        case .deleteObject(let deletion): if mayChange(deletion.object) { mark(deletion, at: counter) }
        case .keepObject(let object):
            if endings[object] == .whole { void.insert(counter) } else { endings[object] = Ending.none }
        case .appendEvent, .addMember, .editSchema, .setStream, .cut, .markRewriting, .editAgain, .settleCut,
            .dropEvents, .trust, .acceptWork, .void, .unknown:
            break
        }
    }

    private func mayChange(_ object: ObjectKey) -> Bool {
        !rules.keeps.contains(object) && !rules.steady.contains(object)
    }

    private mutating func mark(_ deletion: Operation.ObjectDeletion, at counter: UInt64) {
        switch endings[deletion.object] {
        case .whole: void.insert(counter)
        case .edits, .some(.none): break
        case nil:
            if rules.isUnknown(deletion.object) {
                endings[deletion.object] = .whole
                deleted.insert(deletion.object)
                void.insert(counter)
            } else if deletion.policy == .deleteWins {
                endings[deletion.object] = .edits
            } else {
                endings[deletion.object] = Ending.none
            }
        }
    }

    private mutating func mark(_ edit: Operation.ObjectEdit, at counter: UInt64) {
        switch endings[edit.object] {
        case .whole, .edits:
            deleted.insert(edit.object)
            void.formUnion(edit.counters(from: counter))
            return
        case nil, .some(.none): break
        }
        let origin = Origin(dot: Dot(replica: replica, counter: counter), stamp: .zero, context: VersionVector())
        let life = Life(object: edit.object, birth: edit.life.birth(at: origin))
        for (place, one) in zip(edit.editCounters(from: counter), edit.edits).reversed() {
            switch ReplacingEdit(one) {
            case .replaces(let target):
                if replaced[life]?.contains(target) ?? false || isRemoved(target.path, in: life) {
                    void.insert(place)
                    edited.insert(edit.object)
                } else {
                    replaced[life, default: []].insert(target)
                }
            case .removes(let path): removed[life, default: []].append(path)
            case .other: break
            }
        }
    }

    /// Marks an attachment that is detached later as void. The detachment stays.
    private mutating func mark(_ edit: Operation.AttachmentEdit, at counter: UInt64) {
        switch endings[edit.object] {
        case .whole, .edits:
            deleted.insert(edit.object)
            void.insert(counter)
            return
        case nil, .some(.none): break
        }
        let dot = Dot(replica: replica, counter: counter)
        let origin = Origin(dot: dot, stamp: .zero, context: VersionVector())
        let life = Life(object: edit.object, birth: edit.life.birth(at: origin))
        switch edit.edit {
        case .detach(let id): detached[life, default: []].insert(id.dot(by: replica))
        case .attach:
            guard detached[life]?.contains(dot) ?? false else { return }
            void.insert(counter)
            edited.insert(edit.object)
        }
    }

    private func isRemoved(_ path: [ReplacedPlace.Step], in life: Life) -> Bool {
        removed[life]?.contains { path.starts(with: $0) } ?? false
    }

    /// Marks the older events of streams that show only the newest event per type. A change keeps all of its events or none,
    /// so that the arrival numbers of the remaining events can be counted from the first.
    private mutating func markEvents(of places: [(counter: UInt64, operation: Operation)]) {
        var kinds: [EventKind] = []
        var counters: [UInt64] = []
        var allAreLatestOnly = true
        for (counter, operation) in places {
            guard case .appendEvent(let event) = operation else { continue }
            allAreLatestOnly = allAreLatestOnly && rules.isLatestOnly(event.stream)
            kinds.append(EventKind(stream: ExactString(event.stream), type: event.type.map { ExactString($0) }))
            counters.append(counter)
        }
        guard allAreLatestOnly, !kinds.isEmpty else { return }
        if newer.isSuperset(of: kinds) {
            void.formUnion(counters)
            events += counters
        }
        newer.formUnion(kinds)
    }
}

extension Change {
    /// The operations with the counters they begin at.
    var operationsWithCounters: [(counter: UInt64, operation: Operation)] {
        var counter = start
        return operations.map { operation in
            defer { counter += operation.span }
            return (counter, operation)
        }
    }
}

extension Operation.ObjectEdit {
    /// Returns the counter at which each edit begins, if the operation begins at `counter`.
    func editCounters(from counter: UInt64) -> [UInt64] {
        var next = counter + (life == .birth ? 1 : 0)
        return edits.map { edit in
            defer { next += ObjectFields.span(of: edit) }
            return next
        }
    }

    /// The birth, if it is one, and the edits.
    func counters(from counter: UInt64) -> [UInt64] {
        (life == .birth ? [counter] : []) + editCounters(from: counter)
    }
}
