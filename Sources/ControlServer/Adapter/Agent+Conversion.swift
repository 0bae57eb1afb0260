package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// Fields that get another type, with the values that are there.
extension Agent {
    /// Returns the values that would have to be converted so that the schema can be set; nothing is written. Throws
    /// `schema_would_lose_data` if a value cannot be converted.
    package func conversions(
        space: String, for schema: SchemaEntry
    ) async throws(ControlError) -> [SchemaConversion] {
        try checkSpace(space)
        return try await reading { () throws(ControlError) in try found(for: schema).rows }
    }

    /// Converts them, each object in a change of its own, and sets the schema. What was converted before an error stays so.
    package func convert(space: String, to schema: SchemaEntry) async throws(ControlError) -> SchemaEntry {
        try checkSpace(space)
        // What others write meanwhile is converted by a further round; the last one finds nothing and sets the schema.
        for _ in 0..<3 {
            let writes = try await reading { () throws(ControlError) in try found(for: schema).writes }
            for start in stride(from: 0, to: writes.count, by: Limits.changesPerGroup) {
                let part = writes[start..<min(start + Limits.changesPerGroup, writes.count)]
                let outcomes = try await commit(part.map { .planned([$0]) })
                for case .failure(let refusal) in outcomes { throw ControlError(refusal.reason) }
            }
            do throws(ControlError) { return try await setSchema(space: space, schema) } catch {
                guard error.code == .schemaWouldLoseData else { throw error }
            }
        }
        return try await setSchema(space: space, schema)
    }

    /// Returns the values of the collection that a new schema would hide; reads each object once.
    private func found(for schema: SchemaEntry) throws(ControlError) -> FoundConversions {
        let collection = ExactString(schema.collection)
        let known = try read { () throws(StoreError) in try store.schema(of: collection, space: .home) }
        var found = FoundConversions(schema)
        guard !found.wanted.isEmpty else { return found }
        let query = SyncStore.ObjectQuery(
            space: .home, collection: collection, selection: .standing(.live), limit: 256)
        try forEachObject(of: query) { object throws(ControlError) in try found.look(at: object, known) }
        return found
    }
}

/// The values of a collection that a new schema would hide, and the writes that carry them over.
private struct FoundConversions {
    var rows: [SchemaConversion] = []
    var writes: [ObjectWrite] = []
    let wanted: [(field: ExactString, type: FieldType)]

    init(_ schema: SchemaEntry) {
        wanted = schema.fields.compactMap { field in
            FieldType(rawValue: field.type.rawValue).map { (ExactString(field.name), $0) }
        }
    }

    mutating func look(at object: StoredObject, _ schema: CollectionSchema?) throws(ControlError) {
        for (field, type) in wanted {
            let value = object.state.mergedField(field)
            guard value.parts.contains(where: { $0.type != type }),
                let shown = value.shown(preferring: schema?[field]?.kind.type)
            else { continue }
            let json = shown.content.json
            guard type != .constant, type.takes(json) else {
                throw .cannotConvert("\(object.key.collection)/\(object.key.id)", field.string, to: type.rawValue)
            }
            add(object.key, field, from: shown.type, to: type, repeats: type.holdsEachOnce && json.repeatsElements)
        }
    }

    private mutating func add(
        _ key: ObjectKey, _ field: ExactString, from: FieldType, to type: FieldType, repeats: Bool
    ) {
        writes.append(.convert(key, field: field, to: type))
        let (from, to) = (
            SchemaEntry.FieldType(rawValue: from.rawValue), SchemaEntry.FieldType(rawValue: type.rawValue)
        )
        let known = rows.firstIndex { $0.field == field.string && $0.from == from }
        if known == nil {
            rows.append(
                SchemaConversion(
                    field: field.string, from: from, to: to, objects: 0, repeating: 0,
                    example: "\(key.collection)/\(key.id)"))
        }
        rows[known ?? rows.count - 1].objects += 1
        if repeats { rows[known ?? rows.count - 1].repeating += 1 }
    }
}

extension FieldType {
    fileprivate var holdsEachOnce: Bool {
        switch self {
        case .set, .addOnlySet, .orderedSet: true
        case .register, .constant, .counter, .list, .text, .dictionary: false
        }
    }
}

extension JSONValue {
    fileprivate var repeatsElements: Bool {
        guard case .array(let elements) = self else { return false }
        return Set(elements).count < elements.count
    }
}
