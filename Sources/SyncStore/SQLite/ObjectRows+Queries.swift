import SyncModel

// Queries of readers for objects.
extension ObjectRows {
    /// - Parameter sortedLimit: the number of places, if greater than the query's limit, where finding one costs a look at
    ///   every object.
    func page(_ query: ObjectQuery, sortedLimit: Int = 0) throws(StoreError) -> ObjectPage {
        var page = ObjectPage(query)
        for (row, name) in try collections(from: query) {
            // Behind a key of an earlier collection everything counts; ids are never empty.
            let after = query.after.map { $0.collection == name ? $0.id.string : "" } ?? ""
            let schema = query.condition == nil && query.order == nil ? nil : try schema(of: name)
            let plan = hasWaiting(name) ? .scan : try plan(for: query, row, schema)
            if query.order != nil { page.begin(plan, sortedLimit: sortedLimit) }
            switch plan {
            case .walk(let order): try walked(order, row, name, schema, into: &page)
            case .lookUp(let lookup): try indexed(lookup, row, name, after: after) { page.take($0, schema) }
            case .scan: try scanned(query.selection, row, name, after: after) { page.take($0, schema) }
            }
            if page.isFull { break }
        }
        return page
    }

    /// Counts the objects of a query: without an order all of them, else those of its page.
    func cost(of query: ObjectQuery) throws(StoreError) -> QueryCost {
        var cost = QueryCost()
        if query.order != nil {
            let page = try page(query)
            (cost.examined, cost.matched) = (page.examined, page.places.count)
            switch page.plan {
            case .walk(let order): cost.order = order.walk.field
            case .lookUp(let lookup): cost.index = lookup.field
            case .scan, nil: break
            }
            return cost
        }
        for (row, name) in try collections(from: query) {
            let schema = try schema(of: name)
            func count(_ object: StoredObject) -> Bool {
                cost.examined += 1
                if object.meets(query.condition, schema) { cost.matched += 1 }
                return true
            }
            if !hasWaiting(name), case .lookUp(let lookup) = try plan(for: query, row, schema) {
                cost.index = lookup.field
                if lookup.isExact {
                    cost.matched += try matchCount(of: lookup, row, upTo: .max)
                } else {
                    try indexed(lookup, row, name, after: "", count)
                }
            } else if query.condition == nil, query.selection == .standing(.live), !hasWaiting(name) {
                cost.matched += try liveCount(row)
            } else {
                try scanned(query.selection, row, name, after: "", count)
            }
        }
        return cost
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
        _ body: (StoredObject) -> Bool
    ) throws(StoreError) {
        // Constants, so that SQLite may use the partial indexes.
        let condition =
            switch selection {
            case _ where hasWaiting(name): ""
            case .standing(let standing): "AND standing = \(standing.rawValue)"
            case .conflicted: "AND has_conflict = 1"
            }
        try access.forEach(
            "SELECT \(Self.columns) FROM object WHERE collection = ? AND key > ? \(condition) ORDER BY key",
            .integer(collection), .text(after)
        ) { row throws(StoreError) in
            let object = try object(row, name)
            return object.isSelected(by: selection) ? body(object) : true
        }
    }

    /// True if objects of the collection are shown otherwise than their rows and indexes say.
    private func hasWaiting(_ collection: ExactString) -> Bool { waiting?.concerns(collection) ?? false }

    private func liveCount(_ collection: Int64) throws(StoreError) -> Int {
        Int(
            try access.first(
                "SELECT count(*) FROM object WHERE collection = ? AND standing = 1", .integer(collection)
            ) { row throws(StoreError) in row.integer(0) } ?? 0)
    }

    // MARK: Indexes

    /// The number of index entries up to which lookups are compared.
    private static let comparedEntries = 1_000

    private func plan(
        for query: ObjectQuery, _ collection: Int64, _ schema: CollectionSchema?
    ) throws(StoreError) -> QueryPlan {
        guard query.selection == .standing(.live) else { return .scan }
        let lookups = QueryPlan.lookups(query.condition, schema)
        if let order = QueryPlan.order(query, lookups, schema),
            try isShorter(order, than: lookups, collection, limit: query.limit)
        {
            return .walk(order)
        }
        return try best(of: lookups, collection).map { .lookUp($0) } ?? .scan
    }

    /// True if a walk in an order is the better way. It is not if few objects are left otherwise: those in the index of another
    /// field, or all there are to walk through.
    private func isShorter(
        _ order: QueryPlan.IndexOrder, than lookups: [QueryPlan.Lookup], _ collection: Int64, limit: Int
    ) throws(StoreError) -> Bool {
        // A walk reads each object by itself; to read all of them, one after the other is faster.
        guard limit < Int.max / 2 else { return false }
        for lookup in lookups where lookup.field != order.walk.field {
            let few = max(Self.comparedEntries, 2 * limit)
            if try matchCount(of: lookup, collection, upTo: few + 1) <= few { return false }
        }
        let whole = QueryPlan.Lookup(field: order.walk.field, ranges: order.walk.ranges, isExact: false)
        return try matchCount(of: whole, collection, upTo: 2 * limit + 1) > 2 * limit
    }

