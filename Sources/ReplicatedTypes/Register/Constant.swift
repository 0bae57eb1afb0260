/// A value set once and never again: an id, a creation date.
///
/// Of several creations made apart the least in canonical order counts, everywhere. What a later `set` says is kept and
/// not shown: a replica that voided it by looking at what is here would disagree with one where the first value had been
/// removed in the meantime.
public struct Constant<Value: ReplicableValue>: Replicated {
    /// The operations on a constant.
    public enum Operation: Hashable, Sendable, Codable {
        /// Gives the value; without effect on what is shown once there is one.
        case set(Value)
    }

    /// The part of a constant that a replica lacks.
    public typealias Delta = RegisterDelta<Value>

    private var written = DottedValues<Value>()

    /// A constant that has no value yet.
    public init() {}

    /// The first value in canonical order; nil when none was set.
    public var value: Value? { written.entries.last?.value }

    /// Other values set apart, or later, in ascending canonical order.
    public var conflicts: [Value] { written.entries.reversed().dropFirst().map { $0.value } }

    /// The shown value and its conflicts, in ascending canonical order.
    public var values: [Value] { written.entries.reversed().map { $0.value } }

    /// The dots of `values`, in the same order.
    public var dots: [Dot] { written.entries.reversed().map { $0.dot } }

    /// The writers of `values`, in the same order.
    package var writers: [ValueWriter] {
        written.entries.reversed().map { ValueWriter(replica: $0.dot.replica, stamp: $0.stamp) }
    }

    /// True if several values were written concurrently, even equal ones.
    var mayBeContested: Bool { written.entries.count > 1 }

    /// True if a reader sees anything of it.
    public var isLive: Bool { !written.isEmpty }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 { 1 }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .set(let value): written.insert(value, at: origin)
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

extension Constant: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws { written = try DottedValues(from: decoder) }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws { try written.encode(to: encoder) }
}

extension Constant: ByteCoded, StateCoded where Value: ByteCoded {
    /// Layout: that of `DottedValues`.
    public func write(to writer: inout StateWriter) { writer.append(written) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        written = try DottedValues(restoring: &reader)
    }
}

extension Constant.Operation: ByteCoded where Value: ByteCoded {
    /// Layout: the value.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .set(let value): value.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) { self = .set(try Value(reading: &reader)) }
}

extension Constant: CustomStringConvertible {
    /// The value.
    public var description: String { value.map { "\($0)" } ?? "unset" }
}
