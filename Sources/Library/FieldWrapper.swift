public import ControlAPI
import Synchronization

/// A property wrapper that chooses the replicated type of its field. It is coded as the value inside.
///
/// The wrappers of this module are all there are; the protocol is public because they are.
public protocol FieldWrapper: Codable, Sendable {
    /// The type of the property.
    associatedtype Value: Codable & Sendable
    /// The value.
    var storage: FieldStorage<Value> { get set }
    /// A wrapper of this value.
    init(storage: FieldStorage<Value>)
    /// The schema of such a field.
    static var schema: FieldSchema { get }
}

extension FieldWrapper {
    static var isOptional: Bool { Value.self is any OptionalField.Type }

    /// Reads the value inside.
    public init(from decoder: any Decoder) throws {
        self.init(storage: try FieldStorage(from: decoder) { try $0.decode(Value.self) })
    }

    /// Writes the value inside.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(storage.value)
    }
}

/// The schema of a field as a Swift type gives it.
public struct FieldSchema: Hashable, Sendable {
    /// The replicated type.
    public let type: SchemaEntry.FieldType
    /// The collection that its values are ids in.
    public let refers: String?

    init(_ type: SchemaEntry.FieldType, refers: String? = nil) {
        self.type = type
        self.refers = refers
    }
}

/// The value of a wrapper.
public struct FieldStorage<Value: Codable & Sendable>: Sendable {
    var value: Value
    /// The recorder of reads, in a probe of `FieldNames`.
    private var probe: FieldProbe?

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder, _ read: (any SingleValueDecodingContainer) throws -> Value) throws {
        value = try read(try decoder.singleValueContainer())
        guard let recorder = decoder.userInfo[.fieldRecorder] as? FieldRecorder else { return }
        probe = FieldProbe(recorder: recorder, path: decoder.codingPath, type: Value.self)
    }

    func read() -> Value {
        probe?.recordRead()
        return value
    }
}

extension FieldStorage: Equatable where Value: Equatable {
    /// Values count; probes do not.
    public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
}

extension FieldStorage: Hashable where Value: Hashable {
    /// Hashes the value.
    public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The wrapped fields of a probe that were read, and wrappers that stand where they cannot be fields.
final class FieldRecorder: Sendable {
    struct Record {
        /// The fields that were read, with the types of their values.
        var reads: [(name: String, type: ObjectIdentifier)] = []
        /// The path of a wrapper inside of a nested value.
        var nested: String?
    }

    let record = Mutex(Record())
}

/// The mark by which a field of a probe says that it was read.
final class FieldProbe: Sendable {
    private let recorder: FieldRecorder
    private let name: String
    private let type: ObjectIdentifier

    init(recorder: FieldRecorder, path: [any CodingKey], type: Any.Type) {
        self.recorder = recorder
        name = path.map(\.stringValue).joined(separator: "/")
        self.type = ObjectIdentifier(type)
        if path.count != 1 { recorder.record.withLock { $0.nested = name } }
    }

    func recordRead() { recorder.record.withLock { $0.reads.append((name, type)) } }
}
