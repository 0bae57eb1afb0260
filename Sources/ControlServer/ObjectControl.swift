package import ControlAPI

/// The interface of an agent for objects; the rules of `AgentControl` hold here too.
///
/// Sizes, depth and numbers of values have been checked (`ValueRule`), and that fields are a JSON object. Any write may
/// also throw `read_only`, `disk_full`, `store_failed`, `stopping`; any call `unknown_space`.
package protocol ObjectControl: Sendable {
    // MARK: Writing

    /// Puts an object in one change, durable on return; the answer is the object as it is then. Unchanged values are not
    /// written again, and a put that changes nothing writes nothing. Without an id the agent makes a fresh one.
    ///
    /// Throws `version_mismatch` (with `version`, nil without an object), `already_exists`, `object_deleted`, `undecided`,
    /// `catching_up`, `type_mismatch`, `constant_field`, `number_out_of_range`; `not_found` where the schema says
    /// `"upsert":false` and the condition is not `absent`.
    func put(space: String, _ put: ObjectPut) async throws(ControlError) -> ObjectEntry

    /// Returns the collections into which an object was ever put, and those with a schema, by name.
    func collections(space: String) async throws(ControlError) -> [CollectionEntry]

    /// Writes each put as a change of its own, in this order, in as few durable commits as it takes; at most
    /// `ControlLimits.groupEvents`. `count` counts the puts, also those that changed nothing; `first` and `last` are dots that
    /// were written. It stops at the first refused put: those before it are written and stay, none behind it is, and the
    /// error's `written` counts those before it. The same holds when a commit fails.
    func put(space: String, all puts: [ObjectPut]) async throws(ControlError) -> EmitResponse

    /// Edits an object in one change. Throws the errors of `put`, `not_found` without `create`, `index_out_of_range`,
    /// `type_mismatch` for an operation that the field's type does not have, and with `wholeCharacters` also
    /// `inside_character`.
    func edit(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectEntry

    /// Edits like `edit`, and returns the version without the object.
    func editBriefly(space: String, _ edit: ObjectEdit) async throws(ControlError) -> ObjectVersion

    /// False, and nothing is written, when there is no such object. With `ifVersion` also `version_mismatch`.
    func delete(space: String, _ name: ObjectName, ifVersion: DotText?) async throws(ControlError) -> Bool

    /// All steps as one change, each seeing those before it, or nothing. An error begins with `Operation N: `, N from 1.
    func perform(_ transaction: Transaction) async throws(ControlError) -> TransactionResponse

    // MARK: Reading

    /// Returns the object. Throws `not_found`; `object_incomplete` when its state cannot be served now; `undecided` while it is
    /// hidden until a user decides.
    func object(space: String, _ name: ObjectName) async throws(ControlError) -> ObjectEntry

    /// The object as the author of this version left it: with all that it had seen, and nothing that was written apart. The
    /// same on every node. Throws `not_found`, also for a version that is not one of this object's.
    func object(space: String, _ name: ObjectName, at version: DotText) async throws(ControlError) -> ObjectEntry

    /// Returns live objects of one collection, in the order of the query; any order but by id looks at all of them. Throws
    /// `unknown_collection` if no object was ever put there and it has no schema; `invalid_argument` for an invalid cursor.
    ///
    /// - Parameter memory: the same for all pages that one request reads.
    func objects(_ query: ObjectListQuery, _ memory: PageMemory) async throws(ControlError) -> EntryPage<ObjectEntry>

    /// The records of deletions that are kept here, of one collection or all, by collection, then id.
    func deletedObjects(_ query: DeletedQuery) async throws(ControlError) -> EntryPage<DeletedEntry>

    /// Returns the history of the object, oldest first, in the order in which it was applied here; of one field (and what is
    /// below it), or of all. Throws `not_found` for an object that never was, `unknown_field` for a field that never was.
    ///
    /// - Parameter memory: the same for all pages that one request reads.
    func history(_ query: HistoryQuery, _ memory: PageMemory) async throws(ControlError) -> EntryPage<HistoryEntry>

    /// Returns the authors of the parts of a field's value, in the order in which they are shown; now, or at a version. Nodes
    /// that show the same value return the same. Throws the errors of reading the object, and `unknown_field` when the field
    /// has no value.
    func blame(_ query: BlameQuery) async throws(ControlError) -> [BlameEntry]

    /// Returns the fields that differ between two versions, or a version and now, by name. An object that is not shown at a
    /// version has no fields then. Throws `not_found` for a version that is not one of this object's.
    func difference(_ query: DifferenceQuery) async throws(ControlError) -> [DifferenceEntry]

    // MARK: Watching

    /// The position behind which changes are to come.
    func objectPosition(space: String) async throws(ControlError) -> UInt64

    /// The objects that changed behind `query.after`, each once and as it is now, by position; at most `query.limit`. It
    /// waits until there is one, the agent stops, or the task is cancelled (then it is empty).
    func nextObjectChanges(_ query: WatchQuery) async throws(ControlError) -> [ObjectChange]

    // MARK: Conflicts

    /// Returns conflicts by collection, id and field; of all collections if `collection` is nil.
    func conflicts(space: String, collection: String?) async throws(ControlError) -> [ConflictEntry]

    /// Waits until the list differs from `known`, the agent stops, or the task is cancelled (then it is `known`).
    func nextConflicts(
        space: String, collection: String?, differingFrom known: [ConflictEntry]
    ) async throws(ControlError) -> [ConflictEntry]

    /// Resolves a conflict. Returns false, and writes nothing, if there is no conflict that this would resolve. `set` replaces
    /// all values that are known here; it throws the errors of `edit`.
    func resolve(space: String, _ name: ObjectName, _ resolution: Resolution) async throws(ControlError) -> Bool

    // MARK: Schemas

    /// Returns the schemas that were set, by collection.
    func schemas(space: String) async throws(ControlError) -> [SchemaEntry]

    /// Throws `unknown_collection` where none was set.
    func schema(space: String, collection: String) async throws(ControlError) -> SchemaEntry

    /// Sets the settings that are named and leaves the rest; the answer is the whole. Throws `schema_would_lose_data`.
    func setSchema(space: String, _ schema: SchemaEntry) async throws(ControlError) -> SchemaEntry

    /// Returns the values that would have to be converted so that the schema can be set; nothing is written. Throws
    /// `schema_would_lose_data` if a value cannot be converted.
    func conversions(space: String, for schema: SchemaEntry) async throws(ControlError) -> [SchemaConversion]

    /// Converts them, each object in a change of its own, and sets the schema. What was converted before an error stays so.
    func convert(space: String, to schema: SchemaEntry) async throws(ControlError) -> SchemaEntry
}

/// A page of a long list: at most `limit` entries, and fewer when they hold more than `ControlLimits.pagePayloadBytes` (one may
/// be larger).
package struct EntryPage<Entry: Sendable>: Sendable {
    package var entries: [Entry]
    /// The place where the next page begins, to be given as `after`; nil at the end. At most 512 bytes of UTF-8.
    package var next: String?

    package init(entries: [Entry], next: String? = nil) {
        self.entries = entries
        self.next = next
    }
}

/// A query for a page of objects.
package struct ObjectListQuery: Sendable, Equatable {
    package var space: String
    package var collection: String
    /// All of them hold.
    package var conditions: [FieldCondition]
    package var order: ListOrder
    /// The `next` of the page before, or `COLLECTION/ID` of an object that is listed.
    package var after: String?
    package var limit: Int

    package init(
        space: String, collection: String, conditions: [FieldCondition] = [], order: ListOrder = ListOrder(),
        after: String? = nil, limit: Int
    ) {
        self.space = space
        self.collection = collection
        self.conditions = conditions
        self.order = order
        self.after = after
        self.limit = limit
    }
}

/// A query for a page of deletions.
package struct DeletedQuery: Sendable, Equatable {
    package var space: String
    /// Nil: of all.
    package var collection: String?
    package var after: String?
    package var limit: Int

    package init(space: String, collection: String?, after: String? = nil, limit: Int) {
        self.space = space
        self.collection = collection
        self.after = after
        self.limit = limit
    }
}

/// A query for a page of an object's history.
package struct HistoryQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    /// The path whose history is read, with everything below it; nil: all fields.
    package var field: FieldPath?
    package var after: String?
    package var limit: Int

    package init(space: String, name: ObjectName, field: FieldPath? = nil, after: String? = nil, limit: Int) {
        self.space = space
        self.name = name
        self.field = field
        self.after = after
        self.limit = limit
    }
}

/// A query for the authors of a field's value.
package struct BlameQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    package var field: FieldPath
    /// Nil: now.
    package var at: DotText?

    package init(space: String, name: ObjectName, field: FieldPath, at: DotText? = nil) {
        self.space = space
        self.name = name
        self.field = field
        self.at = at
    }
}

/// A query for the difference between two versions of an object.
package struct DifferenceQuery: Sendable, Equatable {
    package var space: String
    package var name: ObjectName
    package var from: DotText
    /// Nil: now.
    package var at: DotText?
    /// The path that is compared; nil: all fields.
    package var field: FieldPath?

    package init(space: String, name: ObjectName, from: DotText, at: DotText? = nil, field: FieldPath? = nil) {
        self.space = space
        self.name = name
        self.from = from
        self.at = at
        self.field = field
    }
}

/// A query for changes of objects to wait for.
package struct WatchQuery: Sendable, Equatable {
    package var space: String
    /// Nil: of all.
    package var collection: String?
    package var after: UInt64
    package var limit: Int

    package init(space: String, collection: String?, after: UInt64, limit: Int) {
        self.space = space
        self.collection = collection
        self.after = after
        self.limit = limit
    }
}
