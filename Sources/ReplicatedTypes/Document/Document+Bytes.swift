// A document, what it ships and what it writes, as bytes. Each names a replica in full only once, so a small change or delta
// is little more than its content. Reading checks the form; whether what is read fits is for `apply` and `join` to say.

extension StateWriter {
    /// Varint count, each: replica, varint next; sorted.
    fileprivate mutating func append(_ vector: VersionVector) {
        append(varint: UInt64(vector.entries.count))
        for entry in vector.entries {
            append(entry.replica)
            append(varint: entry.next)
        }
    }
}

extension StateReader {
    /// Reads a vector that `append(_:)` wrote.
    fileprivate mutating func vector() throws(CodecError) -> VersionVector {
        let count = try count(bytesEach: 2, "vector")
        var entries: [VersionVector.Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let replica = try replica()
            if let last = entries.last, last.replica >= replica { throw .outOfRange(field: "vector") }
            let next = try varint(upTo: Limits.counters, "vector.next")
            guard next > 0 else { throw .outOfRange(field: "vector.next") }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        return VersionVector(entries)
    }

    fileprivate mutating func stamp() throws(CodecError) -> Stamp { Stamp(rawValue: try varint()) }
}

extension Document: ByteCoded, StateCoded where Value: StateCoded {
    /// Layout: replica; vector; varint greatest stamp; value.
    public func write(to writer: inout StateWriter) {
        writer.append(replica)
        writer.append(vector)
        writer.append(varint: greatestStamp.rawValue)
        writer.append(value)
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same document.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        self.init(replica: try reader.replica())
        vector = try reader.vector()
        greatestStamp = try reader.stamp()
        value = try Value(restoring: &reader)
    }
}

extension DocumentDelta: ByteCoded, StateCoded where Content: StateCoded {
    /// Layout: the vector it needs; the vector it leads to; varint greatest stamp; content.
    public func write(to writer: inout StateWriter) {
        writer.append(since)
        writer.append(vector)
        writer.append(varint: greatestStamp.rawValue)
        writer.append(content)
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same delta.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        let since = try reader.vector()
        let vector = try reader.vector()
        let stamp = try reader.stamp()
        self.init(since: since, vector: vector, greatestStamp: stamp, content: try Content(restoring: &reader))
    }
}

extension DocumentChange: ByteCoded, StateCoded where Operation: ByteCoded {
    /// Layout: first dot; varint counters owned; varint stamp; context; varint count of operations, each.
    public func write(to writer: inout StateWriter) {
        writer.append(start)
        writer.append(varint: count)
        writer.append(varint: stamp.rawValue)
        writer.append(context)
        writer.append(varint: UInt64(operations.count))
        for operation in operations { writer.append(element: operation) }
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same change.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        let start = try reader.dot()
        let counters = try reader.varint(upTo: Limits.counters, "change.count")
        let stamp = try reader.stamp()
        let context = try reader.vector()
        let count = try reader.count(bytesEach: 1, "change.operations")
        var operations: [Operation] = []
        operations.reserveCapacity(count)
        for _ in 0..<count { operations.append(try Operation(reading: &reader.bytes)) }
        self.init(start: start, count: counters, stamp: stamp, context: context, operations: operations)
    }
}
