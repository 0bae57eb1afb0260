/// Has one canonical byte form: equal values have equal bytes, and reading refuses any other form of the same value.
///
/// What is shipped, hashed or kept on disk goes through this; `Codable` is for applications. Reading never traps: the
/// bytes may come from a peer.
public protocol ByteCoded: Sendable {
    func append(to bytes: inout [UInt8])
    init(reading reader: inout ByteReader) throws(CodecError)
}

extension ByteCoded {
    /// The canonical bytes.
    @inlinable public var canonicalBytes: [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }
}
