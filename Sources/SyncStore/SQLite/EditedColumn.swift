import SyncModel

/// Dropped edits in one column: per replica 40 bytes, how many, and the author's clock at the last of them.
enum EditedColumn {
    static func encoded(_ edits: [DeletionRecord.Edited]) -> [UInt8] {
        var bytes: [UInt8] = []
        for edit in edits {
            bytes += edit.replica.bytes
            bytes.append(varint: edit.count)
            bytes.append(bigEndian: UInt64(bitPattern: edit.lastWallMilliseconds))
        }
        return bytes
    }

    /// Nil for bytes that are none.
    static func decoded(_ bytes: [UInt8]) -> [DeletionRecord.Edited]? {
        var reader = ByteReader(bytes)
        var edits: [DeletionRecord.Edited] = []
        do throws(CodecError) {
            while !reader.isAtEnd {
                guard let replica = ReplicaID(bytes: bytes[try reader.skip(ReplicaID.byteCount)]) else { return nil }
                let count = try reader.varint()
                let wall = Int64(bitPattern: try reader.bigEndianUInt64())
                edits.append(DeletionRecord.Edited(replica: replica, count: count, lastWallMilliseconds: wall))
            }
        } catch {
            return nil
        }
        return edits
    }
}
