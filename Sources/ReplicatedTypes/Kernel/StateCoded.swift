/// A state (or delta) whose canonical bytes name each replica in full only once, whatever it nests.
///
/// Dots are everywhere in a replicated value, and a replica's name is 40 bytes long. A conforming type writes through a
/// `StateWriter`, that numbers replicas as they first occur; what is nested in it shares the numbers.
public protocol StateCoded: ByteCoded {
    /// Writes the canonical form behind what was written before.
    func write(to writer: inout StateWriter)

    /// Reads what `write` wrote, and refuses any other form of the same value.
    init(restoring reader: inout StateReader) throws(CodecError)
}

extension StateCoded {
    /// Appends the canonical form.
    @inlinable
    public func append(to bytes: inout [UInt8]) {
        var writer = StateWriter(bytes)
        // One owner at a time, or the bytes would be copied.
        bytes = []
        write(to: &writer)
        bytes = writer.bytes
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        var state = StateReader(reader)
        self = try Self(restoring: &state)
        reader = state.bytes
    }

    /// Reads bytes that this program wrote and kept; see `ByteReader.isOurs`.
    public init(ownBytes bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(ownBytes: bytes)
        self = try Self(reading: &reader)
        guard reader.isAtEnd else { throw .trailingBytes }
    }
}

/// Writes one state; see `StateCoded`.
public struct StateWriter {
    /// The bytes written so far; elements that hold no dots are appended here.
    public var bytes: [UInt8]
    private var numbers: [ReplicaID: UInt64] = [:]
    private var latest: (replica: ReplicaID, number: UInt64)?

    /// Writes behind `bytes`.
    public init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    /// Shortest LEB128.
    public mutating func append(varint value: UInt64) { bytes.append(varint: value) }

    /// The sign in the lowest bit, then as `append(varint:)`.
    public mutating func append(signed value: Int64) { bytes.append(signed: value) }

    /// Appends the replica's number; at its first occurrence, its name behind the number.
    public mutating func append(_ replica: ReplicaID) {
        if let latest, latest.replica == replica { return append(varint: latest.number) }
        if let number = numbers[replica] {
            latest = (replica, number)
            return append(varint: number)
        }
        let number = UInt64(numbers.count)
        numbers[replica] = number
        latest = (replica, number)
        append(varint: number)
        bytes.append(contentsOf: replica.bytes)
    }

    /// Replica, counter.
    public mutating func append(_ dot: Dot) {
        append(dot.replica)
        append(varint: dot.counter)
    }

    /// A nested state, with the numbers of this one.
    @inlinable
    public mutating func append(_ state: some StateCoded) { state.write(to: &self) }

    /// Appends an element without dots.
    @inlinable
    public mutating func append(element: some ByteCoded) { element.append(to: &bytes) }
}

/// Reads one state; see `StateCoded`. The bytes may come from a peer: it throws, it never traps.
public struct StateReader {
    /// The remaining bytes; elements that hold no dots are read from here.
    public var bytes: ByteReader
    private var replicas: [ReplicaID] = []
    private var names: Set<ReplicaID> = []

    /// Reads on where `bytes` stands.
    public init(_ bytes: ByteReader) { self.bytes = bytes }

    /// Shortest LEB128.
    public mutating func varint() throws(CodecError) -> UInt64 { try bytes.varint() }

    /// A varint that must not exceed `limit`.
    public mutating func varint(upTo limit: UInt64, _ field: String) throws(CodecError) -> UInt64 {
        try bytes.varint(upTo: limit, field)
    }

    /// Reads a number that `append(signed:)` wrote.
    public mutating func signed() throws(CodecError) -> Int64 { try bytes.signed() }

    /// Reads the number of parts that follow, of at least `bytesEach` bytes each; never more than there are bytes for.
    public mutating func count(bytesEach: Int, _ field: String) throws(CodecError) -> Int {
        try bytes.count(bytesEach: bytesEach, field)
    }

    /// A replica by its number, or by name when the number is the next unused one.
    public mutating func replica() throws(CodecError) -> ReplicaID {
        let number = Int(try bytes.varint(upTo: UInt64(replicas.count), "replica"))
        if number < replicas.count { return replicas[number] }
        let range = try bytes.skip(ReplicaID.byteCount)
        guard let replica = ReplicaID(bytes: bytes.bytes[range]), names.insert(replica).inserted else {
            throw .outOfRange(field: "replica")
        }
        replicas.append(replica)
        return replica
    }

    /// Replica, counter.
    public mutating func dot() throws(CodecError) -> Dot {
        let replica = try replica()
        return Dot(replica: replica, counter: try bytes.varint(upTo: Limits.counters, "dot.counter"))
    }
}
