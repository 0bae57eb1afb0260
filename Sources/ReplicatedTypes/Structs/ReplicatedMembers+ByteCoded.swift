extension MemberOperation: ByteCoded where repeat (each Member).Operation: ByteCoded {
    /// Layout: varint place of the member, its operation.
    public func append(to bytes: inout [UInt8]) {
        var index: UInt64 = 0
        for operation in repeat each operations {
            if let operation {
                bytes.append(varint: index)
                operation.append(to: &bytes)
            }
            index += 1
        }
    }

    /// Reads what `append(to:)` wrote, and refuses any other form of it.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        let cursor = MemberByteCursor(reader, wanted: try reader.varint())
        cursor.reader = reader
        self.init(cursor)
        try cursor.finish()
        reader = cursor.reader
    }
}

extension MemberOperation where repeat (each Member).Operation: ByteCoded {
    fileprivate init(_ cursor: MemberByteCursor) { operations = (repeat cursor.next((each Member).Operation.self)) }
}

/// A cursor like `MemberCursor`, for bytes: `try` is not possible where a tuple is filled.
private final class MemberByteCursor {
    var reader: ByteReader
    private let wanted: UInt64
    private var index: UInt64 = 0
    private var failure: CodecError?

    init(_ reader: ByteReader, wanted: UInt64) {
        self.reader = reader
        self.wanted = wanted
    }

    func next<Part: ByteCoded>(_ type: Part.Type) -> Part? {
        defer { index += 1 }
        guard wanted == index else { return nil }
        do throws(CodecError) {
            return try Part(reading: &reader)
        } catch {
            failure = error
            return nil
        }
    }

    func finish() throws(CodecError) {
        if let failure { throw failure }
        guard wanted < index else { throw .outOfRange(field: "struct.member") }
    }
}

/// A list of members that all have canonical bytes.
public protocol CodedMemberList<Root>: ReplicatedMemberList {
    /// Writes the members in order.
    func write(_ root: Root, to writer: inout StateWriter)
    /// Reads what `write` wrote.
    func restore(_ root: inout Root, from reader: inout StateReader) throws(CodecError)
}

extension ReplicatedMembers: CodedMemberList where repeat each Member: StateCoded {
    /// Writes the members in order.
    public func write(_ root: Root, to writer: inout StateWriter) {
        for path in repeat each paths { root[keyPath: path].write(to: &writer) }
    }

    /// Reads what `write` wrote.
    public func restore(_ root: inout Root, from reader: inout StateReader) throws(CodecError) {
        for (path, type) in repeat (each paths, (each Member).self) {
            root[keyPath: path] = try type.init(restoring: &reader)
        }
    }
}

/// The requirements of `StateCoded`, so that a struct only has to declare the conformance.
extension ReplicatedStruct where Members: CodedMemberList {
    /// Writes the canonical form.
    public func write(to writer: inout StateWriter) { Self.members.write(self, to: &writer) }

    /// Reads what `write(to:)` wrote, and refuses any other form of it.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        self.init()
        try Self.members.restore(&self, from: &reader)
    }
}
