import SyncModel

/// The rows of objects and collections: how an `ObjectPlan` is written, and what it reads.
struct ObjectRows: ObjectSource {
    let log: LogRows
    /// The large objects of the connection that writes.
    let hot: HotObjects?
    /// The contexts of replicas that were looked up; nil if the log may change in between.
    let knownContexts: KnownContexts?
    /// The work that objects are shown with; nil for the objects as all devices judge them.
    let waiting: WaitingWork?
    var access: SQLiteAccess { log.access }
    var touched: TouchRows { TouchRows(log) }

    /// - Parameter sharesContexts: what authors had seen is read once, for many objects; the log has to stay as it is.
    init(
        _ log: LogRows, hot: HotObjects? = nil, sharesContexts: Bool = false, waiting: WaitingWork? = nil
    ) {
        self.log = log
        self.hot = hot
        self.waiting = waiting
        knownContexts = sharesContexts ? KnownContexts() : nil
    }

    // Reading

    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        guard let collection = try collectionRow(key.collection) else { return nil }
        return try access.first(
            "SELECT \(Self.columns) FROM object WHERE collection = ? AND key = ?", .integer(collection),
            .text(key.id.string)
        ) { row throws(StoreError) in try object(row, key.collection) }
    }

    func answeredWrite(_ name: [UInt8]) throws(StoreError) -> AnsweredWrite? {
        try AnsweredWriteRows(access: access).find(name)
    }

    func isArriving(_ key: ObjectKey) throws(StoreError) -> Bool { try ArrivingObjects(log).contains(key) }

    /// The columns of `object`, as `object(_:_:)` reads them.
    static let columns = """
        object.key, object.position, object.changed, object.version_replica, object.version_counter, object.state, \
        object.local, object.dismissed, object.standing, object.has_conflict, object.digest, object.dropped_edits, \
        object.id, object.snapshot_bytes, object.edit_bytes
        """
    static let columnCount: Int32 = 15

    func object(_ row: SQLRow, _ collection: ExactString) throws(StoreError) -> StoredObject {
        var object = StoredObject(key: ObjectKey(collection: collection, id: ExactString(row.text(0))))
        object.position = row.integer(1)
        object.changedMilliseconds = row.integer(2)
        if !row.isNull(3) {
            guard let replica = ReplicaID(bytes: row.blob(3)) else { throw .corrupt(detail: "a version is no dot") }
            object.version = Dot(replica: replica, counter: try Self.natural(row, 4))
        }
        object.state =
            row.integer(13) > 0
            ? try largeState(
                row.integer(12), of: object.key, snapshotBytes: Int(row.integer(13)), editBytes: Int(row.integer(14)))
            : try Self.value(row.blob(5), "an object's state does not read back")
        if !row.isNull(6) {
            guard case .object(let fields) = try Self.value(row.blob(6), "local fields do not read back") as JSONValue
            else {
                throw .corrupt(detail: "local fields are no object")
            }
            object.localFields = fields
        }
        object.dismissedCount = try Self.natural(row, 7)
        if !row.isNull(11) {
            guard let edits = EditedColumn.decoded(row.blob(11)) else {
                throw .corrupt(detail: "dropped edits do not read back")
            }
            object.collectedEdits = edits
        }
        guard let standing = ObjectStanding(rawValue: row.integer(8)) else {
            throw .corrupt(detail: "an object's standing is unknown")
        }
        object.summary = ObjectSummary(
            standing: standing, hasConflict: row.integer(9) != 0,
            digest: row.isNull(10) ? nil : Sum256(bytes: row.blob(10)))
        guard let waiting, waiting.concerns(object.key) else { return object }
        return waiting.laid(over: object, try schema(of: object.key.collection))
    }

    private static func natural(_ row: SQLRow, _ column: Int32) throws(StoreError) -> UInt64 {
        guard let number = UInt64(exactly: row.integer(column)) else { throw .corrupt(detail: "a count is negative") }
        return number
    }

    static func value<Value: ByteCoded>(_ bytes: [UInt8], _ trouble: String) throws(StoreError) -> Value {
        var reader = ByteReader(ownBytes: bytes)
        guard let value = try? Value(reading: &reader), reader.isAtEnd else { throw .corrupt(detail: trouble) }
        return value
    }

    func beginning(of key: ObjectKey) throws(StoreError) -> ObjectBeginning? {
        try BeginningRows(self).beginning(of: key)
    }

    func schema(of collection: ExactString) throws(StoreError) -> CollectionSchema? {
        let bytes = try access.first(
            "SELECT schema FROM collection WHERE space = ? AND name = ? AND schema IS NOT NULL",
            .integer(log.spaceRow), .text(collection.string)
        ) { row throws(StoreError) in row.blob(0) }
        guard let bytes else { return nil }
        return try Self.schema(bytes)
    }

    static func schema(_ bytes: [UInt8]) throws(StoreError) -> CollectionSchema {
        try value(bytes, "a schema does not read back")
    }

    func collectionRow(_ name: ExactString) throws(StoreError) -> Int64? {
        try access.first(
            "SELECT id FROM collection WHERE space = ? AND name = ?", .integer(log.spaceRow), .text(name.string)
        ) { row throws(StoreError) in row.integer(0) }
    }

    /// Every object of the collection, in the order of ids, until `body` returns false.
    func objects(
        of collection: ExactString, _ body: (StoredObject) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard let row = try collectionRow(collection) else { return }
        try access.forEach(
            "SELECT \(Self.columns) FROM object WHERE collection = ? ORDER BY key", .integer(row)
        ) { row throws(StoreError) in try body(try object(row, collection)) }
    }

    // Writing

    /// - Parameters:
    /// - segments: those this transaction added.
    /// - wallMilliseconds: the release time of blobs that become unneeded.
    func write(_ plan: ObjectPlan, segments: [WrittenSegment], at wallMilliseconds: Int64) throws(StoreError) {
        giveBack(plan)
        guard plan.isChanged else { return }
        try writeObjects(of: plan, segments, at: wallMilliseconds)
        try writeSums(plan.counts, position: plan.position)
    }

    func writeObjects(
        of plan: ObjectPlan, _ segments: [WrittenSegment], at wallMilliseconds: Int64
    ) throws(StoreError) {
        for change in plan.changedSchemas {
            try access.run(
                "UPDATE collection SET schema = ? WHERE id = ?",
                .blob(change.after == CollectionSchema() ? nil : change.after.canonicalBytes),
                .integer(try makeCollectionRow(change.name)))
        }
        for entry in plan.changed { try write(entry, segments, at: wallMilliseconds) }
        for name in plan.reindexed { try reindex(name) }
    }

    func writeSums(_ counts: StoreCounts, position: Int64) throws(StoreError) {
        try access.run(
            """
            UPDATE space
            SET objects = ?, deleted_objects = ?, attachments = ?, object_position = ?, late_operations = ? WHERE id = ?
            """, .integer(counts.objects), .integer(counts.deletedObjects), .integer(counts.attachments),
            .integer(position), .integer(counts.lateOperations), .integer(log.spaceRow))
    }

    func objectRow(_ key: ObjectKey) throws(StoreError) -> Int64? {
        guard let collection = try collectionRow(key.collection) else { return nil }
        return try access.first(
            "SELECT id FROM object WHERE collection = ? AND key = ?", .integer(collection), .text(key.id.string)
        ) { row throws(StoreError) in row.integer(0) }
    }

    /// Removes every row of the object. It shows nothing, so it has no values in an index.
    func remove(_ key: ObjectKey) throws(StoreError) {
        guard let row = try objectRow(key) else { return }
        if let object = try object(key) { try touched.write(from: object.births, to: [], of: row) }
        try removeSnapshot(of: key, row)
        try access.run("DELETE FROM beginning WHERE object = ?", .integer(row))
        try access.run("DELETE FROM touch WHERE object = ?", .integer(row))
        try access.run("DELETE FROM object WHERE id = ?", .integer(row))
        try access.run(
            """
            UPDATE collection SET removed = (SELECT object_position FROM space WHERE space.id = collection.space)
            WHERE space = ? AND name = ?
            """, .integer(log.spaceRow), .text(key.collection.string))
    }

    /// Returns the position at which a row of the collection was last removed; 0 for never.
    func removalPosition(of collection: ExactString) throws(StoreError) -> Int64 {
        try access.first(
            "SELECT removed FROM collection WHERE space = ? AND name = ?", .integer(log.spaceRow),
            .text(collection.string)
        ) { row throws(StoreError) in row.integer(0) } ?? 0
    }

    private func write(
        _ entry: ObjectPlan.Entry, _ segments: [WrittenSegment], at wallMilliseconds: Int64
    ) throws(StoreError) {
        let collection = try makeCollectionRow(entry.object.key.collection)
        if !entry.dots.isEmpty { try BeginningRows(self).keep(entry.object.key) }
        let row = try writeState(of: entry, collection)
        try touched.write(from: entry.birthsBefore, to: entry.object.births, of: row)
        try touch(row, entry.dots, in: segments)
        try AttachmentRows(log).write(entry.attachmentDifference, of: row, at: wallMilliseconds)
        let (before, after) = (entry.before.indexed, entry.object.summary.indexed)
        for value in before where !after.contains(value) {
            try access.run(
                "DELETE FROM field_value WHERE collection = ? AND field = ? AND value = ? AND key = ?",
                .integer(collection), .text(value.field.string), .blob(value.bytes), .text(entry.object.key.id.string))
        }
        for value in after where !before.contains(value) { try index(value, collection, entry.object.key) }
    }

    /// Notes that these segments have operations on an object.
    func touch(_ row: Int64, _ dots: [Dot], in segments: [WrittenSegment]) throws(StoreError) {
        for segment in segments where dots.contains(where: { segment.holds($0) }) {
            try access.run(
                "INSERT OR IGNORE INTO touch (object, segment) VALUES (?, ?)", .integer(row), .integer(segment.row))
        }
    }

    /// - Returns: `object.id`.
    private func writeState(of entry: ObjectPlan.Entry, _ collection: Int64) throws(StoreError) -> Int64 {
        if let journal = journal(entry) {
            let row = try upsert(entry.object, state: [], collection).row
            try append(journal, to: entry.object, row)
            return row
        }
        let bytes = entry.object.state.canonicalBytes
        let isLarge = isLarge(bytes)
        let (row, wasLarge) = try upsert(entry.object, state: isLarge ? [] : bytes, collection)
        if isLarge {
            try write(snapshot: bytes, of: entry.object, row)
        } else if wasLarge {
            try removeSnapshot(of: entry.object.key, row)
        }
        return row
    }

    private func index(_ value: IndexedValue, _ collection: Int64, _ object: ObjectKey) throws(StoreError) {
        try access.run(
            "INSERT OR IGNORE INTO field_value (collection, field, value, key) VALUES (?, ?, ?, ?)",
            .integer(collection), .text(value.field.string), .blob(value.bytes), .text(object.id.string))
    }

    private func upsert(
        _ object: StoredObject, state: [UInt8], _ collection: Int64
    ) throws(StoreError) -> (row: Int64, wasLarge: Bool) {
        let deletion = object.deletion?.dot
        let found = try access.first(
            """
            INSERT INTO object (collection, key, standing, has_conflict, dismissed, position, changed,
                version_replica, version_counter, digest, state, local, deletion_replica, deletion_counter,
                dropped_edits, touched, touched_stamp)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (collection, key) DO UPDATE SET standing = excluded.standing,
                has_conflict = excluded.has_conflict, dismissed = excluded.dismissed, position = excluded.position,
                changed = excluded.changed, version_replica = excluded.version_replica,
                version_counter = excluded.version_counter, digest = excluded.digest, state = excluded.state,
                local = excluded.local, deletion_replica = excluded.deletion_replica,
                deletion_counter = excluded.deletion_counter, dropped_edits = excluded.dropped_edits,
                touched = excluded.touched, touched_stamp = excluded.touched_stamp
            RETURNING id, snapshot_bytes
            """, .integer(collection), .text(object.key.id.string), .integer(object.summary.standing.rawValue),
            .integer(object.summary.hasConflict ? 1 : 0), .integer(Int64(clamping: object.dismissedCount)),
            .integer(object.position), .integer(object.changedMilliseconds),
            .blob(object.version?.replica.bytes), .integer(object.version.map { Int64($0.counter) }),
            .blob(object.summary.digest?.bytes), .blob(state),
            .blob(object.localFields.isEmpty ? nil : JSONValue.object(object.localFields).canonicalBytes),
            .integer(try deletion.flatMap { dot throws(StoreError) in try log.findReplica(dot.replica) }),
            .integer(deletion.map { Int64($0.counter) }),
            .blob(object.collectedEdits.isEmpty ? nil : EditedColumn.encoded(object.collectedEdits)),
            .blob(try touched.column(object.state.lives.touched)),
            .integer(LogRows.column(object.state.lives.greatestStamp))
        ) { row throws(StoreError) in (row.integer(0), row.integer(1) > 0) }
        guard let found else { throw .corrupt(detail: "an object was written and is not there") }
        return found
    }

    /// Other values than before are to be found: looks at every object once.
    private func reindex(_ name: ExactString) throws(StoreError) {
        guard let collection = try collectionRow(name) else { return }
        try access.run("DELETE FROM field_value WHERE collection = ?", .integer(collection))
        guard let schema = try schema(of: name) else { return }
        try access.forEach(
            "SELECT \(Self.columns) FROM object WHERE collection = ? AND standing = 1", .integer(collection)
        ) { row throws(StoreError) in
            let object = try object(row, name)
            for value in schema.indexedValues(of: object) { try index(value, collection, object.key) }
            return true
        }
    }

    /// True if an older program left objects without an entry in an index.
    var isIndexingDue: Bool {
        get throws(StoreError) {
            try access.first("SELECT indexes_absent FROM space WHERE id = ?", .integer(log.spaceRow)) {
                row throws(StoreError) in row.integer(0)
            } == 0
        }
    }

    /// Fills the indexes of all collections anew: looks at every object of those that have some.
    func reindex() throws(StoreError) {
        for collection in try collections() where !(collection.schema?.indexes ?? []).isEmpty {
            try reindex(collection.name)
        }
        try access.run("UPDATE space SET indexes_absent = 1 WHERE id = ?", .integer(log.spaceRow))
    }

    private func makeCollectionRow(_ name: ExactString) throws(StoreError) -> Int64 {
        if let row = try collectionRow(name) { return row }
        try access.run(
            "INSERT INTO collection (space, name) VALUES (?, ?)", .integer(log.spaceRow), .text(name.string))
        return access.lastInsertedRow
    }
}

/// A segment that a transaction has just added.
struct WrittenSegment {
    let row: Int64
    let replica: ReplicaID
    let counters: Range<UInt64>

    init(_ row: Int64, _ segment: Segment) {
        self.row = row
        replica = segment.replica
        counters = segment.start..<segment.end
    }

    func holds(_ dot: Dot) -> Bool { dot.replica == replica && counters.contains(dot.counter) }
}
