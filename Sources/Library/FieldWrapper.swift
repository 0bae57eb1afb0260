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
    public init(from decoder: any Decoder) throws { self.init(storage: try FieldStorage(from: decoder)) }

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

    fileprivate init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
        guard let recorder = decoder.userInfo[.fieldRecorder] as? FieldRecorder else { return }
        probe = FieldProbe(recorder: recorder, name: decoder.codingPath.first?.stringValue ?? "")
    }

    func read() -> Value {
        probe?.record()
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

/// The name of the wrapped field that was read last.
final class FieldRecorder: Sendable {
    let name = Mutex<String?>(nil)
}

/// The mark by which a field of a probe says that it was read.
final class FieldProbe: Sendable {
    private let recorder: FieldRecorder
    private let name: String

    init(recorder: FieldRecorder, name: String) {
        self.recorder = recorder
        self.name = name
    }

    func record() { recorder.name.withLock { $0 = name } }
}
