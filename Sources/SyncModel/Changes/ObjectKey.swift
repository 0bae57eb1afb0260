/// Names an object: a collection and an id in it, both exact (twins in another normalisation are other objects).
package struct ObjectKey: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// A name; see `Name`.
    package let collection: ExactString
    /// 1 to `Limits.objectIDBytes` bytes of UTF-8 without `/` and control characters.
    package let id: ExactString

    package init(collection: ExactString, id: ExactString) {
        self.collection = collection
        self.id = id
    }

    package var isValid: Bool { Name.isValid(collection.string) && Self.isValidID(id.string) }

    package static func isValidID(_ id: String) -> Bool {
        (1...Limits.objectIDBytes).contains(id.utf8.count)
            && !id.unicodeScalars.contains { $0 == "/" || $0.value < 0x20 || (0x7f...0x9f).contains($0.value) }
    }

    package static func < (left: ObjectKey, right: ObjectKey) -> Bool {
        left.collection == right.collection ? left.id < right.id : left.collection < right.collection
    }

    package var description: String { "\(collection)/\(id)" }
}

extension ObjectKey: ByteCoded {
    /// Layout: collection, id, each with its length. The order of keys is not that of their bytes.
    package func append(to bytes: inout [UInt8]) {
        collection.append(to: &bytes)
        id.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        self.init(collection: try ExactString(reading: &reader), id: try ExactString(reading: &reader))
        guard Name.isValid(collection.string) else { throw .outOfRange(field: "object.collection") }
        guard Self.isValidID(id.string) else { throw .outOfRange(field: "object.id") }
    }
}
