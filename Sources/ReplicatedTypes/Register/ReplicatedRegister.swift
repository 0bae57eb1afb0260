/// A value that each write replaces. Concurrent writes are all kept until an author that saw them writes again.
///
///     var light = ReplicatedRegister<Bool>()
///     light.apply(.set(true), at: origin)
///     light.value          // true
///
/// A write replaces exactly the values that its author had seen. `value` is the one with the greatest canonical key (stamp,
/// replica, counter), `conflicts` are the others: no concurrent write is lost before a person has looked.
public struct ReplicatedRegister<Value: ReplicableValue>: Replicated {
    /// The operations on a register.
    public enum Operation: Hashable, Sendable, Codable {
        /// Replaces the values that the author had seen.
        case set(Value)
    }

    /// The part of a register that a replica lacks.
    public typealias Delta = RegisterDelta<Value>

    private var written = DottedValues<Value>()

    /// Creates a register that no replica has written yet.
    public init() {}

    /// The value that every replica shows; nil when none was written, or all written ones are removed.
    public var value: Value? { written.entries.first?.value }

    /// Values written apart from the shown one, in descending canonical order. Empty when all agree on one write.
    public var conflicts: [Value] { written.entries.dropFirst().map { $0.value } }

    /// The shown value and its conflicts, in descending canonical order.
    public var values: [Value] { written.entries.map { $0.value } }

    /// The dots of `values`, in the same order.
    public var dots: [Dot] { written.entries.map { $0.dot } }

    /// The writers of `values`, in the same order.
    package var writers: [ValueWriter] {
        written.entries.map { ValueWriter(replica: $0.dot.replica, stamp: $0.stamp) }
    }

    /// True if several values were written concurrently, even equal ones.
    var mayBeContested: Bool { written.entries.count > 1 }

    /// Returns the operation that writes `value`; nil if the register shows it already and nothing contradicts it.
    public func setting(_ value: Value) -> Operation? {
        written.entries.count == 1 && self.value == value ? nil : .set(value)
    }

    /// True if a reader sees anything of it.
    public var isLive: Bool { !written.isEmpty }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 { 1 }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .set(let value):
            written.remove(knownTo: origin)
            written.insert(value, at: origin)
            if origin.faults.contains(.registerByStamp) { written.keepGreatest() }
        }
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal { Removal() }

    /// Removes everything the author of `origin` had seen.
    public mutating func remove(_ removal: Removal, at origin: Origin) { written.remove(knownTo: origin) }

    /// Returns the part that a replica which holds `vector` lacks.
    public func delta(since vector: VersionVector) -> Delta { written.delta(since: vector) }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        written.join(delta, held: held, theirs: theirs)
    }
}

extension ReplicatedRegister: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws { written = try DottedValues(from: decoder) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws { try written.encode(to: encoder) }
}

extension ReplicatedRegister: ByteCoded, StateCoded where Value: ByteCoded {
    /// Layout: that of `DottedValues`.
    public func write(to writer: inout StateWriter) { writer.append(written) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        written = try DottedValues(restoring: &reader)
    }
}

extension ReplicatedRegister.Operation: ByteCoded where Value: ByteCoded {
    /// Layout: the value.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .set(let value): value.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = .set(try Value(reading: &reader)) }
}

extension ReplicatedRegister: CustomStringConvertible {
    /// The value, and behind it what contradicts it.
    public var description: String {
        guard let value else { return "unset" }
        return conflicts.isEmpty ? "\(value)" : "\(value) (also \(conflicts.map { "\($0)" }.joined(separator: ", ")))"
    }
}
