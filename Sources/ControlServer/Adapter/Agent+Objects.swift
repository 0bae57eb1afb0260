package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Writing objects.
//
// Sizes, depth and numbers of values have been checked (`ValueRule`), and that fields are a JSON object. Any write may also
// throw `read_only`, `disk_full`, `store_failed`, `stopping`; any call `unknown_space`.
extension Agent {
    /// Puts an object in one change, durable on return; the answer is the object as it is then. Unchanged values are not
    /// written again, and a put that changes nothing writes nothing. Without an id the agent makes a fresh one.
    ///
    /// Throws `version_mismatch` (with `version`, nil without an object), `already_exists`, `object_deleted`, `undecided`,
    /// `catching_up`, `writing_again`, `type_mismatch`, `constant_field`, `number_out_of_range`; `not_found` where the schema says
    /// `"upsert":false` and the condition is not `absent`.
    package func put(space: String, _ put: ObjectPut) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let step = try await reading(if: put.condition.namesVersion) { () throws(ControlError) in try translated(put) }
        return try await entry(of: try await write([step]).steps.first)
    }

    /// Writes each put as a change of its own, in this order, in as few durable commits as it takes; at most
    /// `ControlLimits.groupEvents`. `count` counts the puts, also those that changed nothing; `first` and `last` are dots that
    /// were written. It stops at the first refused put: those before it are written and stay, none behind it is, and the
    /// error's `written` counts those before it. The same holds when a commit fails.
    package func put(space: String, all puts: [ObjectPut]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        let namesVersion = puts.contains { $0.condition.namesVersion }
        let steps = try await reading(if: namesVersion) { () throws(ControlError) in
            try puts.map { put throws(ControlError) in try translated(put) }
        }
        return try await writeEach(puts.count, row: UInt64.random(in: 0 ... .max)) { steps[$0] }
    }

    /// Edits an object in one change. Throws the errors of `put`, `not_found` without `create`, `index_out_of_range`,
    /// `type_mismatch` for an operation that the field's type does not have, and with `wholeCharacters` also
    /// `inside_character`.
    package func edit(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let step = try await reading(if: edit.condition.namesVersion) { () throws(ControlError) in
            try translated(edit)
        }
        return try await entry(of: try await write([step], editing: [edit]).steps.first)
    }

    /// Edits like `edit`, and returns the version without the object.
    package func editBriefly(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectVersion {
        try checkSpace(space)
        let step = try await reading(if: edit.condition.namesVersion) { () throws(ControlError) in
            try translated(edit, isBrief: true)
        }
        guard let version = try await write([step], editing: [edit]).steps.first?.version else {
            throw Self.missingOutcome
        }
        return ObjectVersion(id: edit.name.id, collection: edit.name.collection, version: DotText(version))
    }

    /// Deletes an object. Returns false, and writes nothing, when there is no such object. With `ifVersion` also `version_mismatch`.
    package func delete(space: String, _ name: ObjectName, ifVersion: DotText?) async throws(ControlError) -> Bool {
        try checkSpace(space)
        let version = try await reading(if: ifVersion != nil) { () throws(ControlError) in try dot(ifVersion) }
        return try await write([.delete(ObjectKey(name), ifVersion: version)]).steps.first?.changed ?? false
    }

    /// Does all steps as one change, each seeing those before it, or nothing. An error begins with `Operation N: `, N from 1.
    package func perform(_ transaction: Transaction) async throws(ControlError) -> TransactionResponse {
        try checkSpace(transaction.space)
        let edits = transaction.steps.map { step -> ObjectEdit? in if case .edit(let edit) = step { edit } else { nil }
        }
        let steps = try await steps(of: transaction)
        let outcome = try await write(steps, isTransaction: true, editing: edits)
        let readsStore = outcome.steps.contains { $0.key != nil }
        return TransactionResponse(
            results: try await reading(if: readsStore) { () throws(ControlError) in
                try results(of: transaction, outcome)
            })
    }

    /// Resolves a conflict. Returns false, and writes nothing, if there is no conflict that this would resolve. `set` replaces
    /// all values that are known here; it throws the errors of `edit`.
    package func resolve(
        space: String, _ name: ObjectName, _ resolution: ControlAPI.Resolution
    ) async throws(ControlError) -> Bool {
        try checkSpace(space)
        let decision: ObjectWrite.Resolution =
            switch resolution {
            case .keep: .keep
            case .delete: .delete
            case .dismiss: .dismiss
            case .set(let path, let value): .field(path.exactKeys, try JSONValue(value))
            }
        let outcome = try await write([.resolve(ObjectKey(name), decision)])
        return outcome.steps.first?.changed ?? false
    }

    // MARK: Translating

    private func steps(of transaction: Transaction) async throws(ControlError) -> [ObjectWrite] {
        let namesVersion = transaction.steps.contains(where: \.namesVersion)
        return try await reading(if: namesVersion) { () throws(ControlError) in
            var steps: [ObjectWrite] = []
            for (index, step) in transaction.steps.enumerated() {
                do throws(ControlError) { steps.append(try translated(step)) } catch {
                    throw error.concerning("Operation \(index + 1)")
                }
            }
            return steps
        }
    }

    private func translated(_ step: Transaction.Step) throws(ControlError) -> ObjectWrite {
        switch step {
        case .put(let put): return try translated(put)
        case .edit(let edit): return try translated(edit)
        case .delete(let name, let ifVersion): return .delete(ObjectKey(name), ifVersion: try dot(ifVersion))
        case .emit(let stream, let event): return ObjectWrite(event, to: stream)
        }
    }

    private func translated(_ put: ObjectPut) throws(ControlError) -> ObjectWrite {
        guard case .object(let fields) = try JSONValue(put.fields) else {
            throw ControlError(.typeMismatch, "Fields are a JSON object.", hint: "For example {\"title\":\"milk\"}.")
        }
        let id = put.id ?? Self.freshID()
        let key = ObjectKey(collection: ExactString(put.collection), id: ExactString(id))
        var wanted = ObjectWrite.Put(fields: fields, replacing: put.replace)
        switch put.condition {
        case .none: break
        case .version(let version): wanted.ifVersion = try dot(version)
        // A fresh id is new by itself; the request need not say so.
        case .absent: wanted.ifAbsent = true
        }
        if put.id == nil { wanted.ifAbsent = true }
        return .put(key, wanted)
    }

    private func translated(_ edit: ObjectEdit, isBrief: Bool = false) throws(ControlError) -> ObjectWrite {
        var edits: [FieldEdit] = []
        for operation in edit.operations { edits.append(try FieldEdit(operation)) }
        var options = ObjectWrite.EditOptions(
            creating: edit.create, keepsCharacters: edit.wholeCharacters, isBrief: isBrief)
        if case .version(let version) = edit.condition { options.ifVersion = try dot(version) }
        return .edit(ObjectKey(edit.name), edits, options)
    }

    /// 80 random bits in 16 characters that are easily told apart.
    private static func freshID() -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
        return String(decoding: (0..<16).map { _ in alphabet[Int.random(in: 0..<32)] }, as: UTF8.self)
    }

    /// The dot that a version names: its replica is one of those held. Another names nothing that could be current.
    func dot(_ text: DotText?) throws(ControlError) -> Dot? {
        guard let text else { return nil }
        let replica = try read { () throws(StoreError) in
            try store.state().tips.first { "\($0.replica)" == text.replica }?.replica
        }
        return Dot(replica: replica ?? ReplicaID(device: device, incarnation: 0), counter: text.counter)
    }

    // MARK: Answering

    private func entry(of step: WriteOutcome.Step?) async throws(ControlError) -> ObjectEntry {
        guard let step else { throw Self.missingOutcome }
        return try await reading { () throws(ControlError) in
            guard let entry = try shownEntry(of: step) else { throw .notShownAnyMore }
            return entry
        }
    }

    /// The object as a step left it; nil where it left nothing to see. Where the outcome is a remembered one without the
    /// object, it is read at its version, or as it is now where that is not kept any more.
    private func shownEntry(of step: WriteOutcome.Step) throws(ControlError) -> ObjectEntry? {
        if let object = step.object { return object.state.isShown ? try entry(of: object) : nil }
        guard let key = step.unread, let version = step.version else { throw Self.missingOutcome }
        do throws(ControlError) { return try entry(of: key.name, at: DotText(version)) } catch {
            guard error.code == .notFound else { throw error }
            return try? entry(of: key.name)
        }
    }

    private func results(
        of transaction: Transaction, _ outcome: WriteOutcome
    ) throws(ControlError) -> [TransactionResponse.Result] {
        var last: [ObjectKey: WriteOutcome.Step] = [:]
        for step in outcome.steps { if let key = step.key { last[key] = step } }
        var results: [TransactionResponse.Result] = []
        for (step, written) in zip(transaction.steps, outcome.steps) {
            var entry: ObjectEntry?
            if let left = written.key.flatMap({ last[$0] }) { entry = try shownEntry(of: left) }
            switch step {
            case .put: results.append(.put(entry))
            case .edit: results.append(.edit(entry))
            case .delete: results.append(.delete(written.changed))
            case .emit:
                guard let version = written.version else { throw Self.missingOutcome }
                results.append(.emit(DotText(version)))
            }
        }
        return results
    }
}

extension WriteOutcome.Step {
    /// The object that it wrote to.
    fileprivate var key: ObjectKey? { object?.key ?? unread }
}

extension WriteCondition {
    fileprivate var namesVersion: Bool {
        switch self {
        case .none, .absent: false
        case .version: true
        }
    }
}

extension Transaction.Step {
    /// True if it names a version, which only the store can find.
    fileprivate var namesVersion: Bool {
        switch self {
        case .put(let put): put.condition.namesVersion
        case .edit(let edit): edit.condition.namesVersion
        case .delete(_, let version): version != nil
        case .emit: false
        }
    }
}
