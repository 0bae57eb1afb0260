extension Operation {
    /// Sets entries of a collection's schema; each is a register and owns a counter.
    package struct SchemaEdit: Hashable, Sendable {
        package struct Entry: Hashable, Sendable {
            /// See `CollectionSchema` for the keys that mean something.
            package let key: ExactString
            package let value: JSONValue

            package init(key: ExactString, value: JSONValue) {
                self.key = key
                self.value = value
            }
        }

        /// A name; see `Name`.
        package let collection: ExactString
        /// The entries; at least one.
        package let entries: [Entry]

        package init(collection: ExactString, entries: [Entry]) {
            self.collection = collection
            self.entries = entries
        }

        package var span: UInt64 { UInt64(entries.count) }
    }

    /// A setting of how a stream is kept. The one with the greatest canonical key counts.
    package struct StreamSetting: Hashable, Sendable {
        package let stream: ExactString
        /// True if the stream shows only the greatest event per type; the others are dropped in time.
        package let latestOnly: Bool
        /// Nil: for ever.
        package let retainMilliseconds: UInt64?

        package init(stream: ExactString, latestOnly: Bool, retainMilliseconds: UInt64?) {
            self.stream = stream
            self.latestOnly = latestOnly
            self.retainMilliseconds = retainMilliseconds
        }
    }
}

extension Operation.SchemaEdit: ByteCoded {
    /// Layout: collection with length, then up to the end: key with length, value.
    package func append(to bytes: inout [UInt8]) {
        collection.append(to: &bytes)
        for entry in entries {
            entry.key.append(to: &bytes)
            entry.value.append(to: &bytes)
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        collection = try ExactString(reading: &reader)
        guard Name.isValid(collection.string) else { throw .outOfRange(field: "schema.collection") }
        var entries: [Entry] = []
        while !reader.isAtEnd {
            let start = reader.position
            entries.append(
                Entry(key: try ExactString(reading: &reader), value: try JSONValue(reading: &reader)))
            guard reader.position - start <= Limits.editBytes else { throw .outOfRange(field: "schema.entry") }
        }
        guard !entries.isEmpty else { throw .outOfRange(field: "schema.entries") }
        self.entries = entries
    }
}

extension Operation.StreamSetting: ByteCoded {
    /// Layout: stream with length, 0 or 1 (latestOnly), varint 0 (for ever) or milliseconds + 1.
    package func append(to bytes: inout [UInt8]) {
        stream.append(to: &bytes)
        bytes.append(latestOnly ? 1 : 0)
        bytes.append(varint: retainMilliseconds.map { $0 + 1 } ?? 0)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        stream = try ExactString(reading: &reader)
        guard Name.isValid(stream.string) else { throw .outOfRange(field: "stream.name") }
        latestOnly = try reader.flag("stream.latestOnly")
        let retain = try reader.varint(upTo: UInt64(Limits.wallMilliseconds), "stream.retain")
        retainMilliseconds = retain == 0 ? nil : retain - 1
    }
}
