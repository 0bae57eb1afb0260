package import LawHistories
package import SyncModel
package import SyncStore

/// Every operation on objects and schemas that a node holds, as a plain set with dots, contexts and stamps: read anew from
/// the bytes of its log, without the store's own reading of it. Checkers judge by this what the node shows.
package struct ObjectLedger {
    /// An operation on one object.
    package struct Entry {
        package let action: ObjectState.Action
        package let rule: DeletionRules.Entry
    }

    package private(set) var objects: [ObjectKey: [Entry]] = [:]
    package private(set) var schemas: [ExactString: [(origin: Origin, edit: Operation.SchemaEdit)]] = [:]
    private var additions: [DeletionRules.Entry] = []
    private let cuts: ObviousCuts
    /// Devices of which some work may be void for some author: those that a retirement or a statement is about, and those that they
    /// let in.
    private let endable: Set<DeviceID>
    /// Every replica, by its number in the reference models.
    package let cast: Cast

    /// - Parameter past: what was written before what the store holds as changes.
    package init(_ store: SQLiteStore, past: WrittenChanges? = nil) throws(StoreError) {
        let replicas = try store.logState().tips.map(\.replica)
        cast = Cast(replicas)
        let histories = try WrittenChanges.held(by: store, past)
        let known = try store.logState()
        var endable = Set(known.cuts.cuts.map(\.fact.device) + known.cuts.trust.rows.compactMap(\.statement.device))
        while true {
            let more = known.members.additions.filter { endable.contains($0.dot.replica.device) }.map(\.device)
            if endable.isSuperset(of: more) { break }
            endable.formUnion(more)
        }
        self.endable = endable
        var firsts = FirstContexts()
        for history in histories {
            guard let first = history.changes.first, first.isBeginning else { continue }
            firsts.record(VersionVector(first.context), of: history.replica)
        }
        let inherited = histories.map { firsts.inherited(by: $0.replica) }
        cuts = ObviousCuts(
            try store.logState().cuts,
            zip(histories, inherited).flatMap { history, inherited in
                var context = inherited
                return history.changes.map { change in
                    context.join(VersionVector(change.context))
                    return ObviousCuts.Written(
                        start: Dot(replica: history.replica, counter: change.segment.start), context: context)
                }
            })
        for (history, inherited) in zip(histories, inherited) {
            var context = inherited
            for change in history.changes { read(change.segment, &context) }
        }
    }

    /// - Parameter context: what the author of the change read last had seen; only what moved since is in the next one.
    private mutating func read(_ segment: Segment, _ context: inout VersionVector) {
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            context.join(VersionVector(view.context))
            view.forEachOperation(in: segment.bytes) { counter, operation in
                let origin = Origin(
                    dot: Dot(replica: segment.replica, counter: counter), stamp: view.stamp, context: context)
                let operation = Operation(operation, in: segment.bytes)
                if operation.objectAction != nil, cuts.isVoid(origin.dot) { return }
                if operation.isSchemaEdit, cuts.isStrictlyVoid(origin.dot) { return }
                take(operation, at: operation.judged(at: origin), view.wallMilliseconds)
            }
        }
    }

    private mutating func take(_ operation: SyncModel.Operation, at origin: Origin, _ wallMilliseconds: Int64) {
        func rule(_ step: DeletionRules.Step) -> DeletionRules.Entry {
            DeletionRules.Entry(step: step, origin: origin, wallMilliseconds: wallMilliseconds)
        }
        switch operation {
        case .editObject(let edit):
            let step: DeletionRules.Step = edit.life == .birth ? .birth : .edit(edit.life.birth(at: origin))
            objects[edit.object, default: []].append(
                Entry(action: .edit(edit.life, edit.edits), rule: rule(step)))
        case .editAttachments(let edit):
            objects[edit.object, default: []].append(
                Entry(
                    action: .editAttachments(edit.life, edit.edit), rule: rule(.edit(edit.life.birth(at: origin)))))
        case .deleteObject(let deletion):
            objects[deletion.object, default: []].append(
                Entry(action: .delete(deletion.policy), rule: rule(.delete(deletion.policy))))
        case .keepObject(let key): objects[key, default: []].append(Entry(action: .keep, rule: rule(.keep)))
        case .editSchema(let edit): schemas[edit.collection, default: []].append((origin, edit))
        case .addMember(let fact): additions.append(rule(.member(fact.device)))
        case .editAgain(let again): take(.editObject(again.edit), at: origin, wallMilliseconds)
        case .appendEvent, .setStream, .cut, .markRewriting, .settleCut, .dropEvents, .trust, .acceptWork, .void,
            .unknown:
            break
        }
    }

    /// Returns the operations on the object, by their dots.
    func log(of key: ObjectKey) -> String {
        (objects[key] ?? []).map { "\($0.rule.dot) \($0.rule.step)" }.joined(separator: ", ")
    }

    func mayBeVoid(_ device: DeviceID) -> Bool { endable.contains(device) }

    package func rules(of key: ObjectKey) -> DeletionRules {
        DeletionRules(entries: (objects[key] ?? []).map(\.rule) + additions)
    }
}

extension SyncModel.Operation {
    fileprivate var isSchemaEdit: Bool { if case .editSchema = self { true } else { false } }
}
