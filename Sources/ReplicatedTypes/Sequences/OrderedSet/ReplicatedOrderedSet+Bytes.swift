/// The first byte of an operation.
private enum Kind {
    static let create: UInt8 = 0
    static let insert: UInt8 = 1
    static let remove: UInt8 = 2
    static let move: UInt8 = 3
}

extension OrderedSetContents: ByteCoded where Element: ByteCoded {}

extension OrderedSetContents: StateCoded where Element: ByteCoded {
    /// Layout: presence; skeleton; varint count of entries; each: element, varint 1 and positions if plain, else varint 0,
    /// positions, presence.
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(skeleton)
        writer.append(varint: UInt64(entries.count))
        for entry in entries {
            writer.append(element: entry.element)
            writer.append(varint: entry.isPlain ? 1 : 0)
            writer.append(entry.positions)
            if !entry.isPlain { writer.append(entry.presence) }
        }
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        skeleton = try Skeleton(restoring: &reader)
        for _ in 0..<(try reader.count(bytesEach: 3, "orderedSet.entries")) {
            let element = try Element(reading: &reader.bytes)
            if let last = entries.last, !(last.element < element) { throw .outOfRange(field: "orderedSet.element") }
            let isPlain = try reader.varint(upTo: 1, "orderedSet.plain") == 1
            let positions = try PositionRegister(restoring: &reader)
            let presence = isPlain ? DotSet(positions.keys.map { $0.dot }) : try DotSet(restoring: &reader)
            let entry = Entry(element: element, presence: presence, positions: positions)
            // What is plain says so.
            guard entry.isPlain == isPlain else { throw .outOfRange(field: "orderedSet.plain") }
            entries.append(entry)
        }
    }
}

extension ReplicatedOrderedSet: ByteCoded where Element: ByteCoded {}

extension ReplicatedOrderedSet: StateCoded where Element: ByteCoded {
    /// Layout: that of its contents.
    public func write(to writer: inout StateWriter) { contents.write(to: &writer) }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        guard let set = Self(try OrderedSetContents<Element>(restoring: &reader)) else {
            throw .outOfRange(field: "orderedSet")
        }
        self = set
    }
}

extension ReplicatedOrderedSet.Operation: ByteCoded where Element: ByteCoded {
    /// Layout: one byte that says which, then its parts in order; before values varint (count − 1).
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .create: bytes.append(Kind.create)
        case .insert(let placement, let values):
            bytes.append(Kind.insert)
            placement.append(to: &bytes)
            Self.append(values, to: &bytes)
        case .remove(let values):
            bytes.append(Kind.remove)
            Self.append(values, to: &bytes)
        case .move(let value, let placement):
            bytes.append(Kind.move)
            value.append(to: &bytes)
            placement.append(to: &bytes)
        }
    }

    private static func append(_ values: [Element], to bytes: inout [UInt8]) {
        bytes.append(varint: UInt64(Swift.max(1, values.count)) - 1)
        for value in values { value.append(to: &bytes) }
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case Kind.create: self = .create
        case Kind.insert: self = .insert(try Placement(reading: &reader), try Self.values(&reader))
        case Kind.remove: self = .remove(try Self.values(&reader))
        case Kind.move: self = .move(try Element(reading: &reader), try Placement(reading: &reader))
        case _: throw .outOfRange(field: "orderedSet.operation")
        }
    }

    private static func values(_ reader: inout ByteReader) throws(CodecError) -> [Element] {
        var values: [Element] = []
        for _ in 0...(try reader.count(bytesEach: 1, "orderedSet.values")) {
            values.append(try Element(reading: &reader))
        }
        return values
    }
}
