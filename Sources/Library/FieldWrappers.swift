public import ControlAPI

/// A number to which concurrent increments add up.
///
/// Saving sends the difference to the value that was read, so counts that several devices made are never lost.
@propertyWrapper public struct Counter<Value: FixedWidthInteger & Codable & Sendable>: FieldWrapper {
    /// The value.
    public var storage: FieldStorage<Value>

    /// A counter that begins with this number.
    public init(wrappedValue: Value) { storage = FieldStorage(wrappedValue) }

    /// A wrapper of this value.
    public init(storage: FieldStorage<Value>) { self.storage = storage }

    /// The number.
    public var wrappedValue: Value {
        get { storage.read() }
        set { storage.value = newValue }
    }

    /// The schema of such a field.
    public static var schema: FieldSchema { FieldSchema(.counter) }

    /// Reads the number. Decrements that several devices made may lead below the least value of the type: then it is that one.
    public init(from decoder: any Decoder) throws {
        self.init(storage: try FieldStorage(from: decoder) { Value(clamping: try $0.decode(Int64.self)) })
    }
}

/// A text in which several people may type at once: insertions and deletions merge character by character.
@propertyWrapper public struct Text: FieldWrapper {
    /// The value.
    public var storage: FieldStorage<String>

    /// A text that begins with these characters.
    public init(wrappedValue: String) { storage = FieldStorage(wrappedValue) }

    /// A wrapper of this value.
    public init(storage: FieldStorage<String>) { self.storage = storage }

    /// The characters.
    public var wrappedValue: String {
        get { storage.read() }
        set { storage.value = newValue }
    }

    /// The schema of such a field.
    public static var schema: FieldSchema { FieldSchema(.text) }
}

/// A list in which each value stands once; moving a value merges with concurrent moves and insertions.
@propertyWrapper public struct Ordered<Element: Codable & Hashable & Sendable>: FieldWrapper {
    /// The value.
    public var storage: FieldStorage<[Element]>

    /// A list that begins with these values.
    public init(wrappedValue: [Element]) { storage = FieldStorage(wrappedValue) }

    /// A wrapper of this value.
    public init(storage: FieldStorage<[Element]>) { self.storage = storage }

    /// The values in order.
    public var wrappedValue: [Element] {
        get { storage.read() }
        set { storage.value = newValue }
    }

    /// The schema of such a field.
    public static var schema: FieldSchema { FieldSchema(.orderedSet) }
}

/// A value that stays on this device and is never sent: what can be computed again, or concerns this device alone.
@propertyWrapper public struct Local<Value: Codable & Sendable>: FieldWrapper {
    /// The value.
    public var storage: FieldStorage<Value>

    /// A local value.
    public init(wrappedValue: Value) { storage = FieldStorage(wrappedValue) }

    /// A wrapper of this value.
    public init(storage: FieldStorage<Value>) { self.storage = storage }

    /// The value.
    public var wrappedValue: Value {
        get { storage.read() }
        set { storage.value = newValue }
    }

    /// The schema of such a field.
    public static var schema: FieldSchema { FieldSchema(.local) }
}

/// The id of another object, or several: ids of objects that are not there are left out when the field is read.
///
/// ```swift
/// @Reference(to: Artist.self) var artist: ObjectID? = nil
/// @Reference(to: Tag.self) var tags: Set<ObjectID> = []
/// ```
@propertyWrapper public struct Reference<Target: LanyardObject, Value: ReferenceValue>: FieldWrapper {
    /// The value.
    public var storage: FieldStorage<Value>

    /// A reference to objects of the collection of `target`.
    public init(wrappedValue: Value, to target: Target.Type) { storage = FieldStorage(wrappedValue) }

    /// A wrapper of this value.
    public init(storage: FieldStorage<Value>) { self.storage = storage }

    /// The id or ids.
    public var wrappedValue: Value {
        get { storage.read() }
        set { storage.value = newValue }
    }

    /// The schema of such a field.
    public static var schema: FieldSchema { FieldSchema(Value.referenceType, refers: Target.collection) }
}

/// The types that a ``Reference`` may have: `ObjectID?`, `Set<ObjectID>` and `[ObjectID]`.
public protocol ReferenceValue: Codable, Sendable {
    /// The replicated type of such a field.
    static var referenceType: SchemaEntry.FieldType { get }
}

extension Optional: ReferenceValue where Wrapped == ObjectID {
    /// A single value.
    public static var referenceType: SchemaEntry.FieldType { .register }
}

extension Set: ReferenceValue where Element == ObjectID {
    /// Elements that come and go.
    public static var referenceType: SchemaEntry.FieldType { .set }
}

extension Array: ReferenceValue where Element == ObjectID {
    /// Elements with an order.
    public static var referenceType: SchemaEntry.FieldType { .list }
}

extension Counter: Hashable {}
extension Text: Hashable {}
extension Ordered: Hashable {}
extension Local: Equatable where Value: Equatable {}
extension Local: Hashable where Value: Hashable {}
extension Reference: Equatable where Value: Equatable {}
extension Reference: Hashable where Value: Hashable {}
