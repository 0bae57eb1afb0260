/// What `schema set` would do to values that are there, so that a field may have another type: one row a field.
public struct SchemaConversion: Codable, Equatable, Sendable {
    /// The field.
    public var field: String
    /// The type that values are shown in now.
    public var from: SchemaEntry.FieldType
    /// The type that they get.
    public var to: SchemaEntry.FieldType
    /// How many objects are written.
    public var objects: Int
    /// How many of them lose elements that stand there twice, since a set holds each once.
    public var repeating: Int
    /// One of the objects.
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
