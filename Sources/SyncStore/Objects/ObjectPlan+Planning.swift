package import SyncModel

extension ObjectPlan {
    /// Plans one write against the objects as this transaction has them by now, and applies what it comes to.
    ///
    /// - Parameter prepared: the same write, planned beside the writer.
    /// - Returns: why it is refused; what the change did so far is then to be taken back.
    package mutating func plan(
        _ write: ObjectWrite, _ prepared: PreparedWrite? = nil, in change: inout Change, _ reading: some ObjectSource
    ) throws(StoreError) -> ObjectRefusal? {
        switch write {
        case .put(let key, let put):
            return try plan(key, prepared, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.plan(put)
            }
        case .edit(let key, let edits, let options):
            return try plan(key, prepared, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.plan(edits, options)
            }
        case .delete(let key, let ifVersion):
            return try plan(key, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.planDeletion(ifVersion: ifVersion)
            }
        case .resolve(let key, let resolution):
            return try plan(key, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.plan(resolution)
            }
        case .attach(let key, _), .detach(let key, attachment: _):
            return try plan(key, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.plan(write) ?? PlannedWrite()
            }
        case .convert(let key, let field, let type):
            return try plan(key, in: &change, reading) { planner throws(ObjectRefusal) in
                try planner.planConversion(of: field, to: type)
            }
        case .setSchema(let collection, let wish): return try plan(collection, wish, in: &change, reading)
        case .appendEvent(let event):
            let dot = change.origin.dot
            try apply(.appendEvent(event), in: &change, reading)
            change.record(WriteOutcome.Step(version: dot, changed: true, object: nil))
            return nil
        case .accept(let work):
            let isWritten = !change.operations.isEmpty
            if isWritten { try apply(.acceptWork(work), in: &change, reading) }
            change.record(WriteOutcome.Step(version: nil, changed: isWritten, object: nil))
            return nil
        case .setStream(let setting):
            let dot = change.origin.dot
            try apply(.setStream(setting), in: &change, reading)
            change.record(WriteOutcome.Step(version: dot, changed: true, object: nil))
            return nil
        }
    }

    private mutating func plan(
        _ key: ObjectKey, _ prepared: PreparedWrite? = nil, in change: inout Change, _ reading: some ObjectSource,
        _ body: (ObjectPlanner) throws(ObjectRefusal) -> PlannedWrite
    ) throws(StoreError) -> ObjectRefusal? {
        if try reading.isArriving(key) { return .catchingUp }
        // Agents write what they keep as it counts: no person saw it otherwise.
        if let waiting, waiting.concerns(key), !key.isKeptByAgents { return .writingAgain }
        let planned: PlannedWrite
        if let ahead = try prepared.flatMap({ it throws(StoreError) in try moved(it, key, change.origin, reading) }) {
            planned = ahead
        } else {
            switch try lookAt(key, origin: change.origin, reading, body) {
            case .success(let write): planned = write
            case .failure(let refusal): return refusal
            }
        }
        for operation in planned.operations { try apply(operation, in: &change, reading) }
        let isLocal = setLocal(planned, of: key, at: change.wallMilliseconds)
        let after = try self.object(key, reading)
        change.record(
            WriteOutcome.Step(
                version: after.version, changed: isLocal || !planned.operations.isEmpty,
                object: planned.isBrief ? nil : after))
        return nil
    }

    /// Never inlined: what the planner looked at is let go of before it is changed, or a book would be copied.
    @inline(never)
    private mutating func lookAt(
        _ key: ObjectKey, origin: Origin, _ reading: some ObjectSource,
        _ body: (ObjectPlanner) throws(ObjectRefusal) -> PlannedWrite
    ) throws(StoreError) -> Result<PlannedWrite, ObjectRefusal> {
        let schema = try schema(of: key.collection, reading)
        let object = try object(key, reading)
        let planner = ObjectPlanner(
            key, object.state, localFields: object.localFields, version: object.version, schema: schema,
            origin: origin, members: members)
        do throws(ObjectRefusal) { return .success(try body(planner)) } catch { return .failure(error) }
    }

    /// Never inlined, as `lookAt`.
    @inline(never)
    private mutating func moved(
        _ prepared: PreparedWrite, _ key: ObjectKey, _ origin: Origin, _ reading: some ObjectSource
    ) throws(StoreError) -> PlannedWrite? {
        let schema = try schema(of: key.collection, reading)
        let object = try object(key, reading)
        return prepared.planned(
            for: object, schema, at: origin, members, checking: !faults.contains(.plansGrowOld))
    }

    private mutating func plan(
        _ collection: ExactString, _ wish: JSONValue, in change: inout Change, _ reading: some ObjectSource
    ) throws(StoreError) -> ObjectRefusal? {
        let schema = try schema(of: collection, reading) ?? CollectionSchema()
        let edit: Operation.SchemaEdit?
        do throws(ObjectRefusal) { edit = try schema.setting(wish, collection: collection) } catch { return error }
        guard let edit else {
            change.record(WriteOutcome.Step(version: nil, changed: false, object: nil))
            return nil
        }
        if let loss = try hidden(by: schema.typeChanges(by: edit), in: collection, reading) { return loss }
        let dot = change.origin.dot
        try apply(.editSchema(edit), in: &change, reading)
        change.record(WriteOutcome.Step(version: dot, changed: true, object: nil))
        return nil
    }

    /// The first field that an object shows in a type in which it would not be shown any more. Looks at every object of the
    /// collection, once.
    private func hidden(
        by changes: [CollectionSchema.TypeChange], in collection: ExactString, _ reading: some ObjectSource
    ) throws(StoreError) -> ObjectRefusal? {
        guard !changes.isEmpty else { return nil }
        var loss: ObjectRefusal?
        func look(at object: StoredObject) {
            for field in object.state.mergedFields {
                guard let change = changes.first(where: { $0.field == field.key }),
                    let part = field.value.parts.first(where: { change.to != .replicated($0.type) })
                else { continue }
                loss = .wouldLoseData(field: field.key.string, from: part.type)
            }
        }
        let pending = changed.filter { $0.object.key.collection == collection }
        for entry in pending where loss == nil { look(at: entry.object) }
        let seen = Set(pending.map(\.object.key))
        if loss == nil {
            try reading.objects(of: collection) { object throws(StoreError) in
                if !seen.contains(object.key) { look(at: object) }
                return loss == nil
            }
        }
        return loss
    }
}
