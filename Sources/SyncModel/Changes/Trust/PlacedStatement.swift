import FoundationEssentials

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
    static let byteLimit = 256 << 10

    /// Returns the first statements that one frame holds.
    package static func fitting(_ statements: some Sequence<PlacedStatement>) -> [PlacedStatement] {
        var byteCount = 0
        return Array(
            statements.prefix(countLimit).prefix { statement in
                byteCount += statement.canonicalBytes.count
                return byteCount <= byteLimit
            })
    }

    static func checkBounds(_ statements: [PlacedStatement], _ field: String) throws(WireError) {
        try Frame.require(fitting(statements).count == statements.count, field)
    }

    static func read(_ statements: [Data]) throws(WireError) -> [PlacedStatement] {
        guard statements.count <= countLimit, statements.reduce(0, { $0 + $1.count }) <= byteLimit else {
            throw .outOfRange(field: "statements")
        }
        var read: [PlacedStatement] = []
        for bytes in statements {
            // One of a later version is passed over.
            var reader = ByteReader([UInt8](bytes))
            if let statement = try? PlacedStatement(reading: &reader), reader.isAtEnd { read.append(statement) }
        }
        return read
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
