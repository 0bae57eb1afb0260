import Crypto

extension CollectionSchema {
    /// The least edits that make this schema say what `wish` says, which may leave out anything: what it does not name
    /// stays. Only `indexed` is a whole: fields that it does not list are indexed no more. Nil when nothing changes.
    ///
    /// `wish` is an object: `{"fields":{"title":"register","tags":{"type":"set","refers":"tag"}},"deletePolicy":…,
    /// "indexed":[…],"upsert":…}`; other keys are kept as they are.
    package func setting(
        _ wish: JSONValue, collection: ExactString
    ) throws(ObjectRefusal) -> Operation.SchemaEdit? {
        guard case .object(let members) = wish else { throw .invalidSchema(key: "") }
        var entries: [Operation.SchemaEdit.Entry] = []
        for member in members {
            for (key, value) in try Self.entries(member, indexed: indexed)
            where self.entries[key]?.setting(value) != nil
                || self.entries[key] == nil
            {
                let entry = Operation.SchemaEdit.Entry(key: key, value: value)
                guard key.string.utf8.count + value.canonicalBytes.count < Limits.editBytes else {
                    throw .tooLarge(limitBytes: Limits.editBytes)
                }
                entries.append(entry)
            }
        }
        return entries.isEmpty ? nil : Operation.SchemaEdit(collection: collection, entries: entries)
    }

    private static func entries(
        _ member: JSONValue.Member, indexed: [ExactString]
    ) throws(ObjectRefusal) -> [(ExactString, JSONValue)] {
        switch member.key {
        case "fields":
            guard case .object(let fields) = member.value else { throw .invalidSchema(key: "fields") }
            var entries: [(ExactString, JSONValue)] = []
            for field in fields { entries.append((Key.field(field.key), try definition(field))) }
            return entries
        case "indexed": return try indexEntries(member.value, before: indexed)
        case Key.deletePolicy:
            guard case .string(let name) = member.value, DeletePolicy(name: name.string) != nil else {
                throw .invalidSchema(key: "deletePolicy")
            }
        case Key.upsert:
            guard case .bool = member.value else { throw .invalidSchema(key: "upsert") }
        case _: return [(ExactString(member.key.pointerEscaped), member.value)]
        }
        return [(member.key, member.value)]
    }

    /// A field's definition as it is kept: always an object, whatever else it says.
    private static func definition(_ field: JSONValue.Member) throws(ObjectRefusal) -> JSONValue {
        let definition: JSONValue
        switch field.value {
        case .string: definition = .object([JSONValue.Member(key: "type", value: field.value)])
        case .object: definition = field.value
        case .null, .bool, .integer, .double, .array: throw .invalidSchema(key: "fields/\(field.key)")
        }
        guard case .string(let type)? = definition["type"] else {
            throw .invalidSchema(key: "fields/\(field.key)/type")
        }
        guard Kind(name: type.string) != nil else { throw .unknownType(field: field.key.string, name: type.string) }
        if let refers = definition["refers"] {
            guard case .string(let collection) = refers, Name.isValid(collection.string) else {
                throw .invalidSchema(key: "fields/\(field.key)/refers")
            }
        }
        return definition
    }

    private static func indexEntries(
        _ value: JSONValue, before: [ExactString]
    ) throws(ObjectRefusal) -> [(ExactString, JSONValue)] {
        guard case .array(let elements) = value else { throw .invalidSchema(key: "indexed") }
        var names: Set<ExactString> = []
        for element in elements {
            guard case .string(let name) = element else { throw .invalidSchema(key: "indexed") }
            names.insert(name)
        }
        return names.sorted().map { (Key.indexed($0), true) }
            + before.filter { !names.contains($0) }.map { (Key.indexed($0), false) }
    }
}

extension CollectionSchema {
    /// A field whose present values another type would hide (they are kept per type) or, as `local`, not ship any more.
    package struct TypeChange: Hashable, Sendable {
        package let field: ExactString
        /// Nil: the schema said nothing of it, objects may hold values of any type.
        package let from: Kind?
        package let to: Kind
    }

    /// Returns the changes that `edit` makes to the types of fields. For each, the caller checks whether an object holds
    /// values of another type than `to` in that field, and then refuses with `wouldLoseData`.
    package func typeChanges(by edit: Operation.SchemaEdit) -> [TypeChange] {
        edit.entries.compactMap { entry in
            guard let field = Key.name(in: entry.key, after: Key.fields),
                case .string(let name)? = entry.value["type"], let kind = Kind(name: name.string)
            else { return nil }
            let before = self[field]?.kind
            return before == kind ? nil : TypeChange(field: field, from: before, to: kind)
        }
    }

    /// Returns a wish that sets what this schema says, and leaves the rest of another as it is: also what that indexes, which is
    /// wished for as a whole.
    package func wish(beside other: CollectionSchema?) -> JSONValue {
        guard case .object(let members) = json else { return json }
        let other = other ?? CollectionSchema()
        let isSaid = { (name: ExactString) in self.entries[Key.indexed(name)] != nil }
        let indexed = Set(indexed + other.indexed.filter { !isSaid($0) }).sorted()
        return .object(
            members.map { member in
                member.key == "indexed"
                    ? JSONValue.Member(key: "indexed", value: .array(indexed.map(JSONValue.string))) : member
            })
    }

    /// The whole schema as `schema show` gives it: what was set, with everything that this version does not know.
    package var json: JSONValue {
        var fields: [JSONValue.Member] = []
        var members: [JSONValue.Member] = []
        for (key, register) in entries {
            guard let value = register.value else { continue }
            if let name = Key.name(in: key, after: Key.fields) {
                fields.append(JSONValue.Member(key: name, value: Self.short(value)))
            } else if Key.name(in: key, after: Key.indexed) == nil {
                members.append(JSONValue.Member(key: ExactString(pointerEscaped: key.string), value: value))
            }
        }
        let isListed = entries.keys.contains { Key.name(in: $0, after: Key.indexed) != nil }
        if isListed { members.append(JSONValue.Member(key: "indexed", value: .array(indexed.map(JSONValue.string)))) }
        if !fields.isEmpty { members.append(JSONValue.Member(key: "fields", value: Self.object(fields))) }
        return Self.object(members)
    }

    /// `{"type":"set"}` as `"set"`.
    private static func short(_ definition: JSONValue) -> JSONValue {
        guard case .object(let members) = definition, members.count == 1, let type = definition["type"] else {
            return definition
        }
        return type
    }

    /// A peer may have written the same key in two ways; the first stays.
    private static func object(_ members: [JSONValue.Member]) -> JSONValue {
        var distinct: [JSONValue.Member] = []
        for member in members.sorted(by: { $0.key < $1.key }) where distinct.last?.key != member.key {
            distinct.append(member)
        }
        return .object(distinct)
    }

    /// The schema's term of the state digest; nil while nothing is set.
    package func digestTerm(collection: ExactString) -> Sum256? {
        guard !isEmpty else { return nil }
        var bytes = Array("lanyard/digest/schema/v1".utf8)
        collection.append(to: &bytes)
        for (key, register) in entries {
            key.append(to: &bytes)
            bytes.append(varint: UInt64(register.values.count))
            for value in register.values { value.append(to: &bytes) }
        }
        return Sum256(SHA256.hash(data: bytes))
    }
}
