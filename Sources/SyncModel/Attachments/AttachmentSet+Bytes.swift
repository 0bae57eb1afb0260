extension AttachmentSet: StateCoded {
    /// Layout: varint count; each, ascending by id.
    package func write(to writer: inout StateWriter) {
        writer.append(varint: UInt64(sorted.count))
        for attachment in sorted { writer.append(attachment) }
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        var sorted: [Attachment] = []
        // Two bytes of dot, a stamp, two lengths, a type of three, a size, no image, a hash.
        for _ in 0..<(try reader.count(bytesEach: 10 + BlobHash.byteCount, "attachments")) {
            let attachment = try Attachment(restoring: &reader)
            if let last = sorted.last, last.id >= attachment.id { throw .outOfRange(field: "attachments") }
            sorted.append(attachment)
        }
        self.init(sorted: sorted)
    }
}

extension AttachmentSet.Delta: StateCoded {
    /// Layout: what is added; dots of what is kept.
    package func write(to writer: inout StateWriter) {
        writer.append(added)
        writer.append(kept)
    }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        added = try AttachmentSet(restoring: &reader)
        kept = try DotRuns(restoring: &reader)
    }
}

extension AttachmentSet.Operation: ByteCoded {
    /// Layout: 0 and the file, or 1 and the dot.
    package func append(to bytes: inout [UInt8]) {
        switch self {
        case .attach(let file):
            bytes.append(0)
            file.append(to: &bytes)
        case .detach(let id):
            bytes.append(1)
            id.append(to: &bytes)
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case 0: self = .attach(try AttachedFile(reading: &reader))
        case 1: self = .detach(try DotReference(reading: &reader))
        case _: throw .outOfRange(field: "attachments.operation")
        }
    }
}

// For applications that keep values as JSON: the canonical bytes as numbers.
extension AttachmentSet: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.canonical() }
    package func encode(to encoder: any Encoder) throws { try encoder.encode(canonical: self) }
}

extension AttachmentSet.Delta: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.canonical() }
    package func encode(to encoder: any Encoder) throws { try encoder.encode(canonical: self) }
}

extension AttachmentSet.Operation: Codable {
    package init(from decoder: any Decoder) throws { self = try decoder.canonical() }
    package func encode(to encoder: any Encoder) throws { try encoder.encode(canonical: self) }
}

extension Decoder {
    fileprivate func canonical<Value: ByteCoded>() throws -> Value {
        try Value(canonicalBytes: try singleValueContainer().decode([UInt8].self))
    }
}

extension Encoder {
    fileprivate func encode(canonical value: some ByteCoded) throws {
        var container = singleValueContainer()
        try container.encode(value.canonicalBytes)
    }
}
