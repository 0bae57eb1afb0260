import SyncModel

/// The rows of writes that were answered under a key.
struct AnsweredWriteRows {
    let access: SQLiteAccess

    func find(_ name: [UInt8]) throws(StoreError) -> AnsweredWrite? {
        try access.first("SELECT request, at, outcome FROM answered_write WHERE name = ?", .blob(name)) {
            row throws(StoreError) in
            let outcome: WriteOutcome
            do throws(CodecError) { outcome = try WriteOutcome(bytes: row.blob(2)) } catch {
                throw .corrupt(detail: "an answered write does not read back")
            }
            return AnsweredWrite(
                key: WriteKey(name: name, request: row.blob(0)), wallMilliseconds: row.integer(1), outcome: outcome)
        }
    }

    /// Adds these, and forgets the oldest beyond the bounds.
    func write(_ answers: [AnsweredWrite]) throws(StoreError) {
        guard let newest = answers.last else { return }
        for answer in answers {
            try access.run(
                "INSERT OR REPLACE INTO answered_write (name, request, at, outcome) VALUES (?, ?, ?, ?)",
                .blob(answer.key.name), .blob(answer.key.request), .integer(answer.wallMilliseconds),
                .blob(answer.outcome.bytes))
        }
        let last = access.lastInsertedRow
        // The first row that is young enough ends both searches, so they cost what they remove.
        try access.run(
            """
            DELETE FROM answered_write WHERE id <= ? OR id < (SELECT id FROM answered_write WHERE at > ? ORDER BY id LIMIT 1)
            """, .integer(last - WriteKey.rememberedCount),
            .integer(newest.wallMilliseconds - WriteKey.rememberedMilliseconds))
    }
}

extension SQLiteStore {
    /// The planted bug `answersKeptLater`.
    func keep(_ answers: [AnsweredWrite], _ writing: inout Writing) throws(StoreError) {
        try write(&writing) { access throws(StoreError) in try AnsweredWriteRows(access: access).write(answers) }
    }
}
