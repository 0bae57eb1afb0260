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
    /// Objects that are known to have changed since their values were read.
    private(set) var current: [ObjectName: ObjectEntry] = [:]

    init(space: String) { self.space = space }

    /// Saves an object; see ``Lanyard/save(_:)->_``. Throws what a value is refused for.
    public mutating func save<Object: LanyardObject>(_ object: Object) throws(ControlError) {
        let name = try Self.name(object)
        let fields = try FieldCoding.fields(object)
        guard let reading = object.id.origin?.reading(in: space) else {
            return append(.create(name, fields, origin: object.id.origin), of: Object.self)
        }
        // Written anew as this struct writes it, so that only what the application changed differs.
        let base = try FieldCoding.fields(try FieldCoding.value(Object.self, fields: reading.fields, id: name.id))
        let edits = try FieldEdit.edits(from: base, to: fields, of: try ObjectType.of(Object.self))
        append(.edit(name, edits, version: reading.version, origin: object.id.origin), of: Object.self)
    }

    /// Deletes an object everywhere; an object that is not there stays so.
    public mutating func delete<Object: LanyardObject>(_ object: Object) throws(ControlError) {
        append(.delete(try Self.name(object)), of: Object.self)
    }

    /// Appends an event to the stream of its type.
    public mutating func emit<Event: LanyardEvent>(_ event: Event) throws(ControlError) {
        let draft = try EventDraft(checking: try FieldCoding.json(event), type: event.eventType)
        writes.append(.emit(stream: Event.stream, draft))
    }

    static func name<Object: LanyardObject>(_ object: Object) throws(ControlError) -> ObjectName {
        try ObjectName(collection: Object.collection, id: object.id.text)
    }

    /// Appends a write of an object. One without edits is left out.
    ///
    /// - Parameter current: the object as it is now, if it changed since the value was read.
    mutating func append(_ write: PendingWrite, of type: any LanyardObject.Type, current: ObjectEntry? = nil) {
        guard let name = write.name else { return }
        objects[name] = type
        self.current[name] = current
        if case .edit(_, let edits, _, _) = write, edits.isEmpty { return }
        writes.append(write)
    }
}

/// A write of a transaction that is not sent yet.
enum PendingWrite: Sendable {
    /// A value that the application made: all of its fields.
    case create(ObjectName, JSONText, origin: Origin?)
    /// A value that was read, as of a version: what changed in it.
    case edit(ObjectName, [FieldEdit], version: DotText, origin: Origin?)
    case delete(ObjectName)
    case emit(stream: String, EventDraft)

    /// True if the write names places in a text or list, which holds for one version of the object only.
    var isBoundToVersion: Bool {
        guard case .edit(_, let edits, _, _) = self else { return false }
        return edits.contains { if case .sequence = $0 { true } else { false } }
    }

    /// Returns the step that is sent.
    ///
    /// - Parameter current: the object as it is now, if it changed since it was read.
    func step(current: ObjectEntry?) throws(ControlError) -> Transaction.Step {
        switch self {
        case .create(let name, let fields, _):
            return .put(try ObjectPut(collection: name.collection, id: name.id, fields: fields))
        case .edit(let name, let edits, let version, _):
            let fields = try current.map { entry throws(ControlError) in try FieldCoding.document(entry.fields) }
            var operations: [EditOperation] = []
            for edit in edits {
                switch edit {
                case .operation(let operation): operations.append(operation)
                case .sequence(let path, let base, let changed):
                    let other = fields.flatMap { $0.value(at: path) } ?? base
                    let merged = SequenceValue.merge(base: base, changed: changed, other: other)
                    operations.append(try EditOperation(path, .set(merged.json)))
                }
            }
            let condition = isBoundToVersion ? WriteCondition.version(current?.version ?? version) : .none
            return .edit(try ObjectEdit(name, operations, condition: condition))
        case .delete(let name): return .delete(name, ifVersion: nil)
        case .emit(let stream, let draft): return .emit(stream: stream, draft)
        }
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