    /// Returns the lookup that finds the fewest objects; nil if there is none.
    private func best(
        of lookups: [QueryPlan.Lookup], _ collection: Int64
    ) throws(StoreError) -> QueryPlan.Lookup? {
        guard lookups.count > 1 else { return lookups.first }
        var best: (lookup: QueryPlan.Lookup, count: Int)?
        for lookup in lookups {
            let count = try matchCount(of: lookup, collection, upTo: Self.comparedEntries)
            if best.map({ count < $0.count }) ?? true { best = (lookup, count) }
        }
        return best?.lookup
    }

    private func matchCount(
        of lookup: QueryPlan.Lookup, _ collection: Int64, upTo limit: Int
    ) throws(StoreError) -> Int {
        guard let (sql, values) = Self.keys(lookup.field, lookup.ranges, collection) else { return 0 }
        var count = 0
        try access.forEach("SELECT count(*) FROM (\(sql) LIMIT ?)", values: values + [.integer(Int64(limit))]) {
            row throws(StoreError) in
            count = Int(row.integer(0))
            return false
        }
        return count
    }

    private func indexed(
        _ lookup: QueryPlan.Lookup, _ collection: Int64, _ name: ExactString, after: String,
        _ body: (StoredObject) -> Bool
    ) throws(StoreError) {
        guard let (sql, values) = Self.keys(lookup.field, lookup.ranges, collection, "key > ?", after) else { return }
        // SQLite merges the ranges. Of one value the index has the ids in order: nothing is sorted, however many have it.
        try access.forEach("\(sql) ORDER BY key", values: values) { row throws(StoreError) in
            try read(row.text(0), collection, name, body) ?? true
        }
    }

    /// Reads the object of an index entry; nil if there is none.
    func read<Value>(
        _ key: String, _ collection: Int64, _ name: ExactString, _ body: (StoredObject) -> Value
    ) throws(StoreError) -> Value? {
        try access.first(
            "SELECT \(Self.columns) FROM object WHERE collection = ? AND key = ?", .integer(collection), .text(key)
        ) { row throws(StoreError) in body(try object(row, name)) }
    }

    /// Returns the statement that selects the ids in ranges of an indexed field; nil for no range.
    ///
    /// - Parameters:
    ///   - bound: a condition for `key`, with a parameter.
    ///   - id: the value of that parameter.
    static func keys(
        _ field: ExactString, _ ranges: [IndexRange], _ collection: Int64, _ bound: String? = nil, _ id: String = ""
    ) -> (sql: String, values: [SQLValue])? {
        guard !ranges.isEmpty else { return nil }
        var (terms, values): ([String], [SQLValue]) = ([], [])
        let rest = bound.map { " AND \($0)" } ?? ""
        for range in ranges {
            let condition = range.point == nil ? "value >= ? AND value < ?" : "value = ?"
            terms.append("SELECT key FROM field_value WHERE collection = ? AND field = ? AND \(condition)\(rest)")
            values += [.integer(collection), .text(field.string), .blob(range.lower)]
            if range.point == nil { values.append(.blob(range.upper)) }
            if bound != nil { values.append(.text(id)) }
        }
        return (terms.joined(separator: " UNION ALL "), values)
    }

    /// Objects that changed behind `position`, each once, by the position of its newest change.
    func changes(
        of collection: ExactString?, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        var objects: [StoredObject] = []
        guard limit > 0 else { return objects }
        try forEachChange(after: position, where: { collection ?? $0 == $0 }) { object in
            objects.append(object)
            return objects.count < limit
        }
        return objects
    }

    /// Hands over the objects of some collections that changed behind `position`, each once, by the position of its newest
    /// change, until `body` returns false.
    func forEachChange(
        after position: Int64, where isWanted: (ExactString) -> Bool, _ body: (StoredObject) -> Bool
    ) throws(StoreError) {
        try access.forEach(
            """
            SELECT \(Self.columns), collection.name FROM object JOIN collection ON collection.id = object.collection
            WHERE object.position > ? ORDER BY object.position
            """, .integer(position)
        ) { row throws(StoreError) in
            let name = ExactString(row.text(Self.columnCount))
            return isWanted(name) ? body(try object(row, name)) : true
        }
    }

    /// Returns the position of the newest change to an object.
    func position() throws(StoreError) -> Int64 {
        try access.first("SELECT object_position FROM space WHERE id = ?", .integer(log.spaceRow)) {
            row throws(StoreError) in row.integer(0)
        } ?? 0
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

    /// True if a stored segment that writes to the object was ended after that time. A stamp is never before its author's
    /// clock, so otherwise no change to it has a later time either.
    func isWritten(_ key: ObjectKey, after milliseconds: Int64) throws(StoreError) -> Bool {
        guard let object = try objectRow(key) else { return false }
        let last = try access.first(
            "SELECT max(segment.last_stamp) FROM touch JOIN segment ON segment.id = touch.segment WHERE touch.object = ?",
            .integer(object)
        ) { row throws(StoreError) in row.isNull(0) ? nil : LogRows.stamp(row.integer(0)) }
        guard let last, let last else { return false }
        return last.milliseconds > milliseconds
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
        guard !replicas.isEmpty else { return touches }
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
