/// Bits of an element's head in a state.
private enum Head {
    /// The element's birth is the dot behind the birth of the element before.
    static let next: UInt64 = 1
    /// The element was never edited, moved or deleted.
    static let plain: UInt64 = 2
}

/// The first byte of an operation.
private enum Kind {
    static let create: UInt8 = 0
    static let insert: UInt8 = 1
    static let edit: UInt8 = 2
    static let delete: UInt8 = 3
    static let move: UInt8 = 4
}

extension ListContents: ByteCoded where Content: StateCoded {}

extension ListContents: StateCoded where Content: StateCoded {
    /// Layout: presence; skeleton; varint count of elements; each: varint head, birth unless next, presence and moves unless
    /// plain, content.
    public func write(to writer: inout StateWriter) {
        writer.append(presence)
        writer.append(skeleton)
        writer.append(varint: UInt64(elements.count))
        var expected: Dot?
        for element in elements {
            let isNext = expected == element.birth
            writer.append(varint: (isNext ? Head.next : 0) | (element.isPlain ? Head.plain : 0))
            if !isNext { writer.append(element.birth) }
            if !element.isPlain {
                writer.append(element.presence)
                writer.append(element.moves)
            }
            writer.append(element.content)
            expected = element.birth.following
        }
    }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        presence = try DotSet(restoring: &reader)
        skeleton = try Skeleton(restoring: &reader)
        for _ in 0..<(try reader.count(bytesEach: 1, "list.elements")) {
            let head = try reader.varint(upTo: Head.next | Head.plain, "list.head")
            let birth = try Self.birth(head, after: elements.last?.birth, &reader)
            var presence: DotSet = [birth]
            var moves = PositionRegister()
            if head & Head.plain == 0 {
                presence = try DotSet(restoring: &reader)
                moves = try PositionRegister(restoring: &reader)
            }
            let element = Element(
                birth: birth, presence: presence, moves: moves, content: try Content(restoring: &reader))
            // What is plain says so.
            guard element.isPlain == (head & Head.plain != 0) else { throw .outOfRange(field: "list.head") }
            elements.append(element)
        }
    }

    private static func birth(_ head: UInt64, after last: Dot?, _ reader: inout StateReader) throws(CodecError) -> Dot {
        if head & Head.next != 0 {
            guard let last, last.counter < Limits.counters else { throw .outOfRange(field: "list.birth") }
            return last.following
        }
        let birth = try reader.dot()
        if let last, birth <= last || birth == last.following { throw .outOfRange(field: "list.birth") }
        return birth
    }
}

extension Dot {
    /// The next of the same replica; a counter is far from the end of 64 bits wherever bytes come in.
    var following: Dot { Dot(replica: replica, counter: counter &+ 1) }
}

extension ReplicatedList: ByteCoded where Value: StateCoded {}

extension ReplicatedList: StateCoded where Value: StateCoded {
    /// Layout: that of its contents.
    public func write(to writer: inout StateWriter) { contents.write(to: &writer) }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        guard let list = Self(try ListContents<Value>(restoring: &reader)) else { throw .outOfRange(field: "list") }
        self = list
    }
}

extension ReplicatedList.Operation: ByteCoded where Value.Operation: ByteCoded {
    /// Layout: one byte that says which, then its parts in order; of an insertion varint (count of values − 1) before these.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .create: bytes.append(Kind.create)
        case .insert(let placement, let values):
            bytes.append(Kind.insert)
            placement.append(to: &bytes)
            bytes.append(varint: UInt64(Swift.max(1, values.count)) - 1)
            for value in values { value.append(to: &bytes) }
        case .edit(let element, let operation):
            bytes.append(Kind.edit)
            element.append(to: &bytes)
            operation.append(to: &bytes)
        case .delete(let ranges):
            bytes.append(Kind.delete)
            ranges.append(to: &bytes)
        case .move(let element, let placement):
            bytes.append(Kind.move)
            element.append(to: &bytes)
            placement.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case Kind.create: self = .create
        case Kind.insert:
            let placement = try Placement(reading: &reader)
            var values: [Value.Operation] = []
            for _ in 0...(try reader.count(bytesEach: 1, "list.values")) {
                values.append(try Value.Operation(reading: &reader))
            }
            self = .insert(placement, values)
        case Kind.edit:
            self = .edit(try DotReference(reading: &reader), try Value.Operation(reading: &reader))
        case Kind.delete: self = .delete(try [DotRange](reading: &reader))
        case Kind.move: self = .move(try DotReference(reading: &reader), try Placement(reading: &reader))
        case _: throw .outOfRange(field: "list.operation")
        }
    }
}
