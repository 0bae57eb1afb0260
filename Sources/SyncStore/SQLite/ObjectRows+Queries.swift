import SyncModel

// Queries of readers for objects.
extension ObjectRows {
    func page(_ query: ObjectQuery) throws(StoreError) -> ObjectPage {
        var page = ObjectPage(query)
        for (row, name) in try collections(from: query) {
            // Behind a key of an earlier collection everything counts; ids are never empty.
            let after = query.after.map { $0.collection == name ? $0.id.string : "" } ?? ""
            let schema = query.conditions.isEmpty && query.order == nil ? nil : try schema(of: name)
            let indexes = schema?.indexes ?? []
            let isIndexed = { (condition: ObjectQuery.Condition) in
                // An index holds values as a whole.
                !condition.isElement && condition.path.count == 1 && indexes.contains { $0.field == condition.path[0] }
            }
            if query.selection == .standing(.live), let condition = query.conditions.first(where: isIndexed) {
                try indexed(condition, row, name, after: after, schema, &page)
            } else {
                try scanned(query.selection, row, name, after: after, schema, &page)
            }
            if page.isFull { break }
        }
        return page
    }

    private func collections(from query: ObjectQuery) throws(StoreError) -> [(row: Int64, name: ExactString)] {
        if let name = query.collection {
            if let after = query.after, name < after.collection { return [] }
            return try collectionRow(name).map { [($0, name)] } ?? []
        }
        var found: [(Int64, ExactString)] = []
        try access.forEach(
            "SELECT id, name FROM collection WHERE space = ? AND name >= ? ORDER BY name", .integer(log.spaceRow),
            .text(query.after?.collection.string ?? "")
        ) { row throws(StoreError) in
            found.append((row.integer(0), ExactString(row.text(1))))
            return true
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
        ) { row throws(StoreError) in page.take(try object(row, name), schema) }
    }

    private func indexed(
        _ condition: ObjectQuery.Condition, _ collection: Int64, _ name: ExactString, after: String,
        _ schema: CollectionSchema?, _ page: inout ObjectPage
    ) throws(StoreError) {
        try access.forEach(
            """
            SELECT \(Self.columns) FROM field_value
                CROSS JOIN object ON object.collection = field_value.collection AND object.key = field_value.key
            WHERE field_value.collection = ? AND field_value.field = ? AND field_value.value = ? AND field_value.key > ?
            ORDER BY field_value.key -- the order of the index: nothing is sorted, however many have the value
            """, .integer(collection), .text(condition.path[0].string), .blob(condition.value.canonicalBytes),
            .text(after)
        ) { row throws(StoreError) in page.take(try object(row, name), schema) }
    }

    /// Objects that changed behind `position`, each once, by the position of its newest change.
    func changes(
        of collection: ExactString?, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        var objects: [StoredObject] = []
        guard limit > 0 else { return objects }
        try access.forEach(
            """
            SELECT \(Self.columns), collection.name FROM object JOIN collection ON collection.id = object.collection
            WHERE object.position > ? ORDER BY object.position
            """, .integer(position)
        ) { row throws(StoreError) in
            let name = ExactString(row.text(Self.columnCount))
            if collection ?? name == name { objects.append(try object(row, name)) }
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
    func touches(of key: ObjectKey) throws(StoreError) -> [PastOperation] {
        var touches: [PastOperation] = []
        guard let collection = try collectionRow(key.collection) else { return touches }
        var replicas: [(row: Int64, id: ReplicaID)] = []
        var last: [Int64: Int64] = [:]
        try access.forEach(
            """
            SELECT segment.replica, replica.replica, max(segment.end)
            FROM object JOIN touch ON touch.object = object.id JOIN segment ON segment.id = touch.segment
                JOIN replica ON replica.id = segment.replica
            WHERE object.collection = ? AND object.key = ? GROUP BY segment.replica
            """, .integer(collection), .text(key.id.string)
        ) { row throws(StoreError) in
            guard let replica = ReplicaID(bytes: row.blob(1)) else { throw .corrupt(detail: "a replica is none") }
            replicas.append((row.integer(0), replica))
            last[row.integer(0)] = row.integer(2)
            return true
        }
        var contexts: [Int64: ContextSteps] = [:]
        let firsts = try log.firstContexts()
        for replica in replicas {
            if let known = knownContexts?.steps[replica.row] {
                contexts[replica.row] = known
                continue
            }
            let end = knownContexts == nil ? last[replica.row] ?? 0 : .max
            contexts[replica.row] = try contextSteps(
                of: replica.row, upTo: end, behind: firsts.inherited(by: replica.id))
            knownContexts?.steps[replica.row] = contexts[replica.row]
        }
        let names = Dictionary(uniqueKeysWithValues: replicas.map { ($0.row, $0.id) })
        try access.forEach(
            """
            SELECT segment.replica, segment.end, segment.bytes
            FROM object JOIN touch ON touch.object = object.id JOIN segment ON segment.id = touch.segment
            WHERE object.collection = ? AND object.key = ? ORDER BY touch.segment
            """, .integer(collection), .text(key.id.string)
        ) { row throws(StoreError) in
            guard let replica = names[row.integer(0)], let steps = contexts[row.integer(0)],
                PastOperation.read(
                    &touches, of: key, in: row.blob(2), by: replica, context: steps.context(at: row.integer(1)))
            else { throw .corrupt(detail: "a segment's changes do not read back") }
            return true
        }
        return touches
    }
}
