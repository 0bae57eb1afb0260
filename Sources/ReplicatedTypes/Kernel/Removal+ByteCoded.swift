extension Removal: ByteCoded {
    /// Deepest nesting that is read. A `ReplicatedValue` in a dictionary takes two levels, one for the key and one for the
    /// type; and there is the object around it.
    private static let depth = 2 * ByteReader.maximumDepth + 8

    /// Layout: varint (count of seen · 2 + (children follow)); each seen: replica, varint last, signed total; then
    /// varint count of children, each: length-prefixed key, removal.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(varint: UInt64(seen.count) << 1 | (children.isEmpty ? 0 : 1))
        for entry in seen {
            bytes.append(contentsOf: entry.replica.bytes)
            bytes.append(varint: entry.last)
            bytes.append(signed: entry.total)
        }
        guard !children.isEmpty else { return }
        bytes.append(varint: UInt64(children.count))
        for child in children {
            bytes.append(lengthPrefixed: child.key)
            child.removal.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        try self.init(reading: &reader, depth: Self.depth)
    }

    private init(reading reader: inout ByteReader, depth: Int) throws(CodecError) {
        self.init()
        guard depth > 0 else { throw .outOfRange(field: "removal.depth") }
        let head = try reader.varint()
        guard head >> 1 <= UInt64(reader.remainingCount) else { throw .truncated }
        for _ in 0..<head >> 1 {
            let name = try reader.skip(ReplicaID.byteCount)
            guard let replica = ReplicaID(bytes: reader.bytes[name]) else { throw .truncated }
            if let previous = seen.last, previous.replica >= replica { throw .outOfRange(field: "removal.seen") }
            let last = try reader.varint(upTo: Limits.counters, "removal.last")
            seen.append(Seen(replica: replica, last: last, total: try reader.signed()))
        }
        guard head & 1 == 1 else { return }
        let count = try reader.count(bytesEach: 2, "removal.children")
        guard count > 0 else { throw .outOfRange(field: "removal.children") }
        for _ in 0..<count {
            let range = try reader.skip(try reader.count(bytesEach: 1, "removal.key"))
            let key = Array(reader.bytes[range])
            if let previous = children.last, !previous.key.lexicographicallyPrecedes(key) {
                throw .outOfRange(field: "removal.key")
            }
            let removal = try Removal(reading: &reader, depth: depth - 1)
            guard !removal.isEmpty else { throw .outOfRange(field: "removal.children") }
            children.append(Child(key: key, removal: removal))
        }
    }
}

extension Removal {
    /// The removal under `key`, empty when none is given.
    func child(_ key: [UInt8]) -> Removal {
        var low = 0
        var high = children.count
        while low < high {
            let middle = (low + high) / 2
            if children[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
        }
        return low < children.count && children[low].key == key ? children[low].removal : Removal()
    }
}
