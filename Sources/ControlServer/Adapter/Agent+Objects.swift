package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Writing objects.
extension Agent {
    package func put(space: String, _ put: ObjectPut) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(put)])
        return try entry(of: outcome.steps.first)
    }

    package func put(space: String, all puts: [ObjectPut]) async throws(ControlError) -> EmitResponse {
        try checkSpace(space)
        var response = EmitResponse(count: 0, first: nil, last: nil)
        let row = UInt64.random(in: 0 ... .max)
        for start in stride(from: 0, to: puts.count, by: Limits.changesPerGroup) {
            var writes: [LocalWrite] = []
            for put in puts[start..<min(start + Limits.changesPerGroup, puts.count)] {
                writes.append(.planned([try write(put)], row: row))
            }
            let outcomes: [Result<WriteOutcome, WriteRefusal>]
            do { outcomes = try await self.write(writes) } catch {
                throw ControlError(agent: error, directory: configuration.dataDirectory).having(response.count)
            }
            var last: Dot?
            for outcome in outcomes {
                switch outcome {
                case .failure(let refusal): throw ControlError(refusal.reason).having(response.count)
                case .success(let written):
                    response.count += 1
                    response.first = response.first ?? written.dots.map { DotText($0.lowerBound) }
                    last = written.dots?.upperBound ?? last
                }
            }
            // A dot as text is 70 characters of base32: written for the last of a group, not for each.
            response.last = last.map { DotText($0) } ?? response.last
        }
        return response
    }

    package func edit(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectEntry {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(edit)])
        return try entry(of: outcome.steps.first)
    }

    package func editBriefly(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectVersion {
        try checkSpace(space)
        let outcome = try await writeObjects([try write(edit, isBrief: true)])
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
        let outcome = try await writeObjects(writes, isTransaction: true)
        var last: [ObjectKey: StoredObject] = [:]
        for object in outcome.steps.compactMap(\.object) { last[object.key] = object }
        var results: [TransactionResponse.Result] = []
        for (step, written) in zip(transaction.steps, outcome.steps) {
            let left = written.object.flatMap { last[$0.key] }
            let entry = try left.flatMap { object throws(ControlError) in
                object.state.isShown ? try self.entry(of: object) : nil
            }
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
        // A fresh id is new by itself, and nobody has to say so.
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

    func writeObjects(
        _ writes: [ObjectWrite], isTransaction: Bool = false
    ) async throws(ControlError) -> WriteOutcome {
        let outcomes = try await controlled { try await write([.planned(writes)]) }
        switch outcomes.first {
        case .success(let outcome): return outcome
        case .failure(let refusal):
            let error = ControlError(refusal.reason)
            throw isTransaction ? error.concerning("Operation \(refusal.step + 1)") : error
        case nil: throw Self.missing
        }
    }

    private static var missing: ControlError {
        ControlError(.internalFault, "The store did not say what became of a write.", hint: "See `lanyard logs`.")
    }

    private func entry(of step: WriteOutcome.Step?) throws(ControlError) -> ObjectEntry {
        guard let object = step?.object else { throw Self.missing }
        return try entry(of: object)
    }
}

extension ControlError {
    fileprivate func having(_ written: Int) -> ControlError {
        ControlError(code, message, hint: hint, written: written, version: version)
    }
}
