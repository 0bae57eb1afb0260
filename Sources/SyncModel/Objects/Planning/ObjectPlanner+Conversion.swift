// A field that goes on in another type, as ordinary edits: what is shown is removed in the old type and written in the new one.
extension ObjectPlanner {
    /// Plans the conversion of a field to a type. The write is empty if the object does not show the field, or shows it in
    /// this type alone.
    ///
    /// Throws `typeMismatch` if the new type cannot read as the shown value.
    package func planConversion(of field: ExactString, to type: FieldType) throws(ObjectRefusal) -> PlannedWrite {
        let parts = object.mergedField(field).parts
        guard parts.contains(where: { $0.type != type }) else { return PlannedWrite() }
        let value = object.shownJSON(field, schema)
        guard let value, type.takes(value) else {
            throw .typeMismatch(field: [field].pathText, expected: type)
        }
        let wish = JSONValue.object([
            JSONValue.Member(
                key: "fields",
                value: .object([JSONValue.Member(key: field, value: .string(ExactString(type.rawValue)))]))
        ])
        var converted = schema ?? CollectionSchema()
        if let edit = try converted.setting(wish, collection: key.collection) { converted.apply(edit, at: origin) }
        return try planPut(
            ObjectWrite.Put(fields: [JSONValue.Member(key: field, value: value)]), under: converted)
    }
}

extension ObjectState {
    /// Returns the shown value of a field; nil if there is none.
    package func shownJSON(_ field: ExactString, _ schema: CollectionSchema?) -> JSONValue? {
        mergedField(field).json(preferring: schema?[field]?.kind.type)
    }
}
