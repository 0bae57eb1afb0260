import ControlAPI
import ControlServer

/// Objects of one node, without types or replication: enough to see that routes and commands pass on what they should.
struct MemoryObjects {
    private struct Stored {
        var fields: JSONTree
        var version: DotText
        var position: UInt64
    }

    private var stored: [ObjectName: Stored] = [:]
    private(set) var deleted: [ObjectName: (entry: DeletedEntry, position: UInt64)] = [:]
    private var past: [ObjectName: [(entry: HistoryEntry, fields: JSONTree?)]] = [:]
    private(set) var schemas: [String: SchemaEntry] = [:]
    var conflicts: [ConflictEntry] = []
    /// Ids whose writes are refused with this.
    var refusals: [ObjectName: ControlError] = [:]
    private(set) var position: UInt64 = 0
    private var freshIDs = 0
    /// What is answered to who asks whose work a field is, or how versions differ.
    var blame: [BlameEntry] = []
    var differences: [DifferenceEntry] = []
    /// As it came.
    private(set) var lastEdit: ObjectEdit?

    static let time = Timestamp(millisecondsSinceEpoch: 1_763_700_000_000)

    /// Twins in composition are two.
    var collectionNames: [String] {
        Set((stored.keys.map(\.collection) + schemas.keys).map { Array($0.utf8) })
            .map { String(decoding: $0, as: UTF8.self) }.sorted()
    }

    // MARK: Writing

    mutating func put(_ put: ObjectPut) throws(ControlError) -> ObjectEntry {
        let name = try ObjectName(collection: put.collection, id: put.id ?? freshID())
        let current = try current(name, put.condition)
        if current == nil, schemas[put.collection]?.upsert == false, put.condition != .absent {
            throw ControlError.createsOnlyIfAbsent
        }
        let fields = try JSONTree(put.fields)
        let old = current?.fields ?? .object([])
        return try write(name, put.replace ? fields : old.merged(with: fields), over: current)
    }

    mutating func edit(_ edit: ObjectEdit) throws(ControlError) -> ObjectEntry {
        lastEdit = edit
        let current = try current(edit.name, edit.condition)
        guard current != nil || edit.create else { throw ControlError.nothingToEdit }
        var fields = current?.fields ?? .object([])
        for (index, operation) in edit.operations.enumerated() {
            do throws(ControlError) { try fields.apply(operation) } catch {
                throw edit.operations.count == 1 ? error : error.concerning("Operation \(index + 1)")
            }
        }
        return try write(edit.name, fields, over: current)
    }

    mutating func delete(_ name: ObjectName, _ version: DotText?) throws(ControlError) -> Bool {
        guard let current = stored[name] else { return false }
        if let version, version != current.version { throw ControlError.versionMismatch(current: current.version) }
        position += 1
        stored[name] = nil
        let policy = schemas[name.collection]?.deletePolicy ?? .deleteWins
        let entry = DeletedEntry(
            id: name.id, collection: name.collection, device: MemoryAgent.device, time: Self.time, policy: policy)
        deleted[name] = (entry, position)
        record(name, .deleted, nil)
        return true
    }

    mutating func perform(
        _ transaction: Transaction, emit: (String, EventDraft) -> DotText
    ) throws(ControlError) -> TransactionResponse {
        var copy = self
        var results: [TransactionResponse.Result] = []
        for (index, step) in transaction.steps.enumerated() {
            do throws(ControlError) {
                switch step {
                case .put(let put): results.append(.put(try copy.put(put)))
                case .edit(let edit): results.append(.edit(try copy.edit(edit)))
                case .delete(let name, let version): results.append(.delete(try copy.delete(name, version)))
                case .emit(let stream, let event): results.append(.emit(emit(stream, event)))
                }
            } catch { throw error.concerning("Operation \(index + 1)") }
        }
        self = copy
        return TransactionResponse(results: results)
    }

    private mutating func freshID() -> String {
        freshIDs += 1
        return "fresh\(freshIDs)"
    }

