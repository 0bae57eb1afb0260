/// The schema of a collection's objects: replicated, one register per entry. Entries are only ever added.
///
/// The keys of entries: `fields/NAME` is an object with `type` and perhaps `refers`; `indexed/NAME` is true or false; then
/// `deletePolicy` and `upsert`. Any other key is a later version's, and is kept and shown. In a name, `/` and `~` are written
/// `~1` and `~0`, as in JSON Pointer. An entry that makes no sense to this version counts as not given.
package struct CollectionSchema: Hashable, Sendable {
    package typealias Entries = ReplicatedDictionary<ExactString, ReplicatedRegister<JSONValue>>

    /// The kind of a field.
    package enum Kind: Hashable, Sendable {
        case replicated(FieldType)
        /// A field that stays on this node and is never shipped.
        case local

        package init?(name: String) {
            if name == "local" {
                self = .local
            } else if let type = FieldType(rawValue: name) {
                self = .replicated(type)
            } else {
                return nil
            }
        }

        package var name: String {
            switch self {
            case .replicated(let type): type.rawValue
            case .local: "local"
            }
        }
    }

    package struct Field: Hashable, Sendable {
        package let kind: Kind
        /// The collection whose objects the values name by id; those that are not live here are left out when reading.
        package let refers: ExactString?
    }

    package private(set) var entries = Entries()
    /// Read once; a schema is asked far more often than it changes.
    private var known = Known()

    fileprivate struct Known: Hashable, Sendable {
        var fields: [ExactString: Field] = [:]
        var indexed: [ExactString] = []
        var deletePolicy = DeletePolicy.deleteWins
        var upsert = true
    }

    /// Creates a schema in which nothing is set.
    package init() {}

    private init(_ entries: Entries) {
        self.entries = entries
        known = Known(entries)
    }

    package mutating func apply(_ edit: Operation.SchemaEdit, at origin: Origin) {
        if origin.faults.contains(.schemaReplaces) { entries = Entries() }
        var place = origin
        for entry in edit.entries {
            entries.apply(.update(entry.key, .set(entry.value)), at: place)
            place = place.advanced(by: 1)
        }
        known = Known(entries)
    }

    /// Returns the entries that a node which holds `vector` lacks.
    package func delta(since vector: VersionVector) -> Entries.Delta { entries.delta(since: vector) }

    /// Takes in what another node knows, as a replicated value does.
    package mutating func join(_ delta: Entries.Delta, held: VersionVector, theirs: VersionVector) {
        entries.join(delta, held: held, theirs: theirs)
        known = Known(entries)
    }

    package var isEmpty: Bool { !entries.isLive }
    package var deletePolicy: DeletePolicy { known.deletePolicy }
    package var upsert: Bool { known.upsert }
    /// Fields whose values can be asked for, sorted.
    package var indexed: [ExactString] { known.indexed }
    package var fieldNames: [ExactString] { known.fields.keys.sorted() }
    /// Nil when the schema says nothing that this version understands of the field.
    package subscript(field: ExactString) -> Field? { known.fields[field] }

    /// Entries that were set apart to different values, each with its values, the shown one first: for `conflicts`. Two devices on
    /// which the same application began apart have set the same.
    package var conflicts: [(key: ExactString, values: [JSONValue], writers: [ValueWriter])] {
        entries.filter { Set($0.value.values).count > 1 }.map { ($0.key, $0.value.values, $0.value.writers) }
    }
}

extension CollectionSchema {
    enum Key {
        static let fields = "fields/"
        static let indexed = "indexed/"
        static let deletePolicy: ExactString = "deletePolicy"
        static let upsert: ExactString = "upsert"

        static func field(_ name: ExactString) -> ExactString { ExactString(fields + name.string) }
        static func indexed(_ name: ExactString) -> ExactString { ExactString(indexed + name.string) }

        /// The name behind `prefix`; nil for another key. Compares bytes: a combining mark may follow the slash.
        static func name(in key: ExactString, after prefix: String) -> ExactString? {
            guard key.string.utf8.starts(with: prefix.utf8) else { return nil }
            let rest = Array(key.string.utf8.dropFirst(prefix.utf8.count))
            return String(validating: rest, as: UTF8.self).map { ExactString($0) }
        }
    }
}

extension CollectionSchema.Known {
    init(_ entries: CollectionSchema.Entries) {
        for (key, register) in entries {
            guard let value = register.value else { continue }
            if let name = CollectionSchema.Key.name(in: key, after: CollectionSchema.Key.fields) {
                fields[name] = CollectionSchema.Field(value)
            } else if let name = CollectionSchema.Key.name(in: key, after: CollectionSchema.Key.indexed) {
                if value == .bool(true) { indexed.append(name) }
            } else if key == CollectionSchema.Key.deletePolicy, case .string(let name) = value {
                deletePolicy = DeletePolicy(name: name.string) ?? deletePolicy
            } else if key == CollectionSchema.Key.upsert, case .bool(let flag) = value {
                upsert = flag
            }
        }
        indexed.sort()
    }
}

extension CollectionSchema.Field {
    fileprivate init?(_ value: JSONValue) {
        guard case .string(let name)? = value["type"], let kind = CollectionSchema.Kind(name: name.string) else {
            return nil
        }
        self.kind = kind
        if case .string(let collection)? = value["refers"] { refers = collection } else { refers = nil }
    }
}

extension CollectionSchema: StateCoded {
    package func write(to writer: inout StateWriter) { writer.append(entries) }

    package init(restoring reader: inout StateReader) throws(CodecError) {
        self.init(try Entries(restoring: &reader))
    }
}
