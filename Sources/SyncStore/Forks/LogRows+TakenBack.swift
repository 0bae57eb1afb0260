import SyncModel

// Work that was taken back, kept aside until it is done again.
extension LogRows {
    func hasTakenBack() throws(StoreError) -> Bool {
        try access.first("SELECT 1 FROM taken_back WHERE space = ? LIMIT 1", .integer(spaceRow)) {
            row throws(StoreError) in row.integer(0)
        } != nil
    }

    func holdsBack() throws(StoreError) -> Bool {
        try access.first("SELECT 1 FROM held_back WHERE space = ? LIMIT 1", .integer(spaceRow)) {
            row throws(StoreError) in row.integer(0)
        } != nil
    }

    /// The newest arrival number when something was taken back last; nil for never.
    func takenBackPosition() throws(StoreError) -> Int64? {
        let found = try access.first("SELECT taken_back_position FROM space WHERE id = ?", .integer(spaceRow)) {
            row throws(StoreError) in row.isNull(0) ? nil : row.integer(0)
        }
        return found ?? nil
    }

    /// Arrival number of its first event, or of the next one.
    func firstPosition(ofSegment row: Int64) throws(StoreError) -> Int64 {
        try access.first("SELECT first_position FROM segment WHERE id = ?", .integer(row)) { row throws(StoreError) in
            row.integer(0)
        } ?? 1
    }

    func settled() throws(StoreError) -> [ReplicaID] {
        var settled: [ReplicaID] = []
        try access.forEach(
            "SELECT replica FROM replica WHERE space = ? AND is_settled = 1 ORDER BY replica", .integer(spaceRow)
        ) { row throws(StoreError) in
            settled.append(try Self.replica(row.blob(0)))
            return true
        }
        return settled
    }

    func gaveWay() throws(StoreError) -> [ReplicaID: Set<ChainEnd>] {
        var found: [ReplicaID: Set<ChainEnd>] = [:]
        try access.forEach(
            "SELECT replica, end, head FROM gave_way WHERE space = ?", .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let head = ChainHead(bytes: row.blob(2)) else { throw .corrupt(detail: "a head does not read back") }
            found[try Self.replica(row.blob(0)), default: []].insert(
                ChainEnd(end: UInt64(row.integer(1)), head: head))
            return true
        }
        return found
    }

    func record(gaveWay ends: [ChainEnd], of replica: ReplicaID) throws(StoreError) {
        for end in ends {
            try access.run(
                "INSERT OR IGNORE INTO gave_way (space, replica, end, head) VALUES (?, ?, ?, ?)", .integer(spaceRow),
                .blob(replica.bytes), .integer(Int64(end.end)), .blob(end.head.bytes))
        }
    }

    func keepAside(_ work: TakenBack) throws(StoreError) {
        try access.run(
            "INSERT INTO taken_back (space, replica, start, end, known, bytes) VALUES (?, ?, ?, ?, ?, ?)",
            .integer(spaceRow), .blob(work.segment.replica.bytes), .integer(Int64(work.segment.start)),
            .integer(Int64(work.segment.end)), .blob(VectorColumn.encoded(work.known)), .blob(work.segment.bytes))
    }

    /// Puts work that waited to be redone before behind what goes now, which may include some of that work. The authors of
    /// the work had seen no more of what goes than every replica has.
    func putBehind(_ waiting: [(row: Int64, work: TakenBack)], _ taking: TakingBack) throws(StoreError) {
        for (row, work) in waiting {
            try access.run("DELETE FROM taken_back WHERE id = ?", .integer(row))
            try keepAside(TakenBack(segment: work.segment, known: taking.shared(work.known)))
        }
    }

    /// Sets a segment aside, to be applied once it can be.
    func holdBack(segment row: Int64) throws(StoreError) {
        try access.run(
            """
            INSERT INTO held_back (space, replica, start, end, is_rest, signature, bytes)
            SELECT ?, replica.replica, segment.start, segment.end, 0, segment.signature, segment.bytes
            FROM segment JOIN replica ON replica.id = segment.replica WHERE segment.id = ?
            """, .integer(spaceRow), .integer(row))
    }

    /// Sets aside the rest of a history that stays.
    func holdBack(restOf segment: Segment) throws(StoreError) {
        try access.run(
            "INSERT INTO held_back (space, replica, start, end, is_rest, signature, bytes) VALUES (?, ?, ?, ?, 1, ?, ?)",
            .integer(spaceRow), .blob(segment.replica.bytes), .integer(Int64(segment.start)),
            .integer(Int64(segment.end)), .blob(segment.signature), .blob(segment.bytes))
    }