    private func current(_ name: ObjectName, _ condition: WriteCondition) throws(ControlError) -> Stored? {
        if let refusal = refusals[name] { throw refusal }
        let current = stored[name]
        switch condition {
        case .none: break
        case .absent: if let current { throw ControlError.alreadyExists(current.version) }
        case .version(let version):
            guard current?.version == version else { throw ControlError.versionMismatch(current: current?.version) }
        }
        if current == nil, let deletion = deleted[name], deletion.entry.policy == .deleteWins {
            throw ControlError.objectDeleted
        }
        return current
    }

    private mutating func write(
        _ name: ObjectName, _ fields: JSONTree, over current: Stored?
    ) throws(ControlError) -> ObjectEntry {
        if let current, current.fields == fields { return entry(name, current) }
        position += 1
        let written = Stored(fields: fields, version: version, position: position)
        stored[name] = written
        deleted[name] = nil
        guard case .object(let members) = fields else { preconditionFailure("fields are an object") }
        if current == nil, members.isEmpty { record(name, .created, fields) }
        for member in members where current?.fields[member.key] != member.value {
            record(
                name, current == nil ? .created : .edited, fields, FieldPath(field: member.key),
                current?.fields[member.key]?.text, member.value.text)
        }
        return entry(name, written)
    }

    private mutating func record(
        _ name: ObjectName, _ kind: HistoryEntry.Kind, _ fields: JSONTree?, _ field: FieldPath? = nil,
        _ old: JSONText? = nil, _ new: JSONText? = nil
    ) {
        let entry = HistoryEntry(
            version: version, time: Self.time, device: MemoryAgent.device, kind: kind, field: field, old: old,
            new: new)
        past[name, default: []].append((entry, fields))
    }

    /// Says that this happened to the object, as an agent tells it that knows what a text is.
    mutating func record(_ entry: HistoryEntry, of name: ObjectName) { past[name, default: []].append((entry, nil)) }

    private var version: DotText { DotText(replica: MemoryAgent.replica, counter: 1_000_000 + position) }

    private func entry(_ name: ObjectName, _ stored: Stored) -> ObjectEntry {
        ObjectEntry(
            id: name.id, collection: name.collection, fields: stored.fields.text, version: stored.version)
    }

    // MARK: Reading

    func object(_ name: ObjectName) throws(ControlError) -> ObjectEntry {
        guard let current = stored[name] else {
            throw deleted[name] == nil ? ControlError.noObject : ControlError.objectGone
        }
        return entry(name, current)
    }

    func object(_ name: ObjectName, at version: DotText) throws(ControlError) -> ObjectEntry {
        guard let fields = past[name]?.last(where: { $0.entry.version == version })?.fields else {
            throw ControlError.noObject
        }
        return ObjectEntry(id: name.id, collection: name.collection, fields: fields.text, version: version)
    }

    func objects(_ query: ObjectListQuery) throws(ControlError) -> EntryPage<ObjectEntry> {
        let isKnown =
            schemas[query.collection] != nil
            || past.keys.contains { $0.collection.utf8.elementsEqual(query.collection.utf8) }
        guard isKnown else { throw ControlError.unknownCollection }
        var wanted: [(keys: ArraySlice<String>, value: JSONTree)] = []
        for condition in query.conditions { wanted.append((condition.path.keys[...], try JSONTree(condition.value))) }
        let all = stored.keys.filter { $0.collection.utf8.elementsEqual(query.collection.utf8) }.sorted()
        let found = all.filter { name in
            wanted.allSatisfy { stored[name]?.fields.value(at: $0.keys) == $0.value }
        }
        let prefix = "\(query.collection)/"
        let after = query.after.map { $0.hasPrefix(prefix) ? String($0.dropFirst(prefix.count)) : $0 }
        return page(sorted(found, query.order), after, query.limit) {
            $0.id
        } entry: { name in
            stored[name].map { entry(name, $0) }
        }
    }

