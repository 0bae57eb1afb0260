import SyncModel

// Large objects: a snapshot and the edits since.
extension ObjectRows {
    /// True if the edits behind a snapshot are worth a new one: reading them takes time, and so does writing it.
    private func isDue(_ form: StoredForm) -> Bool {
        form.editBytes > max(4 * (hot?.largeBytes ?? 0), form.snapshotBytes / 8)
    }

    /// True if an object of this size is stored as a snapshot. Always false without `hot`, while everything is derived anew:
    /// the next edit moves it.
    func isLarge(_ bytes: [UInt8]) -> Bool { hot.map { bytes.count >= $0.largeBytes } ?? false }

    func objectToChange(_ key: ObjectKey) throws(StoreError) -> ObjectToChange? {
        guard let hot, let collection = try collectionRow(key.collection) else {
            return try object(key).map { ObjectToChange($0, isLarge: false) }
        }
        let position = try access.first(
            "SELECT position FROM object WHERE collection = ? AND key = ? AND snapshot_bytes > 0", .integer(collection),
            .text(key.id.string)
        ) { row throws(StoreError) in row.integer(0) }
        guard let position else { return try object(key).map { ObjectToChange($0, isLarge: false) } }
        if let object = hot.take(key, position: position) { return ObjectToChange(object, isLarge: true) }
        return try object(key).map { ObjectToChange($0, isLarge: true) }
    }

    /// - Parameter row: `object.id`.
    func largeState(
        _ row: Int64, of key: ObjectKey, snapshotBytes: Int, editBytes: Int
    ) throws(StoreError) -> ObjectState {
        let bytes = try access.first("SELECT state FROM snapshot WHERE object = ?", .integer(row)) {
            row throws(StoreError) in row.blob(0)
        }
        guard let bytes else { throw .corrupt(detail: "a large object has no snapshot") }
        var state: ObjectState = try Self.value(bytes, "an object's snapshot does not read back")
        var form = StoredForm(snapshotBytes: snapshotBytes, editBytes: editBytes)
        guard editBytes > 0 else {
            hot?.record(form, of: key)
            return state
        }
        let members = try log.knownMembers()
        try access.forEach(
            """
            SELECT edit.number, replica.replica, edit.counter, edit.stamp, edit.wall, edit.context, edit.life, edit.edits,
                edit.kind
            FROM edit JOIN replica ON replica.id = edit.replica WHERE edit.object = ? ORDER BY edit.number
            """, .integer(row)
        ) { row throws(StoreError) in
            let touch = try Self.edit(row, &form)
            let outcome = state.apply(
                touch.action, at: touch.origin, wallMilliseconds: touch.wallMilliseconds, members: members,
                earlier: { [] })
            guard case .applied = outcome else { throw .corrupt(detail: "an edit behind a snapshot does not apply") }
            return true
        }
        hot?.record(form, of: key)
        return state
    }

    /// Columns: as `largeState` asks for them.
    private static func edit(_ row: SQLRow, _ form: inout StoredForm) throws(StoreError) -> PastOperation {
        guard let replica = ReplicaID(bytes: row.blob(1)), let life = VectorColumn.decoded(row.blob(6))?.entries.first,
            let moved = row.isNull(5) ? VersionVector() : VectorColumn.decoded(row.blob(5))
        else { throw .corrupt(detail: "an edit behind a snapshot does not read back") }
        form.contexts[replica, default: VersionVector()].join(moved)
        form.nextNumber = row.integer(0) + 1
        let origin = Origin(
            dot: Dot(replica: replica, counter: UInt64(row.integer(2))), stamp: LogRows.stamp(row.integer(3)),
            context: form.contexts[replica] ?? VersionVector())
        let birth = Dot(replica: life.replica, counter: life.next - 1)
        let edits = NotedEdits(kind: UInt64(bitPattern: row.integer(8)), bytes: row.blob(7))
        guard let action = edits.action(on: Operation.LifeReference(to: birth, by: replica)) else {
            throw .corrupt(detail: "an edit behind a snapshot does not read back")
        }
        return PastOperation(origin: origin, action: action, wallMilliseconds: row.integer(4))
    }

    /// Returns the operations to write behind the snapshot of a large object; nil if the object must be written as a whole.
    func journal(_ entry: ObjectPlan.Entry) -> [PastOperation]? {
        guard entry.isLarge, let form = hot?.form(of: entry.object.key), !isDue(form) else { return nil }
        return entry.journal
    }

    func append(_ journal: [PastOperation], to object: StoredObject, _ row: Int64) throws(StoreError) {
        guard var form = hot?.form(of: object.key) else { return }
        for touch in journal {
            guard let edits = NotedEdits(touch.action), let life = touch.action.life else { continue }
            let (replica, known) = (touch.origin.dot.replica, touch.origin.context)
            let moved = form.contexts[replica].map { known.entries(beyond: $0) } ?? known.entries
            let birth = life.birth(at: touch.origin)
            let name = VectorColumn.encoded(
                VersionVector([VersionVector.Entry(replica: birth.replica, next: birth.counter + 1)]))
            let context = moved.isEmpty ? nil : VectorColumn.encoded(VersionVector(moved))
            try access.run(
                """
                INSERT INTO edit (object, number, replica, counter, stamp, wall, context, life, edits, kind)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, .integer(row), .integer(form.nextNumber), .integer(try log.replicaRow(replica)),
                .integer(Int64(touch.origin.dot.counter)), .integer(LogRows.column(touch.origin.stamp)),
                .integer(touch.wallMilliseconds), .blob(context), .blob(name), .blob(edits.bytes),
                .integer(Int64(edits.kind)))
            form.contexts[replica] = known
            form.nextNumber += 1
            // Contexts come once per author and move little: where there are many authors, a snapshot would not be rid of them.
            form.editBytes += edits.bytes.count + name.count + 32
        }
        try access.run("UPDATE object SET edit_bytes = ? WHERE id = ?", .integer(Int64(form.editBytes)), .integer(row))
        hot?.put(object, form)
    }

    /// Makes `bytes` the snapshot of an object, in place of what was kept of it.
    func write(snapshot bytes: [UInt8], of object: StoredObject, _ row: Int64) throws(StoreError) {
        try access.run("DELETE FROM edit WHERE object = ?", .integer(row))
        try access.run(
            "INSERT OR REPLACE INTO snapshot (object, state) VALUES (?, ?)", .integer(row), .blob(bytes))
        try access.run(
            "UPDATE object SET snapshot_bytes = ?, edit_bytes = 0 WHERE id = ?", .integer(Int64(bytes.count)),
            .integer(row))
        hot?.put(object, StoredForm(snapshotBytes: bytes.count))
    }

    /// Removes the snapshot of an object that is stored in its row again, or not at all.
    func removeSnapshot(of key: ObjectKey, _ row: Int64) throws(StoreError) {
        hot?.drop(key)
        try access.run("DELETE FROM edit WHERE object = ?", .integer(row))
        try access.run("DELETE FROM snapshot WHERE object = ?", .integer(row))
        try access.run("UPDATE object SET snapshot_bytes = 0, edit_bytes = 0 WHERE id = ?", .integer(row))
    }

    /// Large objects that a transaction took and did not change.
    func giveBack(_ plan: ObjectPlan) {
        for object in plan.unchangedLarge {
            if let form = hot?.form(of: object.key) { hot?.put(object, form) }
        }
    }
}
