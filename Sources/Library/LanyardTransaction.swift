import ControlAPI
import LanyardClient

/// Writes that are done together: all of them, or none, as one change on every device.
///
/// ```swift
/// try await home.transaction { writes in
///     try writes.save(todo)
///     try writes.delete(old)
///     try writes.emit(Played(track: 7))
/// }
/// ```
public struct LanyardTransaction: Sendable {
    let space: String
    private(set) var writes: [PendingWrite] = []
    /// The objects that are written, with their types, each once.
    private(set) var objects: [ObjectName: any LanyardObject.Type] = [:]

    init(space: String) { self.space = space }

    /// Saves an object; see ``Lanyard/save(_:)->_``. Of a value that is saved twice, the later save counts.
    ///
    /// Throws what a value is refused for, and `invalid_argument` for two values that were read apart, or a deleted one.
    public mutating func save<Object: LanyardObject>(_ object: Object) throws(ControlError) {
        let name = try Self.name(object)
        let (fields, type) = (try FieldCoding.fields(object), try ObjectType.of(Object.self))
        guard let reading = object.id.origin?.reading(of: name, in: space) else {
            let standard = try FieldCoding.fields(Object())
            let edits = try FieldEdit.edits(from: standard, to: fields, raw: standard, of: type)
            return try append(.create(name, fields, otherwise: edits, origin: object.id.origin), of: Object.self)
        }
        let edits = try FieldEdit.edits(to: fields, from: reading.fields, Object.self, id: name.id)
        try append(
            .edit(name, edits, version: reading.version, sent: fields, origin: object.id.origin), of: Object.self)
    }

    /// Deletes an object everywhere; an object that is not there stays so.
    public mutating func delete<Object: LanyardObject>(_ object: Object) throws(ControlError) {
        try append(.delete(try Self.name(object)), of: Object.self)
    }

    /// Appends an event to the stream of its type.
    public mutating func emit<Event: LanyardEvent>(_ event: Event) throws(ControlError) {
        let draft = try EventDraft(checking: try FieldCoding.json(event), type: event.eventType)
        writes.append(.emit(stream: Event.stream, draft))
    }

    static func name<Object: LanyardObject>(_ object: Object) throws(ControlError) -> ObjectName {
        try ObjectName(collection: Object.collection, id: object.id.text)
    }

    /// Appends a write of an object. One without edits is left out, and one that says more than an earlier one replaces it.
    mutating func append(_ write: PendingWrite, of type: any LanyardObject.Type) throws(ControlError) {
        guard let name = write.name else { return }
        if let index = writes.firstIndex(where: { $0.name == name }) {
            guard let origin = write.origin, writes[index].origin === origin else {
                throw ControlError(
                    .invalidArgument, "\(name) is written twice in one transaction.",
                    hint: "Change one value of it, and save that.")
            }
            writes.remove(at: index)
        }
        objects[name] = type
        if case .edit(_, let edits, _, _, _) = write, edits.isEmpty { return }
        writes.append(write)
    }
}

/// A write of a transaction that is not sent yet.
enum PendingWrite: Sendable {
    /// A value that the application made: all of its fields, and if the object is there already, what differs from the
    /// defaults.
    case create(ObjectName, JSONText, otherwise: [FieldEdit], origin: Origin?)
    /// A value that was read, as of a version: what changed in it, and the fields as they are then.
    case edit(ObjectName, [FieldEdit], version: DotText?, sent: JSONText?, origin: Origin?)
    case delete(ObjectName)
    case emit(stream: String, EventDraft)

    var name: ObjectName? {
        switch self {
        case .create(let name, _, _, _), .edit(let name, _, _, _, _), .delete(let name): name
        case .emit: nil
        }
    }

    var origin: Origin? {
        switch self {
        case .create(_, _, _, let origin), .edit(_, _, _, _, let origin): origin
        case .delete, .emit: nil
        }
    }

    /// The fields that the value has.
    var sent: JSONText? {
        switch self {
        case .create(_, let fields, _, _): fields
        case .edit(_, _, _, let fields, _): fields
        case .delete, .emit: nil
        }
    }

    /// True if the write holds for one version of its object only: it names places in a text or list, or that the object is
    /// absent.
    var isConditional: Bool {
        switch self {
        case .create: true
        case .edit(_, let edits, _, _, _): edits.contains(where: \.isSequence)
        case .delete, .emit: false
        }
    }

    /// True if the object must be read before the write can be sent.
    var needsReading: Bool {
        guard case .edit(_, let edits, nil, _, _) = self else { return false }
        return edits.contains(where: \.isSequence)
    }

    /// True for an edit that holds for one version of its object, if that was looked for and is not there.
    func isEditOfAbsent(in current: [ObjectName: ObjectEntry]) -> Bool {
        guard case .edit(let name, _, _, _, _) = self, isConditional else { return false }
        return current[name] == nil
    }

    /// Returns the step that is sent.
    ///
    /// - Parameters:
    ///   - current: the object as it is now, if it was read.
    ///   - isPinned: true if the write is to be refused where the object is another than that.
    func step(current: ObjectEntry?, isPinned: Bool) throws(ControlError) -> Transaction.Step {
        switch self {
        case .create(let name, let fields, let edits, _):
            guard let current else {
                return .put(
                    try ObjectPut(collection: name.collection, id: name.id, fields: fields, condition: .absent))
            }
            guard !edits.isEmpty else {
                // It has what the value says, and is the answer.
                return .put(
                    try ObjectPut(
                        collection: name.collection, id: name.id, fields: JSONText(checked: Array("{}".utf8)),
                        condition: .version(current.version)))
            }
            return .edit(
                try ObjectEdit(
                    name, try Self.operations(edits, current), condition: .version(current.version)))
        case .edit(let name, let edits, let version, _, _):
            let known = isPinned || isConditional ? current?.version ?? version : nil
            return .edit(
                try ObjectEdit(
                    name, try Self.operations(edits, current), condition: known.map { .version($0) } ?? .none))
        case .delete(let name): return .delete(name, ifVersion: isPinned ? current?.version : nil)
        case .emit(let stream, let draft): return .emit(stream: stream, draft)
        }
    }

    private static func operations(
        _ edits: [FieldEdit], _ current: ObjectEntry?
    ) throws(ControlError) -> [EditOperation] {
        let fields = try current.map { entry throws(ControlError) in try FieldCoding.document(entry.fields) }
        var operations: [EditOperation] = []
        for edit in edits {
            switch edit {
            case .operation(let operation): operations.append(operation)
            case .sequence(let path, let base, let changed):
                let other = fields.map { $0.value(at: path) ?? base.emptied } ?? base
                let merged = SequenceValue.merge(base: base, changed: changed, other: other)
                operations.append(try EditOperation(path, .set(merged.json)))
            }
        }
        return operations
    }
}

extension JSONDocument {
    /// The text or list at a path of keys; nil for none.
    fileprivate func value(at path: FieldPath) -> SequenceValue? {
        var node = root
        for key in path.keys {
            guard case .object(let members) = node.kind, let member = members.first(where: { $0.key == key })
            else { return nil }
            node = member.value
        }
        return SequenceValue(node, in: self)
    }
}
