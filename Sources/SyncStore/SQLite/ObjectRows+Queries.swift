import SyncModel

// What readers ask of objects.
extension ObjectRows {
    func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject] {
        var page = ObjectPage(query)
        for (row, name) in try collections(from: query) {
            // Behind a key of an earlier collection everything counts; ids are never empty.
            let after = query.after.map { $0.collection == name ? $0.id.string : "" } ?? ""
            let schema = query.conditions.isEmpty ? nil : try schema(of: name)
            let isIndexed = { (condition: ObjectQuery.Condition) in
                condition.path.count == 1 && schema?.isIndexed(condition.path[0]) ?? false
            }
            if query.selection == .standing(.live), let condition = query.conditions.first(where: isIndexed) {
                try indexed(condition, row, name, after: after, schema, &page)
            } else {
                try scanned(query.selection, row, name, after: after, schema, &page)
            }
            if page.isFull { break }
        }
        return page.objects
    }

    private func collections(from query: ObjectQuery) throws(StoreError) -> [(row: Int64, name: ExactString)] {
        var found: [(Int64, ExactString)] = []
        try access.forEach(
            "SELECT id, name FROM collection WHERE space = ? AND name >= ? ORDER BY name", .integer(log.spaceRow),
            .text(query.after?.collection.string ?? query.collection?.string ?? "")
        ) { row throws(StoreError) in
            let name = ExactString(row.text(1))
            if query.collection ?? name == name { found.append((row.integer(0), name)) }
            return query.collection == nil
        }
        return found
    }

    private func scanned(
        _ selection: ObjectQuery.Selection, _ collection: Int64, _ name: ExactString, after: String,
        _ schema: CollectionSchema?, _ page: inout ObjectPage
    ) throws(StoreError) {
        // Constants, so that SQLite may use the partial indexes.
        let condition =
            switch selection {
            case .standing(let standing): "standing = \(standing.rawValue)"
            case .conflicted: "has_conflict = 1"
            }
        try access.forEach(
            "SELECT \(Self.columns) FROM object WHERE collection = ? AND key > ? AND \(condition) ORDER BY key",
            .integer(collection), .text(after)
        ) { row throws(StoreError) in page.take(try Self.object(row, name), schema) }
    }

    private func indexed(
        _ condition: ObjectQuery.Condition, _ collection: Int64, _ name: ExactString, after: String,
        _ schema: CollectionSchema?, _ page: inout ObjectPage
    ) throws(StoreError) {
        try access.forEach(
            """
            SELECT \(Self.columns) FROM field_value JOIN object ON object.id = field_value.object
            WHERE field_value.collection = ? AND field_value.field = ? AND field_value.value = ? AND object.key > ?
            ORDER BY object.key
            """, .integer(collection), .text(condition.path[0].string), .blob(condition.value.canonicalBytes),
            .text(after)
        ) { row throws(StoreError) in page.take(try Self.object(row, name), schema) }
    }

    /// Objects that changed behind `position`, each once, by the position of its newest change.
    func changes(
        of collection: ExactString?, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        var objects: [StoredObject] = []
        try access.forEach(
            """
            SELECT \(Self.columns), collection.name FROM object JOIN collection ON collection.id = object.collection
            WHERE object.position > ? ORDER BY object.position
            """, .integer(position)
        ) { row throws(StoreError) in
            let name = ExactString(row.text(12))
            if collection ?? name == name { objects.append(try Self.object(row, name)) }
            return objects.count < limit
        }
        return objects
    }

    func collections() throws(StoreError) -> [StoredCollection] {
        var found: [StoredCollection] = []
        try access.forEach(
            "SELECT name, schema FROM collection WHERE space = ? ORDER BY name", .integer(log.spaceRow)
        ) { row throws(StoreError) in
            found.append(
                StoredCollection(
                    name: ExactString(row.text(0)), schema: row.isNull(1) ? nil : try Self.schema(row.blob(1))))
            return true
        }
        return found
    }

    /// Every operation on the object, in the order in which they arrived here.
    func touches(of key: ObjectKey) throws(StoreError) -> [ObjectTouch] {
        guard let collection = try collectionRow(key.collection) else { return [] }
        var touches: [ObjectTouch] = []
        try access.forEach(
            """
            SELECT replica.replica, segment.start, segment.end, segment.bytes
            FROM object JOIN touch ON touch.object = object.id JOIN segment ON segment.id = touch.segment
                JOIN replica ON replica.id = segment.replica
            WHERE object.collection = ? AND object.key = ? ORDER BY segment.id
            """, .integer(collection), .text(key.id.string)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(0)) else { throw .corrupt(detail: "a replica is none") }
            let context = try context(of: replica, at: UInt64(row.integer(1)))
            guard ObjectTouch.read(&touches, of: key, in: row.blob(3), by: replica, context: context) else {
                throw .corrupt(detail: "a segment's changes do not read back")
            }
            return true
        }
        return touches
    }

    /// What the author of the segment that begins at `start` had seen: the sum of what its segments so far named.
    private func context(of replica: ReplicaID, at start: UInt64) throws(StoreError) -> VersionVector {
        guard let row = try log.findReplica(replica) else { return VersionVector() }
        var context = VersionVector()
        try access.forEach(
            "SELECT bytes FROM segment WHERE replica = ? AND start <= ? ORDER BY end", .integer(row),
            .integer(Int64(start))
        ) { row throws(StoreError) in
            var reader = ByteReader(row.blob(0))
            guard let first = try? ChangeView(&reader) else { throw .corrupt(detail: "a change does not read back") }
            if !first.context.isEmpty { context.join(VersionVector(first.context)) }
            return true
        }
        return context
    }
}