    /// Texts of values are compared, and numbers are told from them; enough to see that an order was asked for.
    private func sorted(_ names: [ObjectName], _ order: ListOrder) -> [ObjectName] {
        func key(_ name: ObjectName) -> (Double, String) {
            switch order.key {
            case .id: (0, "")
            case .created: (Double(past[name]?.first?.entry.version.counter ?? 0), "")
            case .changed: (Double(stored[name]?.position ?? 0), "")
            case .field(let path):
                stored[name]?.fields.value(at: path.keys[...]).map { (Double("\($0.text)") ?? 0, "\($0.text)") } ?? (
                    -1, ""
                )
            }
        }
        let sorted = names.sorted { (key($0).0, key($0).1, $0.id) < (key($1).0, key($1).1, $1.id) }
        return order.reverse ? sorted.reversed() : sorted
    }

    func deletedObjects(_ query: DeletedQuery) -> EntryPage<DeletedEntry> {
        let names = deleted.keys.filter { query.collection == nil || $0.collection == query.collection }.sorted()
        return page(names, query.after, query.limit) {
            "\($0)"
        } entry: {
            deleted[$0]?.entry
        }
    }

    func history(_ query: HistoryQuery) throws(ControlError) -> EntryPage<HistoryEntry> {
        guard let all = past[query.name]?.map(\.entry) else { throw ControlError.noObject }
        let found = all.enumerated().filter { query.field == nil || $0.element.field == query.field }
        if let field = query.field, found.isEmpty { throw ControlError.unknownField(field.field) }
        return page(Array(found), query.after, query.limit) {
            String($0.offset)
        } entry: {
            $0.element
        }
    }

    private func page<Key, Entry>(
        _ all: [Key], _ after: String?, _ limit: Int, _ cursor: (Key) -> String, entry: (Key) -> Entry?
    ) -> EntryPage<Entry> {
        let start =
            after.flatMap { after in all.firstIndex { cursor($0).utf8.elementsEqual(after.utf8) } }
            .map { $0 + 1 } ?? 0
        let part = all[start...].prefix(limit)
        return EntryPage(
            entries: part.compactMap(entry), next: start + part.count < all.count ? part.last.map(cursor) : nil)
    }

    func changes(_ query: WatchQuery) -> [ObjectChange] {
        let live = stored.filter { $0.value.position > query.after }.map { name, stored in
            (name, ObjectChange(position: stored.position, entry(name, stored)))
        }
        let gone = deleted.filter { $0.value.position > query.after }.map { name, deletion in
            (name, ObjectChange(position: deletion.position, deleted: name))
        }
        let wanted = (live + gone).filter { query.collection == nil || $0.0.collection == query.collection }
        return Array(wanted.map(\.1).sorted { $0.position < $1.position }.prefix(query.limit))
    }

    // MARK: Conflicts and schemas

    mutating func resolve(_ name: ObjectName, _ resolution: Resolution) throws(ControlError) -> Bool {
        let count = conflicts.count
        conflicts.removeAll { conflict in
            guard conflict.collection == name.collection, conflict.id == name.id else { return false }
            switch resolution {
            case .keep, .delete: return conflict.kind == .undecided
            case .dismiss: return true
            case .set(let path, _): return conflict.field == path
            }
        }
        guard conflicts.count < count else { return false }
        if case .set(let path, let value) = resolution {
            _ = try edit(try ObjectEdit(name, [try EditOperation(path, .set(value))]))
        }
        return true
    }

    mutating func set(_ schema: SchemaEntry) throws(ControlError) -> SchemaEntry {
        var merged = schemas[schema.collection] ?? SchemaEntry(collection: schema.collection)
        for field in schema.fields {
            if let index = merged.fields.firstIndex(where: { $0.name.utf8.elementsEqual(field.name.utf8) }) {
                guard merged.fields[index].type == field.type else {
                    throw ControlError.schemaWouldLoseData(field.name, is: merged.fields[index].type.rawValue)
                }
                merged.fields[index] = field
            } else {
                merged.fields.append(field)
            }
        }
        merged.fields.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        merged.deletePolicy = schema.deletePolicy ?? merged.deletePolicy
        merged.indexed = schema.indexed ?? merged.indexed
        merged.upsert = schema.upsert ?? merged.upsert
        schemas[schema.collection] = merged
        return merged
    }
}
