import SyncModel

/// The rows that say where the stored part of each object's history begins.
struct BeginningRows {
    let objects: ObjectRows
    private var access: SQLiteAccess { objects.access }

    init(_ objects: ObjectRows) { self.objects = objects }

    /// `object.history`.
    enum Held: Int64 {
        case all = 0
        case none = 1
        case since = 2
    }

    func held(_ object: Int64) throws(StoreError) -> Held {
        let held = try access.first("SELECT history FROM object WHERE id = ?", .integer(object)) {
            row throws(StoreError) in Held(rawValue: row.integer(0))
        }
        guard let held, let held else { throw .corrupt(detail: "how much of a history is held is unknown") }
        return held
    }

    /// Nil where the whole history is held.
    func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning? {
        guard let row = try objects.objectRow(key) else { return nil }
        switch try held(row) {
        case .all: return nil
        case .none: return try objects.object(key).map(\.beginning)
        case .since: return try kept(row)
        }
    }

    private func kept(_ object: Int64) throws(StoreError) -> ObjectBeginning {
        let beginning = try access.first(
            "SELECT changed, version_replica, version_counter, state FROM beginning WHERE object = ?",
            .integer(object)
        ) { row throws(StoreError) in
            var beginning = ObjectBeginning()
            beginning.changedMilliseconds = row.integer(0)
            if !row.isNull(1) {
                guard let replica = ReplicaID(bytes: row.blob(1)) else { throw .corrupt(detail: "a version is no dot") }
                beginning.version = Dot(replica: replica, counter: UInt64(clamping: row.integer(2)))
            }
            beginning.state = try ObjectRows.value(row.blob(3), "where a history begins does not read back")
            return beginning
        }
        guard let beginning else { throw .corrupt(detail: "a history has no beginning") }
        return beginning
    }

    /// True if the object's state at the compaction point must be written, for later changes to it that stay. It is not written
    /// twice, and not where the stored history begins behind all of them, with a state that was received.
    func isDue(of object: Int64, _ point: [UInt8]) throws(StoreError) -> Bool {
        switch try held(object) {
        case .all: return true
        case .none: return false
        case .since:
            let known = try access.first("SELECT cut FROM beginning WHERE object = ?", .integer(object)) {
                row throws(StoreError) in row.blob(0)
            }
            return known != point
        }
    }

    // Writing

    /// Records that no change to the object until now is stored.
    func begin(at object: Int64) throws(StoreError) {
        try access.run("DELETE FROM beginning WHERE object = ?", .integer(object))
        try setHeld(.none, object)
    }

    func write(_ beginning: ObjectBeginning, point: [UInt8], of object: Int64) throws(StoreError) {
        try access.run(
            """
            INSERT OR REPLACE INTO beginning (object, cut, changed, version_replica, version_counter, state)
            VALUES (?, ?, ?, ?, ?, ?)
            """, .integer(object), .blob(point), .integer(beginning.changedMilliseconds),
            .blob(beginning.version?.replica.bytes), .integer(beginning.version.map { Int64($0.counter) }),
            .blob(beginning.state.canonicalBytes))
        try setHeld(.since, object)
    }

    /// Called before an object is written that operations were done to: where its history begins with what it is, that is kept.
    func keep(_ key: ObjectKey) throws(StoreError) {
        let row = try access.first(
            """
            SELECT object.id FROM collection JOIN object ON object.collection = collection.id
            WHERE collection.space = ? AND collection.name = ? AND object.key = ? AND object.history = 1
            """, .integer(objects.log.spaceRow), .text(key.collection.string), .text(key.id.string)
        ) { row throws(StoreError) in row.integer(0) }
        guard let row, let object = try objects.object(key) else { return }
        try write(object.beginning, point: [], of: row)
    }

    private func setHeld(_ held: Held, _ object: Int64) throws(StoreError) {
        try access.run("UPDATE object SET history = ? WHERE id = ?", .integer(held.rawValue), .integer(object))
    }
}
