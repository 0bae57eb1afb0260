package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// What a person should look at, and schemas.
extension Agent {
    /// Returns conflicts by collection, id and field; of all collections if `collection` is nil.
    package func conflicts(space: String, collection: String?) async throws(ControlError) -> [ConflictEntry] {
        try checkSpace(space)
        return try await reading { () throws(ControlError) in try conflicts(of: collection.map { ExactString($0) }) }
    }

    private func conflicts(of collection: ExactString?) throws(ControlError) -> [ConflictEntry] {
        var entries: [ConflictEntry] = []
        var reader = ObjectReader(store)
        let query = SyncStore.ObjectQuery(space: .home, collection: collection, selection: .conflicted, limit: 256)
        try forEachObject(of: query) { object throws(ControlError) in
            let schema = try read { () throws(StoreError) in try reader.schema(of: object.key.collection) }
            entries += try object.conflicts(schema) { () throws(ControlError) in
                try keptPast(of: ObjectName(collection: object.key.collection.string, id: object.key.id.string))
            }
        }
        return entries + (try schemaConflicts(of: collection))
    }

    private func schemaConflicts(of collection: ExactString?) throws(ControlError) -> [ConflictEntry] {
        let known = try read { () throws(StoreError) in try store.collections(of: .home) }
        return known.filter { collection ?? $0.name == $0.name }.flatMap { found in
            (found.schema?.conflicts ?? []).map { conflict in
                ConflictEntry(
                    id: "", collection: found.name.string, field: FieldPath(field: conflict.key.string), kind: .schema,
                    values: conflict.values.map { JSONText($0) },
                    authors: conflict.writers.map { ConflictEntry.Author($0.replica, $0.stamp.milliseconds) })
            }
        }
    }

    /// Returns the number of objects and schemas with conflicts, at most `limit`: reading all of them could take long.
    func conflictCount(upTo limit: Int) throws(ControlError) -> Int {
        let query = SyncStore.ObjectQuery(
            space: .home, collection: nil, selection: .conflicted, limit: limit)
        let objects = try read { () throws(StoreError) in try store.objects(query) }
        return min(limit, objects.count + Set(try schemaConflicts(of: nil).map(\.collection)).count)
    }

    /// Waits until the list differs from `known`, the agent stops, or the task is cancelled (then it is `known`).
    package func nextConflicts(
        space: String, collection: String?, differingFrom known: [ConflictEntry]
    ) async throws(ControlError) -> [ConflictEntry] {
        try checkSpace(space)
        while true {
            let version = objectSignal.version
            let now = try await conflicts(space: space, collection: collection)
            if now != known || objectSignal.isFinished || Task.isCancelled { return now }
            await objectSignal.wait(beyond: version)
            if Task.isCancelled { return now }
        }
    }

    // MARK: Schemas

    /// Returns the collections into which an object was ever put, and those with a schema, by name.
    package func collections(space: String) async throws(ControlError) -> [CollectionEntry] {
        try checkSpace(space)
        return try await stored { () throws(StoreError) in try store.collections(of: .home) }
            .map { CollectionEntry(name: $0.name.string) }
    }

    /// Returns the schemas that were set, by collection.
    package func schemas(space: String) async throws(ControlError) -> [SchemaEntry] {
        try checkSpace(space)
        let known = try await stored { () throws(StoreError) in try store.collections(of: .home) }
        var entries: [SchemaEntry] = []
        for collection in known {
            guard let schema = collection.schema, !schema.isEmpty else { continue }
            entries.append(try SchemaEntry(kept: JSONText(schema.json), of: collection.name.string))
        }
        return entries
    }

    /// Returns the schema of a collection. Throws `unknown_collection` where none was set.
    package func schema(space: String, collection: String) async throws(ControlError) -> SchemaEntry {
        try checkSpace(space)
        let name = ExactString(collection)
        let schema = try await stored { () throws(StoreError) in try store.schema(of: name, space: .home) }
        guard let schema, !schema.isEmpty else { throw .noSchema }
        return try SchemaEntry(kept: JSONText(schema.json), of: collection)
    }

