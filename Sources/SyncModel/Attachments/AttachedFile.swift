import Crypto

/// The description of an attachment's bytes: never changed, whatever becomes of the object it is attached to.
package struct AttachedFile: Hashable, Sendable {
    /// The name that its author gave it, up to `Limits.attachmentNameBytes` of UTF-8; empty if it had no name. It is not a
    /// path: `FileNames` makes one of it.
    package let name: ExactString
    package let mediaType: MediaType
    /// The size of the picture; nil for a file that is no picture, or one whose header is not understood.
    package let image: ImageSize?
    package let blob: BlobName

    package init(name: ExactString, mediaType: MediaType, image: ImageSize?, blob: BlobName) {
        self.name = name
        self.mediaType = mediaType
        self.image = image
        self.blob = blob
    }

    /// The number of bytes.
    package var size: UInt64 { blob.size }
}

extension AttachedFile: ByteCoded {
    /// Layout: name with length, media type with length, varint size, image, 32 bytes of the blob's hash. An image is varint
    /// width, varint height; 0 for none.
    package func append(to bytes: inout [UInt8]) {
        name.append(to: &bytes)
        bytes.append(lengthPrefixed: mediaType.name.utf8)
        bytes.append(varint: size)
        bytes.append(varint: UInt64(image?.width ?? 0))
        if let image { bytes.append(varint: UInt64(image.height)) }
        bytes += blob.hash.bytes
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        name = try ExactString(reading: &reader)
        guard name.string.utf8.count <= Limits.attachmentNameBytes else { throw .outOfRange(field: "attachment.name") }
        let type = try ExactString(reading: &reader)
        // Lower case is the one form.
        guard let mediaType = MediaType(type.string), ExactString(mediaType.name) == type else {
            throw .outOfRange(field: "attachment.mediaType")
        }
        self.mediaType = mediaType
        let size = try reader.varint(upTo: BlobLayout.sizeLimit, "attachment.size")
        image = try ImageSize(reading: &reader)
        let range = try reader.skip(BlobHash.byteCount)
        guard let hash = BlobHash(bytes: reader.bytes[range]) else { throw .truncated }
        blob = BlobName(hash, size: size)
    }
}

extension ImageSize {
    /// Nil for no image.
    fileprivate init?(reading reader: inout ByteReader) throws(CodecError) {
        let width = try reader.varint(upTo: UInt64(UInt32.max), "attachment.width")
        guard width > 0 else { return nil }
        let height = try reader.varint(upTo: UInt64(UInt32.max), "attachment.height")
        guard let size = ImageSize(width: UInt32(width), height: UInt32(height)) else {
            throw .outOfRange(field: "attachment.height")
        }
        self = size
    }
}

/// An immutable record of an object: which bytes are attached to it. Named by the dot of the operation that attached it.
package struct Attachment: Hashable, Sendable {
    package let id: Dot
    /// The stamp of the change that attached it.
    package let stamp: Stamp
    package let file: AttachedFile

    package init(id: Dot, stamp: Stamp, file: AttachedFile) {
        self.id = id
        self.stamp = stamp
        self.file = file
    }

    /// 26 characters that follow from the id, like `7QXPBVDAW4SGEFIWSN2WJ3IKHA`: people name an attachment by the first few.
    /// Ids themselves begin alike, for all that one device attached.
    package var label: String { Self.label(of: id) }

    /// True if a text could be a whole label, in letters of either case.
    package static func isLabel(_ text: String) -> Bool {
        text.utf8.count == 26 && text.uppercased().utf8.allSatisfy(Base32.alphabet.contains)
    }

    private static func label(of id: Dot) -> String {
        var bytes = Array("lanyard/attachment/label/v1".utf8)
        bytes += id.replica.bytes
        bytes.append(bigEndian: id.counter)
        let digits = Base32.digits(of: Array(SHA256.hash(data: bytes).prefix(16)))
        return String(decoding: digits.map { Base32.alphabet[Int($0)] }, as: UTF8.self)
    }

    /// The order in which attachments are shown, the greatest first.
    package var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: id) }
}

extension Attachment: StateCoded {
    /// Layout: dot, varint stamp, file.
    package func write(to writer: inout StateWriter) {
        writer.append(id)
        writer.append(varint: stamp.rawValue)
        writer.append(element: file)
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        let id = try reader.dot()
        let stamp = Stamp(rawValue: try reader.varint())
        self.init(id: id, stamp: stamp, file: try AttachedFile(reading: &reader.bytes))
    }
}
