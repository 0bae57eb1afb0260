import ControlAPI
import ControlServer

extension MemoryAgent {
    // MARK: For tests

    /// Writes to this object are refused from now on; with nil no more.
    func refuseWrites(to name: ObjectName, with error: ControlError?) { objects.refusals[name] = error }

    /// Lists these conflicts from now on; whoever watches sees it.
    func show(_ conflicts: [ConflictEntry]) {
        objects.conflicts = conflicts
        wakeAll()
    }

    /// Answers this to who asks whose work a field is, or how versions differ.
    func tell(blame: [BlameEntry] = [], differences: [DifferenceEntry] = []) {
        objects.blame = blame
        objects.differences = differences
    }

    /// Says that this happened to an object.
    func record(_ entry: HistoryEntry, of name: ObjectName) { objects.record(entry, of: name) }

    /// The last edit that was asked for.
    var lastEdit: ObjectEdit? { objects.lastEdit }

    // MARK: Writing

    func put(space: String, _ put: ObjectPut) throws(ControlError) -> ObjectEntry {
        try check(space)
        defer { wakeAll() }
        return try objects.put(put)
    }

    func put(space: String, all puts: [ObjectPut]) throws(ControlError) -> EmitResponse {
        try check(space)
        defer { wakeAll() }
        putGroups.append(puts.count)
        var answer = EmitResponse(count: 0, first: nil, last: nil)
        for put in puts {
            do throws(ControlError) {
                let entry = try objects.put(put)
                answer.count += 1
                answer.first = answer.first ?? entry.version
                answer.last = entry.version
            } catch {
                throw ControlError(
                    error.code, error.message, hint: error.hint, written: answer.count, version: error.version)
            }
        }
        return answer
    }

    func editBriefly(space: String, _ edit: ObjectEdit) throws(ControlError) -> ObjectVersion {
        let entry = try self.edit(space: space, edit)
        return ObjectVersion(id: entry.id, collection: entry.collection, version: entry.version)
    }

    func edit(space: String, _ edit: ObjectEdit) throws(ControlError) -> ObjectEntry {
        try check(space)
        defer { wakeAll() }
        return try objects.edit(edit)
    }

    func delete(space: String, _ name: ObjectName, ifVersion: DotText?) throws(ControlError) -> Bool {
        try check(space)
        defer { wakeAll() }
        return try objects.delete(name, ifVersion)
    }

    func perform(_ transaction: Transaction) throws(ControlError) -> TransactionResponse {
        try check(transaction.space)
        defer { wakeAll() }
        var emitted: [(String, EventDraft)] = []
        let answer = try objects.perform(transaction) { stream, event in
            emitted.append((stream, event))
            return DotText(replica: Self.replica, counter: UInt64(emitted.count))
        }
        for (stream, event) in emitted { _ = try emit(space: transaction.space, stream: stream, events: [event]) }
        return answer
    }

    // MARK: Reading

    func object(space: String, _ name: ObjectName) throws(ControlError) -> ObjectEntry {
        try check(space)
        var entry = try objects.object(name)
        let attached = attachments.stored.map(\.entry).filter { $0.owner == "\(name)" }
        if !attached.isEmpty { entry.attachments = attached }
        return entry
    }

    func object(space: String, _ name: ObjectName, at version: DotText) throws(ControlError) -> ObjectEntry {
        try check(space)
        return try objects.object(name, at: version)
    }

    func objects(_ query: ObjectListQuery, _ memory: PageMemory) throws(ControlError) -> EntryPage<ObjectEntry> {
        try check(query.space)
        return try objects.objects(query)
    }

    func deletedObjects(_ query: DeletedQuery) throws(ControlError) -> EntryPage<DeletedEntry> {
        try check(query.space)
        return objects.deletedObjects(query)
    }

    func history(_ query: HistoryQuery, _ memory: PageMemory) throws(ControlError) -> EntryPage<HistoryEntry> {
        try check(query.space)
        return try objects.history(query)
    }

    func blame(_ query: BlameQuery) throws(ControlError) -> [BlameEntry] {
        try check(query.space)
        blameQueries.append(query)
        _ = try objects.object(query.name)
        guard query.field.field != "none" else { throw ControlError.unknownField(query.field.description) }
        return objects.blame
    }

    func difference(_ query: DifferenceQuery) throws(ControlError) -> [DifferenceEntry] {
        try check(query.space)
        differenceQueries.append(query)
        for version in [query.from, query.at].compactMap(\.self) { _ = try objects.object(query.name, at: version) }
        return objects.differences
    }

    // MARK: Watching

    func objectPosition(space: String) throws(ControlError) -> UInt64 {
        try check(space)
        return objects.position
    }

    func nextObjectChanges(_ query: WatchQuery) async throws(ControlError) -> [ObjectChange] {
        try check(query.space)
        while true {
            let changes = objects.changes(query)
            if !changes.isEmpty || Task.isCancelled { return changes }
            await waitForChange()
        }
    }

    // MARK: Conflicts and schemas

    func conflicts(space: String, collection: String?) throws(ControlError) -> [ConflictEntry] {
        try check(space)
        return objects.conflicts.filter { collection == nil || $0.collection == collection }
    }

    func nextConflicts(
        space: String, collection: String?, differingFrom known: [ConflictEntry]
    ) async throws(ControlError) -> [ConflictEntry] {
        while true {
            let current = try conflicts(space: space, collection: collection)
            if current != known || Task.isCancelled { return current }
            await waitForChange()
        }
    }

    func resolve(space: String, _ name: ObjectName, _ resolution: Resolution) throws(ControlError) -> Bool {
        try check(space)
        defer { wakeAll() }
        return try objects.resolve(name, resolution)
    }

    func collections(space: String) throws(ControlError) -> [CollectionEntry] {
        try check(space)
        return objects.collectionNames.map { CollectionEntry(name: $0) }
    }

    func schemas(space: String) throws(ControlError) -> [SchemaEntry] {
        try check(space)
        return objects.schemas.values.sorted { $0.collection < $1.collection }
    }

    func schema(space: String, collection: String) throws(ControlError) -> SchemaEntry {
        try check(space)
        guard let schema = objects.schemas[collection] else { throw ControlError.noSchema }
        return schema
    }

    /// The next schema is one that would hide values.
    func refuseNextSchema() { refusesSchema = true }

    func setSchema(space: String, _ schema: SchemaEntry) throws(ControlError) -> SchemaEntry {
        try check(space)
        if refusesSchema {
            refusesSchema = false
            throw ControlError(.schemaWouldLoseData, "It would hide values.", hint: "Convert them.")
        }
        return try objects.set(schema)
    }

    func conversions(space: String, for schema: SchemaEntry) throws(ControlError) -> [SchemaConversion] {
        try check(space)
        return schema.fields.map {
            SchemaConversion(field: $0.name, from: .list, to: $0.type, objects: 2, repeating: 1, example: "task/milk")
        }
    }

    func convert(space: String, to schema: SchemaEntry) throws(ControlError) -> SchemaEntry {
        try check(space)
        converted.append(schema.collection)
        return try objects.set(schema)
    }
}
