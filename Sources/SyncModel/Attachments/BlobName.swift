/// The name of a blob: the hash of its bytes, and their number.
///
/// The hash covers the size, so bytes have one name. A record with a false size names another blob, which no device has.
package struct BlobName: Hashable, Sendable {
    package let hash: BlobHash
    /// The number of bytes. Names that were read have at most `BlobLayout.sizeLimit`.
    package let size: UInt64

    package init(_ hash: BlobHash, size: UInt64) {
        self.hash = hash
        self.size = size
    }

    /// Creates the name of a blob with these chunks.
    package init(of chunks: [ChunkHash], size: UInt64) { self.init(BlobHash(of: chunks, size: size), size: size) }

    package var layout: BlobLayout {
        guard let layout = BlobLayout(size: size) else { preconditionFailure("a blob of \(size) bytes") }
        return layout
    }
}

extension BlobName: Comparable {
    package static func < (left: BlobName, right: BlobName) -> Bool {
        left.hash == right.hash ? left.size < right.size : left.hash < right.hash
    }
}

extension BlobName: ByteCoded {
    /// The greatest number of bytes that a name takes.
    static let byteCountBound = BlobHash.byteCount + 5
    /// The least number of bytes that a name takes.
    static let leastByteCount = BlobHash.byteCount + 1

    /// Layout: 32 bytes of the hash, varint size.
    package func append(to bytes: inout [UInt8]) {
        bytes += hash.bytes
        bytes.append(varint: size)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        guard let hash = BlobHash(bytes: reader.bytes[try reader.skip(BlobHash.byteCount)]) else { throw .truncated }
        self.init(hash, size: try reader.varint(upTo: BlobLayout.sizeLimit, "blob.size"))
    }
}
