/// A struct whose values are kept as objects of one collection on every device of the mesh.
///
/// ```swift
/// struct Todo: LanyardObject {
///     var id = ObjectID()
///     var title = ""
///     var done = false
///     var tags: Set<String> = []
///     @Counter var opened = 0
/// }
/// ```
///
/// Every stored property is a field. Its Swift type says how concurrent edits come together: a `Set` is a set, an array is a
/// list, a dictionary or a nested struct merges key by key, and any other value is a register: the last write counts, and of
/// two that were made apart one is shown and the other is a conflict.
/// The wrappers ``Counter``, ``Text``, ``Ordered``, ``Local`` and ``Reference`` choose other types.
///
/// Every property has a default. An object that another version of the application wrote may lack a field, or have more of
/// them: a lacking one reads as its default, and a field that the struct does not have stays as it is on every device.
///
/// A computed property is no field. The names of fields are the names of properties; a `CodingKeys` enumeration may leave
/// properties out, but not rename them.
public protocol LanyardObject: Codable, Identifiable, Sendable where ID == ObjectID {
    /// The name of the object in its collection, the same on every device.
    var id: ObjectID { get set }

    /// A value whose properties have their defaults. The compiler makes it; if it asks for `init()`, a property has no default.
    init()

    /// The collection, 1 to 128 bytes; by default the name of the type with a small first letter.
    static var collection: String { get }

    /// The properties by which objects are found without looking at each of them, such as `[\Self.title]`; by default none. A
    /// computed property, since key paths are not `Sendable`.
    static var indexed: [PartialKeyPath<Self>] { get }

    /// The fate of edits made without knowledge of a deletion; nil, the default, leaves it as the mesh has it.
    static var deletePolicy: DeletePolicy? { get }
}

extension LanyardObject {
    /// The name of the type with a small first letter.
    public static var collection: String {
        let name = String(describing: Self.self)
        return name.prefix(1).lowercased() + name.dropFirst()
    }

    /// No property.
    public static var indexed: [PartialKeyPath<Self>] { [] }

    /// The policy that the mesh has; `deleteWins` unless another was set.
    public static var deletePolicy: DeletePolicy? { nil }
}