    /// Sets the settings that are named and leaves the rest; the answer is the whole. Throws `schema_would_lose_data`.
    package func setSchema(space: String, _ schema: SchemaEntry) async throws(ControlError) -> SchemaEntry {
        try checkSpace(space)
        guard case .object(let members) = try JSONValue(schema.settingText) else {
            throw ControlError(.schemaInvalid, "A schema is a JSON object.", hint: "See: lanyard schema set --help")
        }
        let wish = JSONValue.object(members.filter { $0.key != "collection" })
        _ = try await write([.setSchema(ExactString(schema.collection), wish)])
        return try await self.schema(space: space, collection: schema.collection)
    }
}

extension StoredObject {
    /// - Parameter past: asked for where a field has several types: they say who wrote them, but not when.
    fileprivate func conflicts(
        _ schema: CollectionSchema?, past: () throws(ControlError) -> ObjectPast
    ) throws(ControlError) -> [ConflictEntry] {
        func entry(
            _ kind: ConflictEntry.Kind, field: FieldPath? = nil, values: [JSONValue] = [],
            authors: [ConflictEntry.Author] = [], deletions: [DeletionRecord] = []
        ) -> ConflictEntry {
            ConflictEntry(
                id: key.id.string, collection: key.collection.string, field: field, kind: kind,
                values: values.map { JSONText($0) }, authors: authors, deletions: deletions.map(\.author))
        }
        var entries: [ConflictEntry] = []
        if summary.standing == .undecided {
            let edits = state.lives.undecidedEdits
            entries.append(
                entry(
                    .undecided, authors: edits.map { ConflictEntry.Author($0.replica, $0.stamp.milliseconds) },
                    deletions: state.lives.undecidedDeletions))
        }
        let (edits, deletions) = (droppedEdits.filter { !$0.isDeletion }, droppedEdits.filter(\.isDeletion))
        if !edits.isEmpty {
            entries.append(
                entry(
                    .editedWhileDeleted, authors: edits.map(\.author),
                    deletions: state.lives.deletions.filter { !$0.edited.isEmpty }))
        }
        if !deletions.isEmpty { entries.append(entry(.deletedWhileEdited, authors: deletions.map(\.author))) }
        for conflict in reading(schema, isLive: { _ in true }).conflicts {
            let kind: ConflictEntry.Kind =
                switch conflict.kind {
                case .values: .concurrentValues
                case .types: .types
                }
            let path = try? FieldPath(parsing: conflict.path)
            let keys = path?.exactKeys ?? []
            let authors =
                switch conflict.kind {
                case .values:
                    state.writers(at: keys, schema).map { ConflictEntry.Author($0.replica, $0.stamp.milliseconds) }
                case .types:
                    try past().writersOfTypes(of: state, at: keys, schema).map {
                        ConflictEntry.Author($0.replica, $0.wallMilliseconds)
                    }
                }
            entries.append(entry(kind, field: path, values: conflict.values, authors: authors))
        }
        return entries
    }
}

extension ConflictEntry.Author {
    fileprivate init(_ replica: ReplicaID, _ milliseconds: Int64, count: UInt64 = 1) {
        self.init(
            device: "\(replica.device)", time: Timestamp(millisecondsSinceEpoch: milliseconds),
            count: Int(clamping: count))
    }
}

extension DeletionRecord {
    fileprivate var author: ConflictEntry.Author { ConflictEntry.Author(dot.replica, wallMilliseconds) }
}

extension DeletionRecord.Edited {
    fileprivate var author: ConflictEntry.Author {
        ConflictEntry.Author(replica, lastWallMilliseconds, count: isDeletion ? 1 : count)
    }
}
