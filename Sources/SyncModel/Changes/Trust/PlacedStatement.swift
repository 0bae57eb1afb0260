/// A statement with where it stands in its author's history: what the signature is over. So it can be checked apart from the
/// history.
package struct PlacedStatement: Hashable, Sendable {
    package let dot: Dot
    package let statement: TrustStatement

    package init(dot: Dot, statement: TrustStatement) {
        self.dot = dot
        self.statement = statement
    }

    package init(_ row: TrustTable.Row) { self.init(dot: row.dot, statement: row.statement) }

    /// The greatest number of statements in a frame.
    static let countLimit = 32
    /// The greatest number of bytes that they take together.
    package static let byteLimit = 256 << 10
    /// The same in a `Goodbye`, which then follows a `Hello`.
    package static let goodbyeByteLimit = 64 << 10

    /// Returns the statements that one frame holds, from the first on; those that are too long are left out.
    package static func fitting(
        _ statements: some Sequence<PlacedStatement>, upTo byteLimit: Int
    ) -> [PlacedStatement] {
        var (fitting, byteCount): ([PlacedStatement], Int) = ([], 0)
        for statement in statements where fitting.count < countLimit {
            let count = statement.canonicalBytes.count
            guard byteCount + count <= byteLimit else { continue }
            byteCount += count
            fitting.append(statement)
        }
        return fitting
    }

    static func checkBounds(
        _ statements: [PlacedStatement], upTo byteLimit: Int, _ field: String
    ) throws(WireError) {
        let isWithin =
            statements.count <= countLimit && statements.reduce(0) { $0 + $1.canonicalBytes.count } <= byteLimit
        try Frame.require(isWithin, field)
    }
}

extension PlacedStatement: ByteCoded {
    /// Layout: dot, statement.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(dot)
        statement.append(to: &bytes)
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        dot = try reader.dot("statement.dot")
        statement = try TrustStatement(reading: &reader)
    }
}
