import ControlAPI
import FoundationEssentials
import Synchronization

/// The fields of a struct: names, replicated types and defaults, found once for each type.
struct ObjectType: Sendable {
    /// A field as the struct declares it.
    struct Field: Sendable {
        /// The schema; nil where the Swift type does not say it, such as an optional struct that is nil by default.
        let schema: FieldSchema?
        let isOptional: Bool
        /// The default as JSON; nil for an optional that is nil by default.
        let defaultValue: JSONDocument?
    }

    let fields: [String: Field]
    /// The values by their paths, as the default has them; those that are neither struct nor enumeration are left out.
    let shapes: [[String]: Shape]

    enum Shape: Sendable {
        /// A struct: it is written as an object with one key for each property, and a lacking one has its default.
        case structure
        /// An enumeration. Written as an object, it has the name of its case as the key.
        case enumeration
    }

    private static let known = Mutex<[ObjectIdentifier: ObjectType]>([:])

    /// Returns the fields of `type`. Throws `type_mismatch` for a struct that is not written as fields.
    static func of<Object: LanyardObject>(_ type: Object.Type) throws(ControlError) -> ObjectType {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made = try ObjectType(of: Object())
        known.withLock { $0[ObjectIdentifier(type)] = made }
        do throws(ControlError) { try checkNesting(type) } catch {
            known.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(type)) }
            throw error
        }
        return made
    }

    private init(of prototype: some LanyardObject) throws(ControlError) {
        let survey = FieldSurvey()
        do { try prototype.encode(to: survey) } catch {
            throw ControlError(
                .typeMismatch, "\(type(of: prototype)) cannot be written as fields.",
                hint: "Let the compiler make its encode(to:), or encode into a keyed container.")
        }
        let document = try FieldCoding.document(try FieldCoding.fields(prototype))
        guard case .object(let members) = document.root.kind else { preconditionFailure("fields are an object") }
        let defaults = Dictionary(members.map { ($0.key, $0.value) }, uniquingKeysWith: { $1 })
        var fields: [String: Field] = [:]
        for (name, found) in survey.fields where name != FieldCoding.idKey {
            var standard: JSONDocument?
            if let node = defaults[name] {
                standard = try FieldCoding.document(JSONText(checked: document.text(of: node)))
            }
            let schema = found.schema ?? standard.flatMap { Self.schema(of: $0.root, isWhole: found.isWhole) }
            try Self.check(name, found, schema, standard)
            fields[name] = Field(schema: schema, isOptional: found.isOptional, defaultValue: standard)
        }
        self.fields = fields
        shapes = Self.shapes(in: prototype, at: [])
    }

    private static func shapes(in value: Any, at path: [String]) -> [[String]: Shape] {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .enum: return [path: .enumeration]
        case .struct:
            return mirror.children.reduce(into: [path: .structure]) { shapes, child in
                guard let label = child.label else { return }
                shapes.merge(Self.shapes(in: child.value, at: path + [label])) { first, _ in first }
            }
        case _: return [:]
        }
    }

    /// Throws `type_mismatch` if a wrapper stands inside of a nested struct: only properties of the object are fields.
    private static func checkNesting<Object: LanyardObject>(_ type: Object.Type) throws(ControlError) {
        guard let nested = try FieldNames.nestedWrapper(in: type) else { return }
        throw ControlError(
            .typeMismatch, "The property \(nested) of \(type) has a wrapper, and is no property of the object itself.",
            hint: "Move it to the object, or leave the wrapper out: then the last value of it counts.")
    }

    /// Returns the schema of a value whose Swift type does not say it, from the form of its default.
    ///
    /// - Parameter isWhole: true for an enumeration: of two cases that were set apart, one counts.
    private static func schema(of node: JSONNode, isWhole: Bool) -> FieldSchema? {
        switch node.kind {
        case .null: nil
        // Arrays of Swift say so by themselves. Other types that are written as one are not lists of equal things.
        case .bool, .number, .string, .array: FieldSchema(.register)
        case .object: FieldSchema(isWhole ? .register : .dictionary)
        }
    }

    /// Throws `type_mismatch` for what would not merge as it looks.
    private static func check(
        _ name: String, _ found: FieldSurvey.Found, _ schema: FieldSchema?, _ standard: JSONDocument?
    ) throws(ControlError) {
        if let fault = found.fault {
            throw ControlError(.typeMismatch, "The property \(name) cannot be a field: \(fault).", hint: found.hint)
        }
        if schema?.type == .counter, let standard, standard.source != [UInt8(ascii: "0")] {
            throw ControlError(
                .typeMismatch, "The counter \(name) does not begin with 0.",
                hint: "An object without it would count from 0: give it the default 0, and save the first number.")
        }
    }

    /// Returns the schema as it is set.
    func entry(of collection: String, deletePolicy: DeletePolicy?, indexed: [String]) -> SchemaEntry {
        let fields = fields.sorted { $0.key < $1.key }.compactMap { name, field in
            field.schema.map { SchemaEntry.Field(name: name, type: $0.type, refers: $0.refers) }
        }
        return SchemaEntry(
            collection: collection, fields: fields, deletePolicy: deletePolicy, indexed: indexed.isEmpty ? nil : indexed
        )
    }
}

