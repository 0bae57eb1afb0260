import SyncModel

/// Frames as a later version may send them: with fields, and of kinds, that this one does not know.
package enum LaterFrames {
    /// Protobuf field 500: 5 bytes.
    private static let field: [UInt8] = [0xa2, 0x1f, 5] + Array("later".utf8)

    /// A frame of a kind that this version does not know.
    package static let unknownKind = field

    /// Returns the frame with one field more in its body, and one more behind it; as it is if it would be too long.
    package static func extended(_ frame: [UInt8]) -> [UInt8] {
        var reader = ByteReader(frame)
        guard frame.count + 2 * field.count + 1 <= Limits.frameBytes, let tag = try? reader.varint(),
            let count = try? reader.varint(), count == UInt64(reader.remainingCount)
        else { return frame }
        var bytes: [UInt8] = []
        bytes.append(varint: tag)
        bytes.append(varint: count + UInt64(field.count))
        return bytes + frame.suffix(reader.remainingCount) + field + field
    }
}
