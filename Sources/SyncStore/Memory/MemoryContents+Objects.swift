import SyncModel

extension MemoryContents: ObjectSource {
    func object(_ key: ObjectKey) -> StoredObject? { objects[key] }

    func answeredWrite(_ name: [UInt8]) -> AnsweredWrite? { answers.last { $0.key.name == name } }

    /// Adds these, and forgets the oldest beyond the bounds.
    mutating func write(_ added: [AnsweredWrite]) {
        guard let newest = added.last else { return }
        // As another store keeps them: what is too large is not kept.
        answers += added.map(\.reread)
        let oldest = newest.wallMilliseconds - WriteKey.rememberedMilliseconds
        answers.removeFirst(answers.firstIndex { $0.wallMilliseconds > oldest } ?? 0)
        answers.removeFirst(max(0, answers.count - Int(WriteKey.rememberedCount)))
    }

    func schema(of collection: ExactString) -> CollectionSchema? { schemas[collection] }

    var collections: [StoredCollection] {
        let names = Set(objects.keys.map(\.collection)).union(schemas.keys)
        return names.sorted().map { StoredCollection(name: $0, schema: schemas[$0]) }
    }

    func page(_ query: ObjectQuery) -> ObjectPage {
        var page = ObjectPage(query)
        for key in objects.keys.sorted() {
            guard let object = objects[key], query.collection ?? key.collection == key.collection else { continue }
            if let after = query.after, key <= after { continue }
            let isWanted =
                switch query.selection {
                case .standing(let standing): object.summary.standing == standing
                case .conflicted: object.summary.hasConflict
                }
            guard isWanted else { continue }
            if !page.take(object, schemas[key.collection]) { break }
        }
        return page
    }

    func objects(
        of collection: ExactString, _ body: (StoredObject) throws(StoreError) -> Bool
    ) throws(StoreError) {
        for key in objects.keys.sorted() where key.collection == collection {
            if let object = objects[key], try !body(object) { return }
        }
    }

    func changes(of collection: ExactString?, after position: Int64, limit: Int) -> [StoredObject] {
        let found = objects.values.filter {
            $0.position > position && collection ?? $0.key.collection == $0.key.collection
        }
        return Array(found.sorted { $0.position < $1.position }.prefix(limit))
    }

    func touches(of key: ObjectKey) throws(StoreError) -> [PastOperation] {
        var found: [PastOperation] = []
        for place in touches[key] ?? [] {
            guard let history = segments[place.replica] else { continue }
            var context = log.firsts.inherited(by: place.replica)
            for stored in history[...place.index] where !stored.verified.context.isEmpty {
                context.join(VersionVector(stored.verified.context))
            }
            guard
                PastOperation.read(
                    &found, of: key, in: history[place.index].verified.segment.bytes, by: place.replica,
                    context: context)
            else { throw .corrupt(detail: "a segment's changes do not read back") }
        }
        return found
    }
}
