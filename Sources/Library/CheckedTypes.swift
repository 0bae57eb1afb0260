import ControlAPI
import LanyardClient
import Synchronization

/// The types whose schema was compared with that of the mesh, by one connection.
final class CheckedTypes: Sendable {
    private let types = Mutex<Set<ObjectIdentifier>>([])

    func contains(_ type: any LanyardObject.Type) -> Bool { types.withLock { $0.contains(ObjectIdentifier(type)) } }
    func insert(_ type: any LanyardObject.Type) { types.withLock { _ = $0.insert(ObjectIdentifier(type)) } }
}

extension Lanyard {
    /// Compares the fields of `type` with the schema that the mesh has for its collection, and adds those that it lacks.
    ///
    /// Throws `type_mismatch` where the mesh has another type for a field: objects of such a struct would not merge as it says.
    func check<Object: LanyardObject>(_ type: Object.Type) async throws(ControlError) {
        if checked.contains(type) { return }
        let wanted = try wantedSchema(of: type)
        let found = try await foundSchema(of: Object.collection)
        let missing = try Self.addition(to: found, wanted: wanted, type: "\(Object.self)")
        if let missing { _ = try await client.setSchema(missing, space: space) }
        checked.insert(type)
    }

    private func wantedSchema<Object: LanyardObject>(of type: Object.Type) throws(ControlError) -> SchemaEntry {
        var indexed: [String] = []
        for path in Object.indexed { indexed.append(try FieldNames.path(path).description) }
        return try ObjectType.of(type)
            .entry(of: Object.collection, deletePolicy: Object.deletePolicy, indexed: indexed)
    }

    private func foundSchema(of collection: String) async throws(ControlError) -> SchemaEntry {
        do throws(ControlError) { return try await client.schema(of: collection, space: space) } catch {
            guard error.code == .unknownCollection else { throw error }
            return SchemaEntry(collection: collection)
        }
    }

    /// Returns what `found` lacks of `wanted`; nil for nothing.
    private static func addition(
        to found: SchemaEntry, wanted: SchemaEntry, type: String
    ) throws(ControlError) -> SchemaEntry? {
        var addition = SchemaEntry(collection: wanted.collection)
        for field in wanted.fields {
            guard let there = found.fields.first(where: { $0.name == field.name }) else {
                addition.fields.append(field)
                continue
            }
            guard there.type == field.type, field.refers == nil || there.refers == field.refers else {
                throw mismatch(field, there, collection: wanted.collection, type: type)
            }
        }
        let indexed = (found.indexed ?? []) + (wanted.indexed ?? []).filter { !(found.indexed ?? []).contains($0) }
        if indexed.count > (found.indexed ?? []).count { addition.indexed = indexed }
        if found.deletePolicy == nil { addition.deletePolicy = wanted.deletePolicy }
        let isEmpty = addition.fields.isEmpty && addition.indexed == nil && addition.deletePolicy == nil
        return isEmpty ? nil : addition
    }

    private static func mismatch(
        _ field: SchemaEntry.Field, _ there: SchemaEntry.Field, collection: String, type: String
    ) -> ControlError {
        func words(_ field: SchemaEntry.Field) -> String {
            field.type.rawValue + (field.refers.map { " of references to \($0)" } ?? "")
        }
        return ControlError(
            .typeMismatch,
            "The field \(field.name) of \(collection) is a \(words(there)) on these devices, and \(type) wants a "
                + "\(words(field)).",
            hint: "Give the property the old type or another name, or change it for all devices: lanyard schema set "
                + "\(collection) '{\"fields\":{\"\(field.name)\":\"\(field.type.rawValue)\"}}'")
    }
}
