import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

// Between the words of the control API and those of the model. Values were checked on their way in, so what cannot be
// translated is a fault of ours and says so.

extension JSONValue {
    init(_ text: JSONText) throws(ControlError) {
        do throws(JSONValueError) { try self.init(text: text.bytes) } catch { throw ControlError(value: error) }
    }
}

extension JSONText {
    init(_ value: JSONValue) {
        var bytes: [UInt8] = []
        value.appendText(to: &bytes)
        self.init(checked: bytes)
    }
}

extension ControlError {
    init(value error: JSONValueError) {
        switch error {
        case .syntax: self.init(.malformedJSON, "This is not JSON.", hint: "Check quotes and brackets.")
        case .tooDeep:
            self.init(
                .tooDeep, "The value is nested more than \(JSONValue.maximumDepth) deep.",
                hint: "Split it into several objects that refer to each other.")
        case .numberOutOfRange:
            self.init(
                .numberOutOfRange, "A number does not fit 64 bits.", hint: "Write it as a string.")
        case .repeatedKey(let key):
            self.init(.malformedJSON, "The key \"\(key)\" occurs twice.", hint: "Keep one of them.")
        }
    }
}

extension SyncStore.ObjectQuery.Condition {
    init(_ condition: ObjectCondition) throws(ControlError) {
        switch condition {
        case .compare(let path, let comparison, let value):
            self = .compare(path.exactKeys, Comparison(comparison), try JSONValue(value))
        case .isIn(let path, let values):
            self = .isIn(path.exactKeys, try values.map { value throws(ControlError) in try JSONValue(value) })
        case .all(let conditions): self = .all(try Self.list(conditions))
        case .any(let conditions): self = .any(try Self.list(conditions))
        case .not(let condition): self = .not(try Self(condition))
        }
    }

    private static func list(_ conditions: [ObjectCondition]) throws(ControlError) -> [Self] {
        try conditions.map { condition throws(ControlError) in try Self(condition) }
    }
}

extension SyncStore.ObjectQuery.Condition.Comparison {
    fileprivate init(_ comparison: ObjectCondition.Comparison) {
        switch comparison {
        case .equal: self = .equal
        case .notEqual: self = .notEqual
        case .less: self = .less
        case .lessOrEqual: self = .lessOrEqual
        case .greater: self = .greater
        case .greaterOrEqual: self = .greaterOrEqual
        case .prefix: self = .prefix
        case .contains: self = .contains
        }
    }
}

extension ObjectKey {
    init(_ name: ObjectName) {
        self.init(collection: ExactString(name.collection), id: ExactString(name.id))
    }

    /// The key as one text, for cursors: everything before the first `/` is the collection.
    var cursor: String { "\(collection)/\(id)" }

    init(cursor: String) throws(ControlError) {
        do throws(ControlError) { self.init(try ObjectName(parsing: cursor)) } catch { throw .badCursor }
    }
}

extension FieldPath {
    var exactKeys: [ExactString] { keys.map { ExactString($0) } }
}

extension SyncModel.FieldEdit {
    init(_ operation: EditOperation) throws(ControlError) {
        let action: Action =
            switch operation.action {
            case .set(let value): .set(try JSONValue(value))
            case .increment(let amount): .increment(amount)
            case .unset: .unset
            case .add(let value): .add(try JSONValue(value))
            case .remove(let value): .remove(try JSONValue(value))
            case .insert(let index, let value): .insert(at: index, try JSONValue(value))
            case .delete(let index, let count): .delete(at: index, count: count)
            case .move(let origin, let target): .move(from: origin, to: target)
            }
        self.init(path: operation.path.exactKeys, action: action)
    }
}

extension StoredObject {
    /// Returns the object as readers see it, with the fields that belong to this node alone.
    func entry(_ reading: ObjectReading) -> ObjectEntry {
        ObjectEntry(
            id: key.id.string, collection: key.collection.string,
            fields: JSONText(.object(members(reading.fields))),
            version: version.map { DotText($0) } ?? DotText(replica: "", counter: 0))
    }

    private func members(_ shipped: [JSONValue.Member]) -> [JSONValue.Member] {
        guard !localFields.isEmpty else { return shipped }
        let names = Set(localFields.map(\.key))
        return (shipped.filter { !names.contains($0.key) } + localFields).sorted { $0.key < $1.key }
    }
}

extension ControlError {
    /// - Parameter isPut: whether the write was a `put`, which has other ways out.
    init(_ refusal: ObjectRefusal) {
        switch refusal {
        case .deleted: self = .objectDeleted
        case .undecided: self = .undecided
        case .catchingUp: self = .catchingUp
        case .writingAgain: self = .writingAgain
        case .versionMismatch(let current): self = .versionMismatch(current: current.map { DotText($0) })
        case .exists(let version): self = .alreadyExists(version.map { DotText($0) })
        case .notFound: self = .nothingToEdit
        case .creationRequired: self = .createsOnlyIfAbsent
        case .typeMismatch(let field, let expected): self = .typeMismatch(field, is: expected.rawValue)
        case .constant(let field): self = .constantField(field)
        case .indexOutOfRange(let field, let count): self = .indexOutOfRange(field, count: count)
        case .insideCharacter(let field, let offset, let start, let end):
            self = .insideCharacter(field, offset: offset, start: start, end: end)
        case .counterOverflow(let field):
            self.init(
                .numberOutOfRange, "The counter \"\(field)\" would leave 64 bits.", hint: "Count less at once.")
        case .tooDeep: self.init(value: .tooDeep)
        case .tooLarge(let limit):
            self.init(
                .tooLarge, "The write is larger than \(limit) bytes.",
                hint: "Split it, or attach large data as a file.")
        case .unknownOperation(let name):
            self.init(.unknownOperation, "There is no operation \"\(name)\".", hint: "See: lanyard edit --help")
        case .noSuchField(let field): self = .unknownField(field)
        case .invalidName(let name):
            self.init(.invalidName, "\"\(name)\" is no valid name.", hint: "Use 1 to 128 bytes without / or controls.")
        case .readOnly:
            self.init(
                .readOnly, "This device is a reader here; nothing was written.",
                hint: "An admin can change that: lanyard devices role NAME writer")
        case .unknownType(let field, let name):
            self.init(
                .schemaInvalid, "The field \"\(field)\" has the unknown type \"\(name)\".",
                hint: "Types: \(SchemaEntry.FieldType.known.map(\.rawValue).joined(separator: ", ")).")
        case .invalidSchema(let key):
            self.init(
                .schemaInvalid, "\"\(key)\" is not what a schema holds there.", hint: "See: lanyard schema set --help")
        case .keyReused: self = .idempotencyMismatch
        case .wouldLoseData(let field, let type): self = .schemaWouldLoseData(field, is: type.rawValue)
        }
    }
}
