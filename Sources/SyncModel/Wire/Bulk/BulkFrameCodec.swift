/// Frames of bulk connections to bytes and back. The four bytes of length before each frame are the transport's. Layout in
/// PROTOCOL.md "Bulk connections".
///
/// Bounds: a frame has at most `Limits.frameBytes` bytes, and every field is held to `BulkLimits`, both ways alike. Each frame
/// has one form: what `decode` takes, `encode` gives back byte for byte. The bytes of blobs are copied once in each direction;
/// what else is built from a frame takes no more than a few times its own size.
package enum BulkFrameCodec {
    /// The first byte of a frame. Any other but 0 is a kind of a later version.
    enum Kind: UInt8 {
        case hello = 1
        case want = 2
        case unwant = 3
        case holding = 4
        case hashesRequest = 5
        case hashes = 6
        case request = 7
        case cancel = 8
        case chunk = 9
        case smallRequest = 10
        case smallBlobs = 11
        case refusal = 12
        case goodbye = 13
    }

    /// The byte behind the blob of a `holding`.
    enum HoldingMark: UInt8 {
        case nothing = 0
        case chunks = 1
        case all = 2
    }

    /// Throws when a field is outside its bounds: a bug of ours.
    package static func encode(_ frame: BulkFrame) throws(WireError) -> [UInt8] {
        try frame.checkBounds()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(frame.byteCountBound)
        bytes.append(frame)
        return bytes
    }

    /// Nil for a kind of frame this version does not know: it is ignored. Bytes come from peers: never traps.
    package static func decode(_ bytes: [UInt8]) throws(WireError) -> BulkFrame? {
        guard bytes.count <= Limits.frameBytes else { throw .tooLarge(byteCount: bytes.count) }
        guard let first = bytes.first, first != 0 else { throw .malformed }
        guard let kind = Kind(rawValue: first) else { return nil }
        var reader = ByteReader(bytes, 1..<bytes.count)
        let frame: BulkFrame
        do {
            frame = try read(kind, &reader)
        } catch {
            guard case .outOfRange(let field) = error else { throw .malformed }
            throw .outOfRange(field: field)
        }
        guard reader.isAtEnd else { throw .malformed }
        try frame.checkBounds()
        return frame
    }
}
