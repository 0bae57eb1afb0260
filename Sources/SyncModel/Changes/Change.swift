package import Crypto

/// An atomic group of operations of one replica; covers the counters `start ..< start + count`.
///
/// Written once by its author; the bytes are stored, hashed and forwarded unaltered for ever. The replica is not in the
/// bytes: the chain's first head binds it (and the space), so it need not be said again for every change.
package struct Change: Hashable, Sendable {
    package let start: UInt64
    package let stamp: Stamp
    /// The author's wall clock, for display only; within ±`Limits.wallMilliseconds`.
    package let wallMilliseconds: Int64
    /// The entries of other replicas that moved since this replica's previous change.
    package let context: [VersionVector.Entry]
    package let operations: [Operation]

    package init(
        start: UInt64, stamp: Stamp, wallMilliseconds: Int64, context: [VersionVector.Entry], operations: [Operation]
    ) {
        self.start = start
        self.stamp = stamp
        self.wallMilliseconds = wallMilliseconds
        self.context = context
        self.operations = operations
    }

    package var count: UInt64 { operations.reduce(0) { $0 + $1.span } }

    /// Canonical bytes; layout in PROTOCOL.md "Change".
    package var encoded: [UInt8] {
        var body: [UInt8] = []
        for operation in operations { operation.append(to: &body) }
        var bytes: [UInt8] = []
        bytes.append(
            changeFrom: start, count, stamp: stamp.rawValue, zigzagWall: stamp.zigzagDistance(to: wallMilliseconds),
            context: context, operations: body)
        return bytes
    }
}

/// A change read in place: where its parts lie in a byte array that is not copied.
package struct ChangeView: Sendable {
    package static let formatVersion: UInt8 = 1

    package let start: UInt64
    package let count: UInt64
    package let stamp: Stamp
    package let wallMilliseconds: Int64
    package let context: [VersionVector.Entry]
    /// Length prefix included.
    package let range: Range<Int>
    /// The bytes from the format version to the operations' length.
    package let header: Range<Int>
    package let operations: Range<Int>

    package var end: UInt64 { start + count }

    /// The zigzag-encoded distance from the stamp to the wall clock, as in the header.
    var zigzagWall: UInt64 { stamp.zigzagDistance(to: wallMilliseconds) }

    /// Reads one change and checks its form: lengths, limits, that its operations fill it and count what it says.
    package init(_ reader: inout ByteReader) throws(CodecError) {
        let first = reader.position
        let outer = try reader.lengthPrefixed(upTo: Limits.changeBytes, "change.length")
        range = first..<outer.upperBound
        var inner = ByteReader(reader.bytes, outer)
        let version = try inner.byte()
        guard version == Self.formatVersion else { throw .unknownVersion(version) }
        start = try inner.varint(upTo: Limits.counters, "change.start")
        count = try inner.varint(upTo: Limits.operationsPerChange, "change.count")
        guard count > 0, count <= Limits.counters - start else { throw .outOfRange(field: "change.count") }
        stamp = Stamp(rawValue: try inner.bigEndianUInt64())
        let zigzag = try inner.varint()
        let difference = Int64(bitPattern: zigzag >> 1) ^ -Int64(bitPattern: zigzag & 1)
        let (wall, overflow) = stamp.milliseconds.addingReportingOverflow(difference)
        guard !overflow, wall.magnitude <= Limits.wallMilliseconds.magnitude else {
            throw .outOfRange(field: "change.wall")
        }
        wallMilliseconds = wall
        context = try Self.context(&inner)
        let length = try inner.varint(upTo: UInt64(Limits.operationsBytes), "change.operations")
        header = outer.lowerBound..<inner.position
        operations = try inner.skip(Int(length))
        guard inner.isAtEnd else { throw .trailingBytes }
        try checkOperations(reader.bytes)
    }

    private static func context(_ reader: inout ByteReader) throws(CodecError) -> [VersionVector.Entry] {
        let entryCount = try reader.varint(upTo: UInt64(Limits.contextEntries), "change.context")
        var entries: [VersionVector.Entry] = []
        for _ in 0..<entryCount {
            let id = try reader.skip(ReplicaID.byteCount)
            guard let replica = ReplicaID(bytes: reader.bytes[id]) else { throw .truncated }
            if let last = entries.last, last.replica >= replica { throw .outOfRange(field: "change.context") }
            let next = try reader.varint(upTo: Limits.counters, "change.context")
            guard next > 0 else { throw .outOfRange(field: "change.context") }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        return entries
    }

    private func checkOperations(_ bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes, operations)
        var covered: UInt64 = 0
        while !reader.isAtEnd {
            covered += try OperationView(&reader).span
            guard covered <= count else { throw .outOfRange(field: "change.count") }
        }
        guard covered == count else { throw .outOfRange(field: "change.count") }
    }

    /// True if an add-fact with this counter counts. One change may admit at most `Limits.admissionsPerChange` devices;
    /// without the bound it could admit thousands.
    package func mayAdmit(at counter: UInt64) -> Bool { counter - start < Limits.admissionsPerChange }

    /// The operations with the counters they begin at, in order.
    package func forEachOperation<Failure: Error>(
        in bytes: [UInt8], _ body: (_ counter: UInt64, OperationView) throws(Failure) -> Void
    ) throws(Failure) {
        var reader = ByteReader(bytes, operations)
        var counter = start
        while !reader.isAtEnd {
            guard let view = try? OperationView(&reader) else {
                preconditionFailure("the initializer has read these operations before")
            }
            try body(counter, view)
            counter += view.span
        }
    }

    /// SHA-256 (header ‖ SHA-256 (operations)): operations can be dropped later and the chain still be checked.
    package func digest(in bytes: [UInt8]) -> SHA256.Digest {
        bytes.withUnsafeBytes { raw in
            var inner = SHA256()
            inner.update(bufferPointer: UnsafeRawBufferPointer(rebasing: raw[operations]))
            var outer = SHA256()
            outer.update(bufferPointer: UnsafeRawBufferPointer(rebasing: raw[header]))
            inner.finalize().withUnsafeBytes { outer.update(bufferPointer: $0) }
            return outer.finalize()
        }
    }
}

extension Change {
    package init(_ view: ChangeView, in bytes: [UInt8]) {
        var operations: [Operation] = []
        view.forEachOperation(in: bytes) { _, operation in operations.append(Operation(operation, in: bytes)) }
        self.init(
            start: view.start, stamp: view.stamp, wallMilliseconds: view.wallMilliseconds, context: view.context,
            operations: operations)
    }
}

extension Stamp {
    fileprivate func zigzagDistance(to wallMilliseconds: Int64) -> UInt64 {
        let distance = wallMilliseconds &- milliseconds
        return UInt64(bitPattern: (distance << 1) ^ (distance >> 63))
    }
}

extension [UInt8] {
    /// A change by what its header says, and its operations' bytes.
    mutating func append(
        changeFrom start: UInt64, _ count: UInt64, stamp: UInt64, zigzagWall: UInt64,
        context: [VersionVector.Entry] = [], operations: [UInt8]
    ) {
        var header: [UInt8] = [ChangeView.formatVersion]
        header.append(varint: start)
        header.append(varint: count)
        header.append(bigEndian: stamp)
        header.append(varint: zigzagWall)
        header.append(varint: UInt64(context.count))
        for entry in context {
            header += entry.replica.bytes
            header.append(varint: entry.next)
        }
        header.append(varint: UInt64(operations.count))
        append(varint: UInt64(header.count + operations.count))
        self += header
        self += operations
    }
}
