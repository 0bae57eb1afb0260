/// The first byte of an operation.
private enum Kind {
    static let create: UInt8 = 0
    static let insert: UInt8 = 1
    static let delete: UInt8 = 2
    static let revise: UInt8 = 3
}

extension ReplicatedText: StateCoded {
    /// Layout: that of its contents.
    public func write(to writer: inout StateWriter) { contents.write(to: &writer) }

    /// Reads what `write(to:)` wrote; refuses any other form of the same value.
    public init(restoring reader: inout StateReader) throws(CodecError) {
        guard let text = Self(opening: try TextContents(restoring: &reader)) else {
            throw .outOfRange(field: "text")
        }
        self = text
    }
}

extension ReplicatedText.Operation: ByteCoded {
    /// Layout: one byte that says which, then its parts in order.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .create: bytes.append(Kind.create)
        case .insert(let placement, let text):
            bytes.append(Kind.insert)
            placement.append(to: &bytes)
            text.append(to: &bytes)
        case .delete(let ranges):
            bytes.append(Kind.delete)
            ranges.append(to: &bytes)
        case .revise(let revision):
            bytes.append(Kind.revise)
            revision.append(to: &bytes)
        }
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        switch try reader.byte() {
        case Kind.create: self = .create
        case Kind.insert: self = .insert(try Placement(reading: &reader), try ExactString(reading: &reader))
        case Kind.delete: self = .delete(try [DotRange](reading: &reader))
        case Kind.revise: self = .revise(try TextRevision(reading: &reader))
        case _: throw .outOfRange(field: "text.operation")
        }
    }
}
