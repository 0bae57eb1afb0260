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
        let defaultValue: JSONText?
    }

    let fields: [String: Field]

    private static let known = Mutex<[ObjectIdentifier: ObjectType]>([:])

    /// Returns the fields of `type`. Throws `type_mismatch` for a struct that is not written as fields.
    static func of<Object: LanyardObject>(_ type: Object.Type) throws(ControlError) -> ObjectType {
        if let found = known.withLock({ $0[ObjectIdentifier(type)] }) { return found }
        let made = try ObjectType(of: Object())
        known.withLock { $0[ObjectIdentifier(type)] = made }
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
            let node = defaults[name]
            fields[name] = Field(
                schema: found.schema ?? node.flatMap { Self.schema(of: $0) }, isOptional: found.isOptional,
                defaultValue: node.map { JSONText(checked: document.text(of: $0)) })
        }
        self.fields = fields
    }

    /// Returns the schema of a value whose Swift type does not say it, from the form of its default.
    private static func schema(of node: JSONNode) -> FieldSchema? {
        switch node.kind {
        case .null: nil
        case .bool, .number, .string: FieldSchema(.register)
        case .array: FieldSchema(.list)
        case .object: FieldSchema(.dictionary)
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
        let schema: FieldSchema?
        let isOptional: Bool
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

    func record(_ name: String, _ type: Any.Type, isOptional: Bool) {
        if let wrapper = type as? any FieldWrapper.Type {
            fields[name] = Found(schema: wrapper.schema, isOptional: wrapper.isOptional)
        } else if let optional = type as? any OptionalField.Type {
            record(name, optional.wrapped, isOptional: true)
        } else {
            fields[name] = Found(schema: (type as? any TypedField.Type)?.schema, isOptional: isOptional)
        }
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
extension Int32: ScalarField {}
extension Int64: ScalarField {}
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

    private func record(_ key: Key, _ type: Any.Type, isOptional: Bool = false) {
        survey.record(key.stringValue, type, isOptional: isOptional)
    }

    mutating func encodeNil(forKey key: Key) { record(key, Never.self, isOptional: true) }
    mutating func encode<T: Encodable>(_ value: T, forKey key: Key) { record(key, T.self) }
    mutating func encodeIfPresent(_ value: Bool?, forKey key: Key) { record(key, Bool.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: String?, forKey key: Key) { record(key, String.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Double?, forKey key: Key) { record(key, Double.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Float?, forKey key: Key) { record(key, Float.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int?, forKey key: Key) { record(key, Int.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: Int64?, forKey key: Key) { record(key, Int64.self, isOptional: true) }
    mutating func encodeIfPresent(_ value: UInt64?, forKey key: Key) { record(key, UInt64.self, isOptional: true) }
    mutating func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) { record(key, T.self, isOptional: true) }

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
