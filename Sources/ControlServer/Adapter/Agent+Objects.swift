package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Writing objects.
extension Agent {
    package func put(space: String, _ put: ObjectPut) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(put)])
        return try await entry(of: outcome.steps.first)
    }

    package func put(space: String, all puts: [ObjectPut]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        var response = EmitResponse(count: 0, first: nil, last: nil)
        let row = UInt64.random(in: 0 ... .max)
        for start in stride(from: 0, to: puts.count, by: Limits.changesPerGroup) {
            var writes: [LocalWrite] = []
            for index in start..<min(start + Limits.changesPerGroup, puts.count) {
                writes.append(.planned([try write(puts[index])], row: row).once(at: index))
            }
            let outcomes: [Result<WriteOutcome, WriteRefusal>]
            do { outcomes = try await self.write(writes) } catch {
                throw ControlError(agent: error, directory: configuration.dataDirectory).having(response.count)
            }
            try response.count(outcomes)
        }
        return response
    }

    package func edit(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(edit)], editing: [edit])
        return try await entry(of: outcome.steps.first)
    }

    package func editBriefly(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectVersion {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(edit, isBrief: true)], editing: [edit])
        guard let version = outcome.steps.first?.version else { throw Self.missing }
        return ObjectVersion(id: edit.name.id, collection: edit.name.collection, version: DotText(version))
    }

    package func delete(space: String, _ name: ObjectName, ifVersion: DotText?) async throws(ControlError) -> Bool {
        try checkSpace(space)
        let outcome = try await writeObjects([.delete(ObjectKey(name), ifVersion: try dot(ifVersion))])
        return outcome.steps.first?.changed ?? false
    }

    package func perform(_ transaction: Transaction) async throws(ControlError) -> TransactionResponse {
        try checkSpace(transaction.space)
        var writes: [ObjectWrite] = []
        for (index, step) in transaction.steps.enumerated() {
            do throws(ControlError) { writes.append(try write(step)) } catch {
                throw error.concerning("Operation \(index + 1)")
            }
        }
        let edits = transaction.steps.map { step -> ObjectEdit? in if case .edit(let edit) = step { edit } else { nil }
        }
        let outcome = try await writeObjects(writes, isTransaction: true, editing: edits)
        var last: [ObjectKey: WriteOutcome.Step] = [:]
        for step in outcome.steps { if let key = step.key { last[key] = step } }
        var results: [TransactionResponse.Result] = []
        for (step, written) in zip(transaction.steps, outcome.steps) {
            var entry: ObjectEntry?
            if let left = written.key.flatMap({ last[$0] }) { entry = try await shownEntry(of: left) }
            switch step {
            case .put: results.append(.put(entry))
            case .edit: results.append(.edit(entry))
            case .delete: results.append(.delete(written.changed))
            case .emit:
                guard let version = written.version else { throw Self.missing }
                results.append(.emit(DotText(version)))
            }
        }
        return TransactionResponse(results: results)
    }

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
        let outcome = try await writeObjects([.resolve(ObjectKey(name), decision)])
        return outcome.steps.first?.changed ?? false
    }

    // MARK: Translating

    private func write(_ step: Transaction.Step) throws(ControlError) -> ObjectWrite {
        switch step {
        case .put(let put): return try write(put)
        case .edit(let edit): return try write(edit)
        case .delete(let name, let ifVersion): return .delete(ObjectKey(name), ifVersion: try dot(ifVersion))
        case .emit(let stream, let event):
            return .appendEvent(.init(stream: stream, type: event.type, payload: event.payload.bytes))
        }
    }

    private func write(_ put: ObjectPut) throws(ControlError) -> ObjectWrite {
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

    private func write(_ edit: ObjectEdit, isBrief: Bool = false) throws(ControlError) -> ObjectWrite {
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
        do throws(StoreError) {
            let replica = try store.state().tips.first { "\($0.replica)" == text.replica }?.replica
            return Dot(replica: replica ?? ReplicaID(device: device, incarnation: 0), counter: text.counter)
        } catch {
            throw ControlError(agent: error, directory: configuration.dataDirectory)
        }
    }

    // MARK: Writing

    /// Returns the remembered outcome of the request's key; nil for a new one.
    func rememberedOutcome() throws(ControlError) -> WriteOutcome? {
        guard let key = WriteKey.ofRequest(at: 0) else { return nil }
        let known = try stored { () throws(StoreError) in
            try store.answeredWrite(key.name, wallMilliseconds: WallClock.milliseconds)
        }
        guard let known else { return nil }
        guard known.key == key else { throw .idempotencyMismatch }
        return known.outcome
    }

    /// - Parameters:
    ///   - once: whether it is the write that the request's key stands for.
    ///   - edits: those among the writes that are edits, to say what fits in place of one that does not.
    func writeObjects(
        _ writes: [ObjectWrite], isTransaction: Bool = false, once: Bool = true, editing edits: [ObjectEdit?] = []
    ) async throws(ControlError) -> WriteOutcome {
        let planned = LocalWrite.planned(writes)
        let outcomes = try await controlled { try await write([once ? planned.once(at: 0) : planned]) }
        switch outcomes.first {
        case .success(let outcome): return outcome
        case .failure(let refusal):
            let edit = edits.indices.contains(refusal.step) ? edits[refusal.step] : nil
            let error = edit.map { self.refusal(refusal, of: $0) } ?? ControlError(refusal.reason)
            throw isTransaction ? error.concerning("Operation \(refusal.step + 1)") : error
        case nil: throw Self.missing
        }
    }

    private static var missing: ControlError {
        ControlError(.internalFault, "The store did not say what became of a write.", hint: "See `lanyard logs`.")
    }

    private func entry(of step: WriteOutcome.Step?) async throws(ControlError) -> ObjectEntry {
        guard let step else { throw Self.missing }
        guard let entry = try await shownEntry(of: step) else { throw .notShownAnyMore }
        return entry
    }

    /// The object as a step left it; nil where it left nothing to see. Where the outcome is a remembered one without the
    /// object, it is read at its version, or as it is now where that is not kept any more.
    private func shownEntry(of step: WriteOutcome.Step) async throws(ControlError) -> ObjectEntry? {
        if let object = step.object { return object.state.isShown ? try entry(of: object) : nil }
        guard let key = step.unread, let version = step.version else { throw Self.missing }
        do throws(ControlError) { return try await object(space: Self.homeName, key.name, at: DotText(version)) } catch
        {
            guard error.code == .notFound else { throw error }
            return try? await object(space: Self.homeName, key.name)
        }
    }
}

