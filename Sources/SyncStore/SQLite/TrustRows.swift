package import SyncModel

/// The rows of the log of trust.
///
/// Bounds, since a member that turned bad can write facts without end: 16 rows for an author and a device, 1,000 for an
/// author, 100,000 in all. Beyond that the rows in the middle go: the first of them and the newest stay.
struct TrustRows {
    private static let rowsPerPair = 16
    private static let rowsPerAuthor = 1_000
    private static let rowsInAll = 100_000

    let log: LogRows
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows) { self.log = log }

    // Writing

    /// Records facts once each. A fact that is here keeps the time at which the node learned of it.
    ///
    /// - Parameter known: this node's wall clock, in milliseconds since 1970; nil if an older program stored the facts.
    func record(_ facts: [TrustFact], at known: Int64?) throws(StoreError) {
        var pairs: Set<[DeviceID]> = []
        for fact in facts {
            try access.run(
                """
                INSERT INTO trust (space, kind, author, device, replica, counter, wall, known, detail)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (replica, counter, kind, device, space)
                    DO UPDATE SET wall = coalesce(wall, excluded.wall), is_gone = 0
                """, .integer(log.spaceRow), .integer(fact.kind.rawValue), .blob(fact.author.bytes),
                .blob(fact.device.bytes), .blob(fact.dot?.replica.bytes),
                .integer(fact.dot.map { Int64($0.counter) }), .integer(fact.wallMilliseconds), .integer(known),
                .blob(fact.detail))
            pairs.insert([fact.author, fact.device])
        }
        for pair in pairs.sorted(by: { $0.lexicographicallyPrecedes($1) }) {
            try thin("author = ? AND device = ?", [.blob(pair[0].bytes), .blob(pair[1].bytes)], to: Self.rowsPerPair)
        }
        for author in Set(pairs.map { $0[0] }).sorted() {
            try thin("author = ?", [.blob(author.bytes)], to: Self.rowsPerAuthor)
        }
        if !facts.isEmpty { try thin("id > 0", [], to: Self.rowsInAll) }
    }

    /// Removes rows from the middle until `limit` are left.
    private func thin(_ condition: String, _ values: [SQLValue], to limit: Int) throws(StoreError) {
        let values = [.integer(log.spaceRow)] + values
        var count = 0
        try access.forEach("SELECT count(*) FROM trust WHERE space = ? AND \(condition)", values: values) {
            row throws(StoreError) in
            count = Int(row.integer(0))
            return true
        }
        guard count > limit else { return }
        var rows: [Int64] = []
        try access.forEach(
            "SELECT id FROM trust WHERE space = ? AND \(condition) ORDER BY id LIMIT ? OFFSET ?",
            values: values + [.integer(Int64(count - limit)), .integer(Int64(limit / 2))]
        ) { row throws(StoreError) in
            rows.append(row.integer(0))
            return true
        }
        for row in rows { try access.run("DELETE FROM trust WHERE id = ?", .integer(row)) }
    }

    /// Marks the facts of a replica from a counter on as taken back.
    func markGone(of replica: ReplicaID, from counter: UInt64) throws(StoreError) {
        try access.run(
            "UPDATE trust SET is_gone = 1 WHERE space = ? AND replica = ? AND counter >= ?", .integer(log.spaceRow),
            .blob(replica.bytes), .integer(Int64(clamping: counter)))
    }

    // Facts from before

    /// True if facts that an older program stored have no rows yet.
    var isFillingDue: Bool {
        get throws(StoreError) {
            try access.first("SELECT keeps_trust FROM space WHERE id = ?", .integer(log.spaceRow)) {
                row throws(StoreError) in row.integer(0)
            } == 0
        }
    }

    /// Records what the tables of an older program hold, without the time at which this node learned of it. The clocks
    /// of retirements are read from the log, if they are still there.
    ///
    /// - Parameter own: the author of the blocks.
    func fill(_ cuts: CutTable, blockedBy own: DeviceID) throws(StoreError) {
        var facts: [TrustFact] = []
        try log.forEachAddition { addition, dot in
            facts.append(TrustFact(addition, at: dot, isBound: addition.fact.isBound))
        }
        for cut in cuts.cuts {
            facts.append(TrustFact(cut.fact, at: cut.dot, wallMilliseconds: try wall(of: cut.dot)))
        }
        try access.forEach("SELECT device FROM blocked ORDER BY device") { row throws(StoreError) in
            if let device = DeviceID(bytes: row.blob(0)) {
                facts.append(TrustFact(.block, of: device, by: own, at: nil, wallMilliseconds: nil))
            }
            return true
        }
        try record(facts, at: nil)
        try access.run("UPDATE space SET keeps_trust = 1 WHERE id = ?", .integer(log.spaceRow))
    }

    private func wall(of dot: Dot) throws(StoreError) -> Int64? {
        var wall: Int64?
        try log.forEachSegment(of: dot.replica, behind: dot.counter) { segment in
            guard segment.start <= dot.counter else { return }
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd, let view = try? ChangeView(&reader), view.start <= dot.counter {
                view.forEachOperation(in: segment.bytes) { counter, operation in
                    if counter == dot.counter, operation.kind == Operation.Kind.cut { wall = view.wallMilliseconds }
                }
            }
        }
        return wall
    }

    // Reading

    /// Returns at most `limit` records behind a position, in the order in which this node learned of them.
    func records(after position: Int64, limit: Int) throws(StoreError) -> [TrustRecord] {
        var records: [TrustRecord] = []
        try access.forEach(
            """
            SELECT id, kind, author, device, replica, counter, wall, known, is_gone, detail, kind IN (?1, ?2) AND EXISTS (
                SELECT 1 FROM trust AS later
                WHERE later.device = trust.device AND later.space = trust.space AND later.kind IN (?1, ?2)
                    AND later.id > trust.id)
            FROM trust WHERE space = ?3 AND id > ?4 AND kind <= ?5 ORDER BY id LIMIT ?6
            """, .integer(TrustFact.Kind.block.rawValue), .integer(TrustFact.Kind.unblock.rawValue),
            .integer(log.spaceRow), .integer(position), .integer(TrustFact.Kind.greatest.rawValue),
            .integer(Int64(limit))
        ) { row throws(StoreError) in
            guard let fact = try Self.fact(row) else { throw .corrupt(detail: "a row of trust does not read back") }
            records.append(
                TrustRecord(
                    position: row.integer(0), fact: fact, knownMilliseconds: row.isNull(7) ? nil : row.integer(7),
                    isGone: row.integer(8) != 0, isNewest: row.integer(10) == 0))
            return true
        }
        return records
    }

    /// Returns the times of the statement at this dot; nil if it has no row.
    func times(at dot: Dot) throws(StoreError) -> TrustTimes? {
        try access.first(
            """
            SELECT wall, known FROM trust
            WHERE replica = ? AND counter = ? AND space = ? AND kind <= ? ORDER BY id
            """, .blob(dot.replica.bytes), .integer(Int64(clamping: dot.counter)), .integer(log.spaceRow),
            .integer(TrustFact.Kind.greatest.rawValue)
        ) { row throws(StoreError) in
            TrustTimes(
                wallMilliseconds: row.isNull(0) ? nil : row.integer(0),
                knownMilliseconds: row.isNull(1) ? nil : row.integer(1))
        }
    }

    private static func fact(_ row: SQLRow) throws(StoreError) -> TrustFact? {
        guard let kind = TrustFact.Kind(rawValue: row.integer(1)), let author = DeviceID(bytes: row.blob(2)),
            let device = DeviceID(bytes: row.blob(3))
        else { return nil }
        var dot: Dot?
        if !row.isNull(4) {
            guard let replica = ReplicaID(bytes: row.blob(4)) else { return nil }
            dot = Dot(replica: replica, counter: UInt64(row.integer(5)))
        }
        var admission: TrustFact.Admission?
        if kind == .admission {
            guard let read = try? TrustFact.Admission(encoded: row.blob(9)) else { return nil }
            admission = read
        }
        var statement: TrustFact.Statement?
        switch kind {
        case .revocation, .role, .readmission, .recoveryKey:
            // Empty where a version stored a revocation to which it gave no effect.
            statement = try? TrustFact.Statement(encoded: row.blob(9))
        case .admission, .retirement, .block, .unblock: break
        }
        return TrustFact(
            kind, of: device, by: author, at: dot, wallMilliseconds: row.isNull(6) ? nil : row.integer(6),
            admission: admission, statement: statement)
    }
}

/// The times of a fact, in milliseconds since 1970; nil where they are unknown.
package struct TrustTimes: Sendable, Hashable {
    /// The author's wall clock.
    package let wallMilliseconds: Int64?
    /// This node's wall clock, when it learned of the fact.
    package let knownMilliseconds: Int64?
}

extension SQLiteStore {
    /// Returns the times of a statement; nil if the log of trust has it no more.
    package func trustTimes(at dot: Dot) throws(StoreError) -> TrustTimes? {
        try readLog(space) { rows throws(StoreError) in try TrustRows(rows).times(at: dot) } ?? nil
    }

    /// Returns a page of the log of trust, behind a position.
    package func trust(after position: Int64, limit: Int) throws(StoreError) -> [TrustRecord] {
        try readLog(space) { rows throws(StoreError) in
            try TrustRows(rows).records(after: position, limit: limit)
        } ?? []
    }
}