    /// Returns the waiting segments, for each replica in the order of counters.
    func heldBack() throws(StoreError) -> [HeldBack] {
        var found: [HeldBack] = []
        try access.forEach(
            "SELECT id, replica, start, end, bytes, signature, is_rest FROM held_back WHERE space = ? ORDER BY id",
            .integer(spaceRow)
        ) { row throws(StoreError) in
            let segment = Segment(
                replica: try Self.replica(row.blob(1)), start: UInt64(row.integer(2)), end: UInt64(row.integer(3)),
                bytes: row.blob(4), signature: row.blob(5))
            found.append(HeldBack(row: row.integer(0), segment: segment, isRest: row.integer(6) == 1))
            return true
        }
        return found
    }

    /// Deletes the waiting segments that are in the log now.
    func releaseHeldBack(upTo held: VersionVector) throws(StoreError) {
        for kept in try heldBack() where kept.segment.end <= held.next(of: kept.segment.replica) {
            try access.run("DELETE FROM held_back WHERE id = ?", .integer(kept.row))
        }
    }

    /// The first of it, in the order it was done, of about these bytes, with the rows they stand in.
    func takenBack(byteBudget: Int) throws(StoreError) -> [(row: Int64, work: TakenBack)] {
        var found: [(row: Int64, work: TakenBack)] = []
        var byteCount = 0
        try access.forEach(
            "SELECT id, replica, start, end, known, bytes FROM taken_back WHERE space = ? ORDER BY id",
            .integer(spaceRow)
        ) { row throws(StoreError) in
            guard let known = VectorColumn.decoded(row.blob(4)) else {
                throw .corrupt(detail: "what was taken back knows no vector")
            }
            let segment = Segment(
                replica: try Self.replica(row.blob(1)), start: UInt64(row.integer(2)), end: UInt64(row.integer(3)),
                bytes: row.blob(5), signature: [])
            found.append((row.integer(0), TakenBack(segment: segment, known: known)))
            byteCount += segment.bytes.count
            return byteCount < byteBudget
        }
        return found
    }

    /// Removes the operations that admit the guests from the waiting work. They are already written, and must not be repeated
    /// in their turn: the guests may have been retired by then.
    func recordAdmitted(_ guests: [MemberFact]) throws(StoreError) {
        for (row, work) in try takenBack(byteBudget: .max) {
            guard let rest = work.without(guests) else { continue }
            try access.run("UPDATE taken_back SET bytes = ? WHERE id = ?", .blob(rest.segment.bytes), .integer(row))
        }
    }

    func takenBackPlaces() throws(StoreError) -> [Rewriting] {
        var places: [Rewriting] = []
        try access.forEach(
            "SELECT replica, start, count, new_replica, new_start FROM taken_back_place WHERE space = ? ORDER BY rowid",
            .integer(spaceRow)
        ) { row throws(StoreError) in
            places.append(
                Rewriting(
                    old: Dot(replica: try Self.replica(row.blob(0)), counter: UInt64(row.integer(1))),
                    count: UInt64(row.integer(2)),
                    new: Dot(replica: try Self.replica(row.blob(3)), counter: UInt64(row.integer(4)))))
            return true
        }
        return places
    }

    /// Records how much of the waiting work was redone.
    func record(
        _ progress: TakenBackWork.Progress, of rows: [(row: Int64, work: TakenBack)], _ places: [Rewriting]
    ) throws(StoreError) {
        for (row, _) in rows.prefix(progress.wholeRows) {
            try access.run("DELETE FROM taken_back WHERE id = ?", .integer(row))
        }
        if let start = progress.goesOnAt {
            let (row, work) = rows[progress.wholeRows]
            try access.run(
                "UPDATE taken_back SET start = ?, bytes = ? WHERE id = ?", .integer(Int64(start)),
                .blob(work.rest(from: start).segment.bytes), .integer(row))
        }
        guard try hasTakenBack() else {
            return try access.run("DELETE FROM taken_back_place WHERE space = ?", .integer(spaceRow))
        }
        for place in places {
            try access.run(
                """
                INSERT INTO taken_back_place (space, replica, start, count, new_replica, new_start)
                VALUES (?, ?, ?, ?, ?, ?)
                """, .integer(spaceRow), .blob(place.old.replica.bytes), .integer(Int64(place.old.counter)),
                .integer(Int64(place.count)), .blob(place.new.replica.bytes), .integer(Int64(place.new.counter)))
        }
    }

    private static func replica(_ bytes: [UInt8]) throws(StoreError) -> ReplicaID {
        guard let replica = ReplicaID(bytes: bytes) else {
            throw .corrupt(detail: "a replica's name does not read back")
        }
        return replica
    }
}
