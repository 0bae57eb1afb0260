extension DotReference: ByteCoded {
    /// Layout: varint (counter · 2 + (another replica's)), then that replica's name.
    public func append(to bytes: inout [UInt8]) {
        switch self {
        case .own(let counter): bytes.append(varint: counter << 1)
        case .other(let dot):
            bytes.append(varint: dot.counter << 1 | 1)
            bytes.append(contentsOf: dot.replica.bytes)
        }
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        let head = try reader.varint()
        guard head >> 1 <= Limits.counters else { throw .outOfRange(field: "dot.counter") }
        guard head & 1 == 1 else {
            self = .own(head >> 1)
            return
        }
        let name = try reader.skip(ReplicaID.byteCount)
        guard let replica = ReplicaID(bytes: reader.bytes[name]) else { throw .truncated }
        self = .other(Dot(replica: replica, counter: head >> 1))
    }
}

extension DotRange: ByteCoded {
    /// Layout: first dot, varint (count − 1).
    public func append(to bytes: inout [UInt8]) {
        first.append(to: &bytes)
        bytes.append(varint: max(1, count) - 1)
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        first = try DotReference(reading: &reader)
        count = try reader.varint(upTo: Limits.operationsPerChange - 1, "range.count") + 1
    }
}

extension [DotRange] {
    /// Layout: varint (count − 1); each range.
    func append(to bytes: inout [UInt8]) {
        bytes.append(varint: UInt64(Swift.max(1, count)) - 1)
        for range in self { range.append(to: &bytes) }
    }

    init(reading reader: inout ByteReader) throws(CodecError) {
        self = []
        for _ in 0...(try reader.count(bytesEach: 2, "ranges")) { append(try DotRange(reading: &reader)) }
        guard DotRange.span(of: self) <= Limits.operationsPerChange else { throw .outOfRange(field: "ranges") }
    }
}

extension Placement: ByteCoded {
    private enum Code {
        static let before: UInt8 = 0
        static let beginning: UInt8 = 1
        static let after: UInt8 = 4
        /// Added to the two above.
        static let inherited: UInt8 = 0
        static let end: UInt8 = 1
        static let followed: UInt8 = 2
    }

    /// The reason for which a node is named.
    enum NodeSort: Int {
        case parent
        case rightOrigin
        case deleted
    }

    /// The code of the kind of place, less than 8.
    var code: UInt8 {
        guard case .after(let previous, let rightOrigin) = self else { return Code.before }
        let code = previous == nil ? Code.beginning : Code.after
        return switch rightOrigin {
        case .inherited: code + Code.inherited
        case .end: code + Code.end
        case .node: code + Code.followed
        }
    }

    /// The nodes that it names, in order.
    func forEachNode(_ body: (DotReference, NodeSort) -> Void) {
        switch self {
        case .before(let next): body(next, .parent)
        case .after(let previous, let rightOrigin):
            if let previous { body(previous, .parent) }
            if case .node(let next) = rightOrigin { body(next, .rightOrigin) }
        }
    }

    /// The place with this code; `node` is asked for the nodes that it names, in order.
    init(code: UInt8, _ node: (NodeSort) throws(CodecError) -> DotReference) throws(CodecError) {
        guard code != Code.before else {
            self = .before(try node(.parent))
            return
        }
        guard code < Code.after + 3 else { throw .outOfRange(field: "placement") }
        let previous = code < Code.after ? nil : try node(.parent)
        switch code - (code < Code.after ? Code.beginning : Code.after) {
        case Code.inherited: self = .after(previous, .inherited)
        case Code.end: self = .after(previous, .end)
        case _: self = .after(previous, .node(try node(.rightOrigin)))
        }
    }

    /// Layout: one byte that says which, then the nodes that it names.
    public func append(to bytes: inout [UInt8]) {
        bytes.append(code)
        forEachNode { node, _ in node.append(to: &bytes) }
    }

    /// Reads what `append(to:)` wrote; refuses anything else.
    public init(reading reader: inout ByteReader) throws(CodecError) {
        let code = try reader.byte()
        try self.init(code: code) { _ throws(CodecError) in try DotReference(reading: &reader) }
    }
}
