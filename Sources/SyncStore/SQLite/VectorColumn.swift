import SyncModel

/// A version vector in one column: 40 bytes and a varint each, in order.
enum VectorColumn {
    static func encoded(_ vector: VersionVector) -> [UInt8] {
        var bytes: [UInt8] = []
        for entry in vector.entries {
            bytes += entry.replica.bytes
            bytes.append(varint: entry.next)
        }
        return bytes
    }

    /// Nil for bytes that are none.
    static func decoded(_ bytes: [UInt8]) -> VersionVector? {
        var reader = ByteReader(bytes)
        var entries: [VersionVector.Entry] = []
        do throws(CodecError) {
            while !reader.isAtEnd {
                guard let replica = ReplicaID(bytes: bytes[try reader.skip(ReplicaID.byteCount)]) else { return nil }
                entries.append(VersionVector.Entry(replica: replica, next: try reader.varint()))
            }
        } catch {
            return nil
        }
        return VersionVector(entries)
    }
}