extension WriteOutcome.Step {
    /// The object that it wrote to.
    fileprivate var key: ObjectKey? { object?.key ?? unread }
}

extension LocalWrite {
    /// The same under the key of the request's write at `index`; itself where that has none.
    func once(at index: Int) -> LocalWrite {
        WriteKey.ofRequest(at: index).map { .once($0, self) } ?? self
    }
}

extension WriteKey {
    /// Nil where the request's write at `index` has none.
    fileprivate static func ofRequest(at index: Int) -> WriteKey? {
        guard RequestKey.ofWrites.indices.contains(index), let key = RequestKey.ofWrites[index] else { return nil }
        return WriteKey(text: key.text, request: key.content)
    }
}

extension EmitResponse {
    /// Counts the writes of a group. Throws at the first that was refused.
    mutating func count(_ outcomes: [Result<WriteOutcome, WriteRefusal>]) throws(ControlError) {
        // A dot as text is 70 characters of base32: written for the last of a group, not for each.
        var last: Dot?
        for outcome in outcomes {
            switch outcome {
            case .failure(let refusal): throw ControlError(refusal.reason).having(count)
            case .success(let written):
                count += 1
                first = first ?? written.dots.map { DotText($0.lowerBound) }
                last = written.dots?.upperBound ?? last
            }
        }
        self.last = last.map { DotText($0) } ?? self.last
    }
}

extension ControlError {
    fileprivate func having(_ written: Int) -> ControlError {
        ControlError(code, message, hint: hint, written: written, version: version)
    }
}
