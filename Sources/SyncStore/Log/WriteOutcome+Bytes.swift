package import SyncModel

// The form in which an answer is kept beside its key. It never leaves this node.
extension WriteOutcome {
    /// Larger objects are read again: at an edit of a book, keeping the whole book would cost more than the edit.
    private static let keptStateBytes = 1_024

    package var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(dots == nil ? 0 : 1)
        if let dots {
            bytes += dots.lowerBound.replica.bytes
            bytes.append(varint: dots.lowerBound.counter)
            bytes.append(varint: dots.upperBound.counter)
        }
        bytes.append(varint: UInt64(steps.count))
        for step in steps { Self.append(step, to: &bytes) }
        return bytes
    }

    private static func append(_ step: Step, to bytes: inout [UInt8]) {
        let key = step.object?.key ?? step.unread
        var state: [UInt8]?
        // Fields that belong to this node alone are not part of the state.
        if let object = step.object, object.localFields.isEmpty { state = object.state.canonicalBytes }
        if let count = state?.count, count > keptStateBytes { state = nil }
        bytes.append(
            (step.changed ? 1 : 0) | (step.version == nil ? 0 : 2) | (key == nil ? 0 : 4) | (state == nil ? 0 : 8))
        if let version = step.version {
            bytes += version.replica.bytes
            bytes.append(varint: version.counter)
        }
        if let key {
            bytes.append(lengthPrefixed: Array(key.collection.string.utf8))
            bytes.append(lengthPrefixed: Array(key.id.string.utf8))
        }
        if let state { bytes.append(lengthPrefixed: state) }
    }

    /// Throws for bytes that are none.
    package init(bytes: [UInt8]) throws(CodecError) {
        var reader = ByteReader(bytes)
        var dots: ClosedRange<Dot>?
        if try reader.byte() != 0 {
            let first = try Self.dot(&reader)
            let last = Dot(replica: first.replica, counter: try reader.varint())
            guard first <= last else { throw .outOfRange(field: "dots") }
            dots = first...last
        }
        var steps: [Step] = []
        for _ in 0..<(try reader.varint(upTo: UInt64(bytes.count), "steps")) { steps.append(try Self.step(&reader)) }
        guard reader.isAtEnd else { throw .trailingBytes }
        self.init(dots: dots, steps: steps)
    }

    private static func step(_ reader: inout ByteReader) throws(CodecError) -> Step {
        let flags = try reader.byte()
        let version = flags & 2 == 0 ? nil : try dot(&reader)
        guard flags & 4 != 0 else { return Step(version: version, changed: flags & 1 != 0, object: nil) }
        let key = ObjectKey(collection: try text(&reader), id: try text(&reader))
        guard flags & 8 != 0 else {
            return Step(version: version, changed: flags & 1 != 0, object: nil, unread: key)
        }
        var object = StoredObject(key: key)
        object.version = version
        object.state = try ObjectState(
            canonicalBytes: Array(reader.bytes[try reader.lengthPrefixed(upTo: keptStateBytes, "state")]))
        return Step(version: version, changed: flags & 1 != 0, object: object)
    }

    private static func dot(_ reader: inout ByteReader) throws(CodecError) -> Dot {
        guard let replica = ReplicaID(bytes: reader.bytes[try reader.skip(ReplicaID.byteCount)]) else {
            throw .outOfRange(field: "replica")
        }
        return Dot(replica: replica, counter: try reader.varint())
    }

    private static func text(_ reader: inout ByteReader) throws(CodecError) -> ExactString {
        let range = try reader.lengthPrefixed(upTo: 1_024, "name")
        return ExactString(String(decoding: reader.bytes[range], as: UTF8.self))
    }
}
