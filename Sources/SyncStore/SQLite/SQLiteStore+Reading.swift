package import SyncModel

extension SQLiteStore {
    /// Returns the answer to an earlier write with a key of this name (`WriteKey`), while it is remembered.
    package func answeredWrite(_ name: [UInt8], wallMilliseconds: Int64) throws(StoreError) -> AnsweredWrite? {
        let found = try read { access throws(StoreError) in try AnsweredWriteRows(access: access).find(name) }
        return found?.remembered(at: wallMilliseconds)
    }

    /// Consecutive segments of `replica` from the change on that counter `start` belongs to, whole ones, up to about
    /// `byteBudget` bytes but at least one; neighbours are merged while the rules of `Segment` allow it.
    /// Empty when `start` is the tip. Served from readers: never waits for a write.
    package func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment] {
        try readLog(space) { rows throws(StoreError) in
            try rows.segments(of: replica, from: start, byteBudget: byteBudget)
        } ?? []
    }

    package func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        try readLog(query.space) { rows throws(StoreError) in try EventRows(rows).events(query) } ?? []
    }

    /// Returns the place where the last events of a stream begin. Costs what it counts, not what the stream holds.
    package func start(of last: LastEvents, space: SpaceID) throws(StoreError) -> LastEvents.Place {
        try readLog(space) { rows throws(StoreError) in try EventRows(rows).start(of: last) }
            ?? LastEvents.Place(after: .max, count: 0)
    }

    /// Returns the events that the retention of streams has dropped.
    package func dropped(of space: SpaceID) throws(StoreError) -> DroppedByStream {
        let known = try logState()
        return known.space == space ? known.dropped : DroppedByStream()
    }

    /// Returns events in canonical order behind `key`; for a stream that shows only the greatest event per type, also those
    /// that it no longer shows. At most `limit` events, and about a mebibyte of payloads, but at least one.
    package func keptEvents(
        of stream: String, space: SpaceID, after key: CanonicalKey?, limit: Int
    ) throws(StoreError) -> [StoredEvent] {
        let query = EventQuery(
            space: space, stream: stream, order: .canonical(after: key), limit: limit,
            byteBudget: RetentionTerms.pageBytes)
        return try readLog(space) { rows throws(StoreError) in
            guard let row = try rows.findStream(stream) else { return [] }
            return try CanonicalReader(rows, query, stream: row).page(after: key)
        } ?? []
    }

    /// Retained events of the stream that arrived after `position`.
    package func eventCount(stream: String, space: SpaceID, after position: Int64) throws(StoreError) -> Int64 {
        try readLog(space) { rows throws(StoreError) in
            try EventRows(rows).count(stream: stream, after: position)
        } ?? 0
    }

    package func streams(of space: SpaceID) throws(StoreError) -> [StreamSummary] {
        try readLog(space) { rows throws(StoreError) in try EventRows(rows).streams() } ?? []
    }

    /// Recomputes the state digest from what is stored; equals the one kept step by step.
    package func recomputedDigest(of space: SpaceID) throws(StoreError) -> Sum256 {
        try readLog(space) { rows throws(StoreError) in try rows.recomputedDigest() } ?? .zero
    }
}

// Objects
extension SQLiteStore {
    /// Returns the object as all devices judge it that hold the same.
    package func object(_ key: ObjectKey, space: SpaceID) throws(StoreError) -> StoredObject? {
        try readLog(space) { rows throws(StoreError) in
            try Self.object(key, rows, ObjectRows(rows))
        } ?? nil
    }

    /// Returns the object as this device's own readers see it (`WaitingWork`).
    package func shownObject(_ key: ObjectKey, space: SpaceID) throws(StoreError) -> StoredObject? {
        try readShown(space) { rows, objects throws(StoreError) in try Self.object(key, rows, objects) } ?? nil
    }

    private static func object(
        _ key: ObjectKey, _ rows: LogRows, _ objects: ObjectRows
    ) throws(StoreError) -> StoredObject? {
        let object = try objects.object(key)
        guard object?.summary.standing ?? .nothing == .nothing else { return object }
        return try ArrivingObjects(rows).object(key) ?? object
    }

    /// Returns the receipt for a wipe that is kept of a device; whether the device signed it is not checked.
    package func wipeReceipt(of device: DeviceID, space: SpaceID) throws(StoreError) -> WipeReceipt? {
        try object(WipeReceipt.key(of: device), space: space).flatMap {
            WipeReceipt($0.reading(nil) { _ in true }.fields)
        }
    }

    /// Returns the keys of daily tags in the objects of these devices.
    package func discoveryKeys(
        of devices: [DeviceID], space: SpaceID
    ) throws(StoreError) -> [DeviceID: DiscoveryKey.Kept] {
        var keys: [DeviceID: DiscoveryKey.Kept] = [:]
        for device in devices {
            let object = try object(DiscoveryKey.objectKey(of: device), space: space)
            guard let object, object.summary.standing == .live,
                let key = DiscoveryKey(object.reading(nil) { _ in true }.fields)
            else { continue }
            keys[device] = DiscoveryKey.Kept(key: key, isByOwner: object.version?.replica.device ?? device == device)
        }
        return keys
    }

