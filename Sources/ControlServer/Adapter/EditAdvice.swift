package import ControlAPI
import SyncAgent
package import SyncModel
import SyncStore

/// The operation to type in place of an edit that does not fit a field's type.
package struct EditAdvice {
    let operation: EditOperation
    let collection: String
    let type: FieldType
    let value: JSONValue?

    /// - Parameter value: what the field shows.
    package init(operation: EditOperation, collection: String, type: FieldType, value: JSONValue?) {
        self.operation = operation
        self.collection = collection
        self.type = type
        self.value = value
    }

    private var path: String { operation.path.description }

    package var error: ControlError { ControlError(.typeMismatch, "\(subject)\(predicate)", hint: hint) }

    private var subject: String { "\"\(path)\" is a \(noun)" }

    private var noun: String {
        switch type {
        case .register:
            switch value {
            case .integer, .double: "plain number"
            case .string: "plain text value"
            case .null, .bool, .array, .object, nil: "plain value"
            }
        case .constant: "constant"
        case .counter: "counter"
        case .set: "set"
        case .addOnlySet: "set that only grows"
        case .list: "list"
        case .orderedSet: "ordered set"
        case .text: "text"
        case .dictionary: "dictionary"
        }
    }

    private var predicate: String {
        switch operation.action {
        case .set, .unset: ", and takes \(takes)."
        case .increment: "; += needs a counter."
        case .add: "; .add works on sets."
        case .remove: "; .remove works on sets."
        case .insert: "; .insert works on lists and texts."
        case .delete: "; .delete works on lists and texts."
        case .move: "; .move works on lists."
        }
    }

    private var takes: String {
        switch type {
        case .register, .constant: "any value"
        case .counter: "a whole number"
        case .set, .addOnlySet, .list, .orderedSet: "a JSON array"
        case .text: "a JSON string"
        case .dictionary: "a JSON object"
        }
    }

    private var hint: String {
        switch (operation.action, type) {
        case (.increment(let amount), .register):
            guard case .integer(let number)? = value, !number.addingReportingOverflow(amount).overflow else { break }
            return "Set it: \(path)=\(number + amount). \(toConvert("counter"))"
        case (.add(let element), .list):
            return "To append: \(path).insert@\(count)=\(text(element)). \(toConvert("set"))"
        case (.add(let element), .text): return "To append: \(path).insert@\(count)=\(text(element))"
        case (.remove(let element), .list):
            guard let place = place(of: element) else { break }
            return "To take it out: \(path).delete@\(place):1. \(toConvert("set"))"
        case (.insert(_, let element), .set), (.insert(_, let element), .addOnlySet):
            return "To add it: \(path).add=\(text(element))"
        case (.delete, .set): return "To take one out: \(path).remove=VALUE"
        case (.set, .counter), (.set, .set), (.set, .addOnlySet), (.set, .list), (.set, .orderedSet), (.set, .text),
            (.set, .dictionary):
            return "Another type: lanyard schema set \(collection) \(path)=TYPE"
        case (_, .register), (_, .constant): return "Set it as a whole: \(path)=VALUE"
        case (_, _): break
        }
        return "See the types: lanyard schema show \(collection)"
    }

    private func toConvert(_ type: String) -> String {
        operation.path.keys.count == 1
            ? "To make it a \(type): lanyard schema set \(collection) \(path)=\(type)" : ""
    }

    private var count: Int {
        switch value {
        case .array(let elements): elements.count
        case .string(let text): text.string.unicodeScalars.count
        case .null, .bool, .integer, .double, .object, nil: 0
        }
    }

    private func place(of element: JSONText) -> Int? {
        guard case .array(let elements)? = value, let wanted = try? JSONValue(element) else { return nil }
        return elements.firstIndex(of: wanted)
    }

    /// Returns the element as a user types it: a word without quotes if that is enough.
    private func text(_ element: JSONText) -> String {
        guard case .string(let word)? = try? JSONValue(element), !word.string.isEmpty,
            word.string.utf8.allSatisfy({ $0 >= 0x80 || ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A })
        else { return element.description }
        return word.string
    }
}

extension Agent {
    /// Returns the refusal of an edit, with an operation that fits the field in its place.
    func refusal(_ refusal: WriteRefusal, of edit: ObjectEdit) -> ControlError {
        let plain = ControlError(refusal.reason)
        guard case .typeMismatch(let field, let type) = refusal.reason,
            let operation = edit.operations.first(where: {
                $0.path.description == field && $0.isOfAnotherType(than: type)
            })
        else { return plain }
        let object = try? shownObject(edit.name)
        let value = object.flatMap { object -> JSONValue? in
            let schema = try? store.schema(of: object.key.collection, space: .home)
            return JSONValue.object(object.reading(schema ?? nil) { _ in true }.fields).value(at: operation.path)
        }
        return EditAdvice(operation: operation, collection: edit.name.collection, type: type, value: value).error
    }
}

extension EditOperation {
    fileprivate func isOfAnotherType(than type: FieldType) -> Bool {
        switch (action, type) {
        case (.increment, .counter), (.add, .set), (.remove, .set), (.insert, .list), (.delete, .list), (.move, .list):
            false
        case (_, _): true
        }
    }
}

extension JSONValue {
    fileprivate func value(at path: FieldPath) -> JSONValue? {
        var value: JSONValue? = self
        for key in path.keys {
            switch value {
            case .array(let elements): value = Int(key).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            case .object: value = value?[ExactString(key)]
            case .null, .bool, .integer, .double, .string, nil: return nil
            }
        }
        return value
    }
}
