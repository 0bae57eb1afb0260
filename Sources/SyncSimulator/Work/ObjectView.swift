import SyncModel
import SyncStore

/// An object as the application that writes to it sees it.
struct ObjectView {
    /// The fields, one for each type. Without a schema the type of a field follows from the first write.
    static let fields: [(name: ExactString, type: FieldType)] = [
        ("title", .register), ("made", .constant), ("plays", .counter), ("tags", .set), ("names", .addOnlySet),
        ("steps", .list), ("order", .orderedSet), ("body", .text), ("config", .dictionary),
    ]

    private var values: [ExactString: (type: FieldType, json: JSONValue)] = [:]
    private let schema: CollectionSchema?

    init(_ object: StoredObject?, _ schema: CollectionSchema?) {
        self.schema = schema
        for member in object?.state.mergedFields ?? [] {
            guard let shown = member.value.shown(preferring: schema?[member.key]?.kind.type) else { continue }
            values[member.key] = (shown.type, shown.content.json)
        }
    }

    var isLive: Bool { !values.isEmpty }

    subscript(field: ExactString) -> JSONValue? { values[field]?.json }

    /// Nil: as the application likes.
    func type(of field: ExactString) -> FieldType? { schema?[field]?.kind.type ?? values[field]?.type }
}