    /// Returns the number of live objects that agents wrote of themselves: receipts of wipes, and keys of tags.
    package func agentObjectCount(of space: SpaceID) throws(StoreError) -> Int {
        var count = 0
        for collection in [WipeReceipt.collection, DiscoveryKey.collection] {
            let query = ObjectQuery(space: space, collection: collection, selection: .standing(.live), limit: .max)
            // Those of a state that arrives are not among the objects yet.
            count += try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).cost(of: query).matched } ?? 0
        }
        return count
    }

    /// Returns objects in the order of (collection, id), as this device's own readers see them, as all queries do.
    package func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject] {
        try readShown(query.space) { rows, shown throws(StoreError) in
            let objects = try shown.page(query).objects
            let arriving = try ArrivingObjects(rows, behind: shown.waiting).page(query).objects
            if arriving.isEmpty { return objects }
            return Array((objects + arriving).sorted { $0.key < $1.key }.prefix(query.limit))
        } ?? []
    }

    /// Returns the first places of objects in the query's own order. Looks at every object of the collection unless an index
    /// helps.
    package func places(_ query: ObjectQuery) throws(StoreError) -> [ObjectOrder.Place] {
        try places(query, sortedLimit: 0).places
    }

    /// Returns the first places of objects in the query's own order.
    ///
    /// - Parameter sortedLimit: the number of places, if greater than the query's limit, where finding one costs as much as
    ///   finding all.
    /// - Returns: the places, and whether there are no more behind them.
    package func places(
        _ query: ObjectQuery, sortedLimit: Int
    ) throws(StoreError) -> (places: [ObjectOrder.Place], isWhole: Bool) {
        try readShown(query.space) { rows, objects throws(StoreError) in
            let page = try objects.page(query, sortedLimit: sortedLimit)
            var wider = query
            wider.limit = page.limit
            let arriving = try ArrivingObjects(rows, behind: objects.waiting).page(wider).places
            var places = page.places
            if let order = query.order, !arriving.isEmpty {
                places = Array((places + arriving).sorted(by: order.isBefore).prefix(page.limit))
            }
            return (places, places.count < page.limit)
        } ?? ([], true)
    }

    /// Returns the number of objects of a query, and what it takes to find them. Without an order all objects count, else those
    /// of the first page.
    package func cost(of query: ObjectQuery) throws(StoreError) -> QueryCost {
        try readShown(query.space) { rows, objects throws(StoreError) in
            var cost = try objects.cost(of: query)
            var arriving = query
            (arriving.order, arriving.after, arriving.limit) = (nil, nil, .max)
            let count = try ArrivingObjects(rows, behind: objects.waiting).page(arriving).objects.count
            cost.examined += count
            cost.matched += count
            if query.order != nil { cost.matched = min(cost.matched, query.limit) }
            return cost
        } ?? QueryCost()
    }

    /// Objects that changed behind `position`, each once and as it is now, by the position of its newest change.
    package func changedObjects(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        try readLog(space) { rows throws(StoreError) in
            try ObjectRows(rows).changes(of: collection, after: position, limit: limit)
        } ?? []
    }

    /// Returns the same objects as this device's own readers see them (`WaitingWork`).
    package func shownChanges(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        try readShown(space) { _, objects throws(StoreError) in
            try objects.changes(of: collection, after: position, limit: limit)
        } ?? []
    }

    /// Returns the collections in the order of their names.
    package func collections(of space: SpaceID) throws(StoreError) -> [StoredCollection] {
        try readLog(space) { rows throws(StoreError) in
            let collections = try ObjectRows(rows).collections()
            let arriving = try ArrivingObjects(rows).collections().filter { name in
                !collections.contains { $0.name == name }
            }
            if arriving.isEmpty { return collections }
            return (collections + arriving.map { StoredCollection(name: $0, schema: nil) }).sorted { $0.name < $1.name }
        } ?? []
    }

    package func schema(of collection: ExactString, space: SpaceID) throws(StoreError) -> CollectionSchema? {
        try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).schema(of: collection) } ?? nil
    }

    /// Returns the object's state at the beginning of the stored part of its history; nil if all of its history is stored.
    /// Read after `touches`: changes dropped in between are in both, and told apart by their dots.
    package func beginning(of key: ObjectKey, space: SpaceID) throws(StoreError) -> ObjectBeginning? {
        try readLog(space) { rows throws(StoreError) in
            try BeginningRows(ObjectRows(rows)).beginning(of: key)
        } ?? nil
    }

    /// Every operation on the object, in the order in which they arrived here; none for an object that never was.
    package func touches(of key: ObjectKey, space: SpaceID) throws(StoreError) -> [PastOperation] {
        let cuts = try cuts
        let touches = try readLog(space) { rows throws(StoreError) in try ObjectRows(rows).touches(of: key) } ?? []
        return touches.filter { !cuts.isVoid($0.origin.dot) }
    }

    /// Returns the pasts of those of the objects that were written to after that time, or of which not all changes are stored.
    /// What their authors had seen is read once for all.
    package func pasts(
        of keys: [ObjectKey], writtenAfter milliseconds: Int64, space: SpaceID
    ) throws(StoreError) -> [ObjectKey: ObjectPast] {
        let cuts = try cuts
        return try readLog(space) { rows throws(StoreError) in
            let objects = ObjectRows(rows, sharesContexts: true)
            let beginnings = BeginningRows(objects)
            var pasts: [ObjectKey: ObjectPast] = [:]
            for key in keys {
                let beginning = try beginnings.beginning(of: key)
                if beginning == nil, try !objects.isWritten(key, after: milliseconds) { continue }
                let touches = try objects.touches(of: key).filter { !cuts.isVoid($0.origin.dot) }
                pasts[key] = ObjectPast(touches, from: beginning)
            }
            return pasts
        } ?? [:]
    }

    /// Reads every page (SQLite's integrity_check): for `doctor --deep`, and slow on a large store.
    /// - Throws: `corrupt` with the first finding.
    package func checkIntegrity() throws(StoreError) {
        try read { access throws(StoreError) in
            let finding = try access.first("PRAGMA integrity_check(1)") { row throws(StoreError) in row.text(0) }
            if finding != "ok" { throw .corrupt(detail: finding ?? "integrity_check says nothing") }
        }
    }
}
