// Vectors and ends as acknowledgements spell them: counted, sorted, shortest varints, so that one value has one spelling.
extension [UInt8] {
    /// Varint count, each: replica, varint next.
    mutating func append(entries: [VersionVector.Entry]) {
        append(varint: UInt64(entries.count))
        for entry in entries {
            self += entry.replica.bytes
            append(varint: entry.next)
        }
    }

    /// The same of one device's replicas: the incarnation says which.
    mutating func append(ends: [VersionVector.Entry]) {
        append(varint: UInt64(ends.count))
        for entry in ends {
            append(bigEndian: entry.replica.incarnation)
            append(varint: entry.next)
        }
    }
}

extension ByteReader {
    mutating func device(_ field: String) throws(CodecError) -> DeviceID {
        let range = try skip(DeviceID.byteCount)
        guard let device = DeviceID(bytes: bytes[range]) else { throw .outOfRange(field: field) }
        return device
    }

    mutating func sum(_ field: String) throws(CodecError) -> Sum256 {
        let range = try skip(32)
        guard let sum = Sum256(bytes: Array(bytes[range])) else { throw .outOfRange(field: field) }
        return sum
    }

    /// Sorted by replica, each once. A `next` of 0 is the caller's to judge.
    mutating func entries(
        _ field: String, upTo limit: Int = Limits.contextEntries
    ) throws(CodecError) -> [VersionVector.Entry] {
        let count = try entryCount(bytesEach: ReplicaID.byteCount + 1, upTo: limit, field)
        var entries: [VersionVector.Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let range = try skip(ReplicaID.byteCount)
            guard let replica = ReplicaID(bytes: bytes[range]) else { throw .outOfRange(field: field) }
            if let last = entries.last, last.replica >= replica { throw .outOfRange(field: field) }
            entries.append(VersionVector.Entry(replica: replica, next: try varint(upTo: Limits.counters, field)))
        }
        return entries
    }

    mutating func ends(of device: DeviceID, _ field: String) throws(CodecError) -> [VersionVector.Entry] {
        let count = try entryCount(bytesEach: 9, upTo: Limits.contextEntries, field)
        var entries: [VersionVector.Entry] = []
        entries.reserveCapacity(count)
        for _ in 0..<count {
            let replica = ReplicaID(device: device, incarnation: try bigEndianUInt64())
            if let last = entries.last, last.replica >= replica { throw .outOfRange(field: field) }
            let next = try varint(upTo: Limits.counters, field)
            guard next > 0 else { throw .outOfRange(field: field) }
            entries.append(VersionVector.Entry(replica: replica, next: next))
        }
        return entries
    }

    /// Reads the number of entries: at most `limit`, and no more than the remaining bytes can hold.
    private mutating func entryCount(
        bytesEach least: Int, upTo limit: Int, _ field: String
    ) throws(CodecError) -> Int {
        let count = Int(try varint(upTo: UInt64(limit), field))
        guard count <= remainingCount / least else { throw .truncated }
        return count
    }
}
