import SyncModel

/// Objects of a state delta that is on its way, as a reader sees them before all of it is here and joined: those of which nothing
/// is here otherwise. What is here is shown as it is until then.
struct ArrivingObjects {
    private let log: LogRows
    /// The work with which readers are shown some of them otherwise.
    private let waiting: WaitingWork?
    private var access: SQLiteAccess { log.access }

    init(_ log: LogRows, behind waiting: WaitingWork? = nil) {
        self.log = log
        self.waiting = waiting
    }

    /// The condition for arriving objects. It includes those of an earlier stream that the present one has not announced yet.
    private static let isArriving = """
        staged_object.state IS NOT NULL AND NOT EXISTS (SELECT 1
            FROM collection JOIN object ON object.collection = collection.id
            WHERE collection.space = ?1 AND collection.name = staged_object.collection
                AND object.key = staged_object.key AND object.standing <> 0)
        """

    /// True if a write to the object must wait: it would begin another life beside the one that is on its way.
    func contains(_ key: ObjectKey) throws(StoreError) -> Bool { try object(key) != nil }

    func object(_ key: ObjectKey) throws(StoreError) -> StoredObject? {
        let bytes = try access.first(
            "SELECT state FROM staged_object WHERE collection = ?2 AND key = ?3 AND \(Self.isArriving)",
            .integer(log.spaceRow), .text(key.collection.string), .text(key.id.string)
        ) { row throws(StoreError) in row.blob(0) }
        guard let bytes, let header = try StagingRows(log).header() else { return nil }
        return try object(key, bytes, header, try ObjectRows(log).schema(of: key.collection))
    }

    func page(_ query: ObjectQuery) throws(StoreError) -> ObjectPage {
        var page = ObjectPage(query)
        guard let header = try StagingRows(log).header() else { return page }
        var schema: (collection: ExactString, schema: CollectionSchema?)?
        try access.forEach(
            """
            SELECT collection, key, state FROM staged_object
            WHERE (collection, key) > (?2, ?3) AND ?4 IN ('', collection) AND \(Self.isArriving)
            ORDER BY collection, key
            """, .integer(log.spaceRow), .text(query.after?.collection.string ?? ""),
            .text(query.after?.id.string ?? ""), .text(query.collection?.string ?? "")
        ) { row throws(StoreError) in
            let key = ObjectKey(collection: ExactString(row.text(0)), id: ExactString(row.text(1)))
            if waiting?.concerns(key) ?? false { return true }
            if schema?.collection != key.collection {
                schema = (key.collection, try ObjectRows(log).schema(of: key.collection))
            }
            guard let object = try object(key, row.blob(2), header, schema?.schema),
                object.isSelected(by: query.selection)
            else { return true }
            return page.take(object, schema?.schema)
        }
        return page
    }

    func collections() throws(StoreError) -> [ExactString] {
        var names: [ExactString] = []
        try access.forEach("SELECT DISTINCT collection FROM staged_object WHERE state IS NOT NULL ORDER BY collection")
        {
            row throws(StoreError) in
            names.append(ExactString(row.text(0)))
            return true
        }
        return names
    }

    private func object(
        _ key: ObjectKey, _ bytes: [UInt8], _ header: StagingRows.Header, _ schema: CollectionSchema?
    ) throws(StoreError) -> StoredObject? {
        let staged: StateObject = try ObjectRows.value(bytes, "a staged object does not read back")
        // A store that is told what is there again holds all of it, and lacks what it undid.
        if try !log.isIncomplete(), try isHeld(staged.delta.lives.touched) { return nil }
        var object = StoredObject(key: key)
        object.state.join(staged.delta, held: header.since, theirs: VersionVector(), removes: true) { [] }
        // The join will refuse it.
        guard object.state.isWhole else { return nil }
        object.recordJoined(staged, onto: VersionVector())
        object.summary = object.summarized(schema)
        return object
    }

    /// True if changes brought all of it meanwhile: the object was deleted in them, and the deletion was forgotten.
    private func isHeld(_ touched: VersionVector) throws(StoreError) -> Bool {
        for entry in touched.entries {
            let end = try access.first(
                """
                SELECT max(segment.end) FROM replica JOIN segment ON segment.replica = replica.id
                WHERE replica.space = ? AND replica.replica = ?
                """, .integer(log.spaceRow), .blob(entry.replica.bytes)
            ) { row throws(StoreError) in row.isNull(0) ? 0 : UInt64(row.integer(0)) }
            if end ?? 0 < entry.next { return false }
        }
        return true
    }
}
