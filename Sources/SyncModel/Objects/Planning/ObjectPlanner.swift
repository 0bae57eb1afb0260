/// Turns an application's request into the least operations that fulfil it, against one object in its present state.
///
/// It is pure: it reads only its arguments and changes nothing. The store plans and applies inside one transaction, so
/// nothing comes between reading and writing.
package struct ObjectPlanner {
    let key: ObjectKey
    let object: ObjectState
    private let localFields: [JSONValue.Member]
    private let version: Dot?
    let schema: CollectionSchema?
    /// The origin of the next operation.
    let origin: Origin
    private let members: MemberFacts

    /// Creates a planner for one object.
    ///
    /// - Parameters:
    ///   - localFields: Sorted by name.
    ///   - version: The last operation applied to the object on this node.
    ///   - schema: Nil while no schema is set.
    ///   - origin: The origin of the first operation.
    package init(
        _ key: ObjectKey, _ object: ObjectState, localFields: [JSONValue.Member], version: Dot?,
        schema: CollectionSchema?, origin: Origin, members: MemberFacts
    ) {
        self.key = key
        self.object = object
        self.localFields = localFields
        self.version = version
        self.schema = schema
        self.origin = origin
        self.members = members
    }

    /// A write to one object.
    ///
    /// - Returns: nil for what is not one: a schema, an event, a stream's setting.
    package func plan(_ write: ObjectWrite) throws(ObjectRefusal) -> PlannedWrite? {
        switch write {
        case .put(_, let put): try plan(put)
        case .edit(_, let edits, let options): try plan(edits, options)
        case .delete(_, let ifVersion): try planDeletion(ifVersion: ifVersion)
        case .resolve(_, let resolution): try plan(resolution)
        case .attach(_, let file): try planAttaching(file)
        case .detach(_, let attachment): try planDetaching(attachment)
        case .convert(_, let field, let type): try planConversion(of: field, to: type)
        case .setSchema, .appendEvent, .setStream, .accept: nil
        }
    }

    // MARK: Put

    /// An upsert: fields that are not named stay, `null` is a value.
    ///
    /// With `replacing`, fields and keys that are not named are removed, local ones too: it reads afterwards as it was put.
    /// Constants stay.
    package func plan(_ put: ObjectWrite.Put) throws(ObjectRefusal) -> PlannedWrite { try planPut(put, under: schema) }

    func planPut(_ put: ObjectWrite.Put, under schema: CollectionSchema?) throws(ObjectRefusal) -> PlannedWrite {
        for field in put.fields { try ValueLimits.check(field.value, level: 1) }
        var edits = try editsForPut(ifVersion: put.ifVersion, ifAbsent: put.ifAbsent)
        let shipped = put.fields.filter { !isLocal($0.key) }
        try edits.step(schema) { place throws(ObjectRefusal) in
            try place.assign(shipped, replacing: put.replacing)
        }
        var written = PlannedWrite()
        written.operations = try edits.operations(members, at: origin)
        var local = put.replacing || !isLive ? [] : localFields
        for field in put.fields where isLocal(field.key) { local = local.setting(field.key, to: field.value) }
        if local != localFields { written.localFields = local }
        return written
    }

    private func editsForPut(ifVersion: Dot?, ifAbsent: Bool) throws(ObjectRefusal) -> LifeEdits {
        let judgement = object.judgement
        switch judgement {
        case .undecided: throw .undecided
        case .live(let births):
            if ifAbsent { throw .exists(version: version) }
            try check(ifVersion)
            return LifeEdits(key, in: object, births: births, from: origin)
        case .absent, .deleted:
            if object.lives.isBarred { throw .deleted }
            if ifVersion != nil { throw .versionMismatch(current: nil) }
            return try birth(isAsked: ifAbsent)
        }
    }

    private func check(_ ifVersion: Dot?) throws(ObjectRefusal) {
        if let ifVersion, ifVersion != version { throw .versionMismatch(current: version) }
    }

    /// A new life, where there may be one.
    private func birth(isAsked: Bool) throws(ObjectRefusal) -> LifeEdits {
        if object.lives.isBarred { throw .deleted }
        if schema?.upsert == false {
            guard object.judgement == .absent else { throw .deleted }
            guard isAsked else { throw .creationRequired }
        }
        return LifeEdits(key, bornAt: origin)
    }

    // MARK: Edit

    /// Each edit sees those before it; all or none.
    package func plan(
        _ fieldEdits: [FieldEdit], _ options: ObjectWrite.EditOptions
    ) throws(ObjectRefusal) -> PlannedWrite {
        for edit in fieldEdits { try ValueLimits.check(edit) }
        var edits = try editsForEdit(options)
        var local = isLive ? localFields : []
        for var edit in fieldEdits {
            edit.keepsCharacters = options.keepsCharacters
            if isLocal(edit.path[0]) {
                var value = PlainValue(local.value(of: edit.path[0]), path: [edit.path[0]])
                try value.perform(edit, at: edit.path.dropFirst())
                if let json = value.json { try ValueLimits.check(json, level: 1) }
                local = local.setting(edit.path[0], to: value.json)
            } else {
                try edits.step(schema) { place throws(ObjectRefusal) in try place.perform(edit, at: edit.path[...]) }
            }
        }
        var written = PlannedWrite()
        written.operations = try edits.operations(members, at: origin)
        if local != localFields { written.localFields = local }
        written.isBrief = options.isBrief
        return written
    }

    private func editsForEdit(_ options: ObjectWrite.EditOptions) throws(ObjectRefusal) -> LifeEdits {
        switch object.judgement {
        case .undecided: throw .undecided
        case .live(let births):
            try check(options.ifVersion)
            return LifeEdits(key, in: object, births: births, from: origin)
        case .absent:
            if options.ifVersion != nil { throw .versionMismatch(current: nil) }
            guard options.creating else { throw .notFound }
            return try birth(isAsked: false)
        case .deleted:
            guard options.creating, options.ifVersion == nil else { throw .deleted }
            return try birth(isAsked: false)
        }
    }

    // MARK: Delete

    /// Plans a deletion. An object that is gone needs none, whatever version it had.
    package func planDeletion(ifVersion: Dot?) throws(ObjectRefusal) -> PlannedWrite {
        var written = PlannedWrite()
        switch object.judgement {
        case .absent, .deleted: break
        case .undecided: throw .undecided
        case .live:
            try check(ifVersion)
            try checkAdmission(to: object.lives.lives.map(\.birth))
            written.operations = [deletion]
        }
        return written
    }

    private var deletion: Operation {
        .deleteObject(Operation.ObjectDeletion(object: key, policy: schema?.deletePolicy ?? .deleteWins))
    }

    // MARK: Resolve

    package func plan(_ resolution: ObjectWrite.Resolution) throws(ObjectRefusal) -> PlannedWrite {
        var written = PlannedWrite()
        switch resolution {
        case .dismiss: written.dismisses = true
        case .keep:
            guard object.judgement == .undecided else { break }
            try checkAdmission(to: object.lives.lives.map(\.birth) + object.lives.deletions.map(\.dot))
            written.operations = [.keepObject(key)]
        case .delete:
            guard object.judgement == .undecided else { break }
            try checkAdmission(to: object.lives.lives.map(\.birth))
            written.operations = [deletion]
        case .field(let path, let value): written.operations = try resolving(path, value)
        }
        return written
    }

    /// Throws `catchingUp` if this device's admission does not count on the work yet: its decision or deletion would be void.
    private func checkAdmission(to work: [Dot]) throws(ObjectRefusal) {
        guard work.allSatisfy({ members.admits(origin, onWorkOf: $0.replica.device) }) else { throw .catchingUp }
    }

    /// Plans the resolution of a field; empty if nothing contradicts it. Another device may have decided meanwhile.
    private func resolving(_ path: [ExactString], _ value: JSONValue) throws(ObjectRefusal) -> [Operation] {
        var edit = FieldEdit(path: path, action: .set(value))
        edit.resolves = true
        try ValueLimits.check(edit)
        switch object.judgement {
        case .absent: throw .notFound
        case .deleted: throw .deleted
        case .undecided: throw .undecided
        case .live(let births):
            guard !isLocal(path[0]), object.isContested(at: path, schema) else { return [] }
            var edits = LifeEdits(key, in: object, births: births, from: origin)
            try edits.step(schema) { place throws(ObjectRefusal) in try place.perform(edit, at: path[...]) }
            return try edits.operations(members, at: origin)
        }
    }

    // MARK: Attachments

    /// Plans an attachment to the first of the shown lives.
    package func planAttaching(_ file: AttachedFile) throws(ObjectRefusal) -> PlannedWrite {
        guard file.name.string.utf8.count <= Limits.attachmentNameBytes else {
            throw .tooLarge(limitBytes: Limits.attachmentNameBytes)
        }
        switch object.judgement {
        case .absent: throw .notFound
        case .deleted: throw .deleted
        case .undecided: throw .undecided
        case .live(let births):
            var written = PlannedWrite()
            written.operations = [try operation(.attach(file), on: births[0])]
            return written
        }
    }

    package func planDetaching(_ attachment: Dot) throws(ObjectRefusal) -> PlannedWrite {
        var written = PlannedWrite()
        switch object.judgement {
        case .absent, .deleted: break
        case .undecided: throw .undecided
        case .live(let births):
            let life = births.first { object.attachments(of: $0)?.contains(attachment) ?? false }
            if let life {
                let id = DotReference(attachment, by: origin.dot.replica)
                written.operations = [try operation(.detach(id), on: life)]
            }
        }
        return written
    }

    private func operation(_ edit: AttachmentSet.Operation, on life: Dot) throws(ObjectRefusal) -> Operation {
        guard members.admits(origin, onWorkOf: life.replica.device) else { throw .catchingUp }
        let reference = Operation.LifeReference(to: life, by: origin.dot.replica)
        return .editAttachments(Operation.AttachmentEdit(object: key, life: reference, edit: edit))
    }

    // MARK: Both kinds of fields

    private var isLive: Bool {
        if case .live = object.judgement { true } else { false }
    }

    private func isLocal(_ field: ExactString) -> Bool { schema?[field]?.kind == .local }
}

extension [JSONValue.Member] {
    fileprivate func value(of key: ExactString) -> JSONValue? { JSONValue.object(self)[key] }
}
