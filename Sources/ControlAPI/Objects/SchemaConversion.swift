/// The conversion that `schema set` would do on existing values, so that a field may have another type: one row per field.
public struct SchemaConversion: Codable, Equatable, Sendable {
    /// The field.
    public var field: String
    /// The type that values are shown in now.
    public var from: SchemaEntry.FieldType
    /// The type that they get.
    public var to: SchemaEntry.FieldType
    /// The number of objects that are written.
    public var objects: Int
    /// The number of objects that lose repeated elements, since a set holds each once.
    public var repeating: Int
    /// The name of one such object.
    public var example: String

    /// All parts.
    public init(
        field: String, from: SchemaEntry.FieldType, to: SchemaEntry.FieldType, objects: Int, repeating: Int,
        example: String
    ) {
        self.field = field
        self.from = from
        self.to = to
        self.objects = objects
        self.repeating = repeating
        self.example = example
    }
}
