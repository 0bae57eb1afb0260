import SyncModel

/// The values that readers see in an object, each read once for all conditions that ask for it.
final class FieldValues {
    let object: StoredObject
    private let schema: CollectionSchema?
    private var known: [[ExactString]: JSONValue?] = [:]

    init(_ object: StoredObject, _ schema: CollectionSchema?) {
        self.object = object
        self.schema = schema
    }

    func value(at path: [ExactString]) -> JSONValue? {
        if let value = known[path] { return value }
        let value = object.value(at: path, schema)
        known[path] = .some(value)
        return value
    }
}