/// The fate of edits made without knowledge of a deletion.
public typealias DeletePolicy = SchemaEntry.DeletePolicy

// MARK: Looking at a struct

/// An encoder that keeps the names and Swift types of the fields, and writes no values.
private final class FieldSurvey: Encoder {
    struct Found {
        var schema: FieldSchema?
        var isOptional = false
        /// True if the value is an enumeration's.
        var isWhole = false
        /// The reason for which it cannot be a field, and the next thing to do.
        var fault: String?
        var hint = ""
    }

    var fields: [String: Found] = [:]
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(FieldSurveyContainer<Key>(survey: self))
    }

    // A struct that is not written as fields is refused when its value is.
    func unkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringContainer() }
    func singleValueContainer() -> any SingleValueEncodingContainer { IgnoringContainer() }

    func record(_ name: String, _ type: Any.Type, isOptional: Bool, value: Any? = nil) {
        if let optional = type as? any OptionalField.Type {
            return record(name, optional.wrapped, isOptional: true, value: value)
        }
        var found = Found(isOptional: isOptional)
        if let wrapper = type as? any FieldWrapper.Type {
            (found.schema, found.isOptional) = (wrapper.schema, wrapper.isOptional)
        } else if let dictionary = type as? any DictionaryField.Type {
            found.schema = FieldSchema(.dictionary)
            if !dictionary.hasTextKeys {
                found.fault = "the keys of its dictionary are not written as texts"
                found.hint = "Use String, Int or ObjectID as keys, or make the key CodingKeyRepresentable."
            }
        } else {
            found.schema = (type as? any TypedField.Type)?.schema
            found.isWhole = value.map { Mirror(reflecting: $0).displayStyle == .enum } ?? false
        }
        fields[name] = found
    }
}

/// A dictionary as a field.
private protocol DictionaryField { static var hasTextKeys: Bool { get } }

extension Dictionary: DictionaryField {
    fileprivate static var hasTextKeys: Bool {
        Key.self == String.self || Key.self == Int.self || Key.self is any CodingKeyRepresentable.Type
    }
}

/// A Swift type that says its replicated type by itself.
private protocol TypedField { static var schema: FieldSchema { get } }

extension Set: TypedField { fileprivate static var schema: FieldSchema { FieldSchema(.set) } }
extension Array: TypedField { fileprivate static var schema: FieldSchema { FieldSchema(.list) } }

/// A Swift type of single values.
private protocol ScalarField: TypedField {}

extension ScalarField { static var schema: FieldSchema { FieldSchema(.register) } }

extension Bool: ScalarField {}
extension String: ScalarField {}
extension Double: ScalarField {}
extension Float: ScalarField {}
extension Int: ScalarField {}
extension Int8: ScalarField {}
extension Int16: ScalarField {}
extension Int32: ScalarField {}
extension Int64: ScalarField {}
extension UInt: ScalarField {}
extension UInt8: ScalarField {}
extension UInt16: ScalarField {}
extension UInt32: ScalarField {}
extension UInt64: ScalarField {}
extension Date: ScalarField {}
extension Data: ScalarField {}
extension ObjectID: ScalarField {}

/// A type whose values may be absent.
protocol OptionalField { static var wrapped: Any.Type { get } }

extension Optional: OptionalField { static var wrapped: Any.Type { Wrapped.self } }

private struct FieldSurveyContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let survey: FieldSurvey
    var codingPath: [any CodingKey] { [] }

    private func record<T>(_ key: Key, _ type: T.Type, isOptional: Bool = false, value: T? = nil) {
        survey.record(key.stringValue, type, isOptional: isOptional, value: value)
    }

    mutating func encodeNil(forKey key: Key) { record(key, Never.self, isOptional: true) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) { record(key, T.self, value: value) }
    // The defaults of the protocol would leave out what is nil.
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { record(key, Bool.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) { record(key, String.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { record(key, Double.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) { record(key, Float.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { record(key, Int.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int8?, forKey key: Key) { record(key, Int8.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int16?, forKey key: Key) { record(key, Int16.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int32?, forKey key: Key) { record(key, Int32.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { record(key, Int64.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt?, forKey key: Key) { record(key, UInt.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt8?, forKey key: Key) { record(key, UInt8.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt16?, forKey key: Key) { record(key, UInt16.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt32?, forKey key: Key) { record(key, UInt32.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { record(key, UInt64.self, isOptional: true) }
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) {
        record(key, T.self, isOptional: true, value: value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        record(key, Never.self)
        return KeyedEncodingContainer(FieldSurveyContainer<Nested>(survey: FieldSurvey()))
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        record(key, Never.self)
        return IgnoringContainer()
    }

    mutating func superEncoder() -> any Encoder { FieldSurvey() }
    mutating func superEncoder(forKey key: Key) -> any Encoder { FieldSurvey() }
}

/// A container that ignores what it is given.
private struct IgnoringContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    mutating func encodeNil() {}
    mutating func encode<T: Encodable>(_ value: T) {}

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(FieldSurveyContainer<Nested>(survey: FieldSurvey()))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { IgnoringContainer() }
    mutating func superEncoder() -> any Encoder { FieldSurvey() }
}
