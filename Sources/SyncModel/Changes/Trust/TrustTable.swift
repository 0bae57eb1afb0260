/// All statements on roles that a node knows, with what their authors knew: the rows that `TrustLaw` judges.
///
/// A function of the *set* of changes, in whatever causal order they arrived.
///
/// Bounds: a row for each statement, and for each history that began behind a statement about its device.
package struct TrustTable: Hashable, Sendable {
    package struct Row: Hashable, Sendable {
        /// The dot of the operation.
        package let dot: Dot
        package let statement: TrustStatement

        package var knows: VersionVector { statement.knows }

        /// The named end of a history; 0 for one that is not named.
        func end(of replica: ReplicaID) -> UInt64 {
            statement.ends.first { $0.incarnation == replica.incarnation }?.end ?? 0
        }
    }

    /// A history whose first change knew a statement about its own device.
    package struct Start: Hashable, Sendable {
        package let replica: ReplicaID
        package let statement: Dot
    }

    /// Sorted by dot, each once.
    package private(set) var rows: [Row] = []
    /// Sorted, each once.
    package private(set) var starts: [Start] = []

    package init() {}

    package var isEmpty: Bool { rows.isEmpty }

    package func row(at dot: Dot) -> Row? {
        let place = place(of: dot)
        return place < rows.count && rows[place].dot == dot ? rows[place] : nil
    }

    /// The index of the first row that is not before the dot.
    private func place(of dot: Dot) -> Int {
        var places = 0..<rows.count
        while !places.isEmpty {
            let middle = (places.lowerBound + places.upperBound) / 2
            if rows[middle].dot < dot {
                places = middle + 1..<places.upperBound
            } else {
                places = places.lowerBound..<middle
            }
        }
        return places.lowerBound
    }

    /// Returns the table with these rows alone, and all starts.
    package func keeping(_ isKept: (Row) -> Bool) -> TrustTable {
        var table = self
        table.rows.removeAll { !isKept($0) }
        return table
    }

    /// Returns all statements and these add-facts, of each history all before the counter.
    package func known(with additions: some Sequence<Dot>) -> VersionVector {
        VersionVector(
            (rows.map(\.dot) + additions).map { VersionVector.Entry(replica: $0.replica, next: $0.counter + 1) })
    }

    /// Takes a statement whose causal past was taken. One that a device makes in its own name, and that claims to know more
    /// than its author had seen, is taken by no node.
    ///
    /// - Parameter context: all that its author had seen of others.
    /// - Returns: whether it is news.
    @discardableResult
    package mutating func record(_ statement: TrustStatement, at dot: Dot, context: VersionVector) -> Bool {
        guard row(at: dot) == nil, statement.isRecovery || statement.isWithin(context, at: dot) else { return false }
        insert(Row(dot: dot, statement: statement))
        return true
    }

    /// Takes a statement of the recovery key that came apart from its history.
    ///
    /// - Returns: whether it is news. One of another signer is not taken.
    package mutating func record(_ statement: TrustStatement, at dot: Dot) -> Bool {
        guard statement.isRecovery, row(at: dot) == nil else { return false }
        insert(Row(dot: dot, statement: statement))
        return true
    }

    /// The recovery keys that the founder named; by dot.
    func recoveryKeys(of founder: DeviceID) -> [[UInt8]] {
        rows.compactMap { row in
            guard row.dot.replica.device == founder, case .recoveryKey(let key) = row.statement.content else {
                return nil
            }
            return key
        }
    }

    /// Takes the beginning of a history.
    ///
    /// - Parameter context: all that its author had seen of others.
    /// - Returns: whether it tells anything.
    @discardableResult
    package mutating func recordStart(of replica: ReplicaID, context: VersionVector) -> Bool {
        let before = starts.count
        for row in rows where row.statement.device == replica.device && context.covers(row.dot) {
            insert(Start(replica: replica, statement: row.dot))
        }
        return starts.count != before
    }

    /// Takes what another node says that it knows.
    package mutating func join(_ other: TrustTable) {
        for row in other.rows where self.row(at: row.dot) == nil { insert(row) }
        for start in other.starts { insert(start) }
    }

    private mutating func insert(_ row: Row) {
        rows.insert(row, at: place(of: row.dot))
    }

    private mutating func insert(_ start: Start) {
        let index = starts.firstIndex { !($0 < start) } ?? starts.count
        if index == starts.count || starts[index] != start { starts.insert(start, at: index) }
    }
}

extension TrustTable.Start: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        left.replica == right.replica ? left.statement < right.statement : left.replica < right.replica
    }
}

extension TrustTable: ByteCoded {
    /// Layout: varint count of rows, each: dot, statement with its length; varint count of starts, each: replica, dot. Both ascending.
    package func append(to bytes: inout [UInt8]) {
        bytes.append(varint: UInt64(rows.count))
        for row in rows {
            bytes.append(row.dot)
            bytes.append(lengthPrefixed: row.statement.canonicalBytes)
        }
        bytes.append(varint: UInt64(starts.count))
        for start in starts {
            bytes += start.replica.bytes
            bytes.append(start.statement)
        }
    }

    package init(reading reader: inout ByteReader) throws(CodecError) {
        for _ in 0..<(try reader.varint(upTo: UInt64(reader.remainingCount), "trust.rows")) {
            let dot = try reader.dot("trust.dot")
            var body = ByteReader(
                reader.bytes, try reader.lengthPrefixed(upTo: Limits.operationsBytes, "trust.statement"))
            let statement = try TrustStatement(reading: &body)
            guard body.isAtEnd else { throw .trailingBytes }
            if let last = rows.last, last.dot >= dot { throw .outOfRange(field: "trust.rows") }
            rows.append(Row(dot: dot, statement: statement))
        }
        for _ in 0..<(try reader.varint(upTo: UInt64(reader.remainingCount), "trust.starts")) {
            let range = try reader.skip(ReplicaID.byteCount)
            guard let replica = ReplicaID(bytes: reader.bytes[range]) else { throw .truncated }
            let start = Start(replica: replica, statement: try reader.dot("trust.start"))
            if let last = starts.last, last >= start { throw .outOfRange(field: "trust.starts") }
            starts.append(start)
        }
    }
}
