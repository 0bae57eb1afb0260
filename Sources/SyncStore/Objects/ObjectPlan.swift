package import SyncModel

/// What a transaction does to objects, computed while it runs: pure but for what it reads, the same for every store.
///
/// Objects are read once and kept here until the end, so a change sees what those before it in the same transaction did.
/// A change that is refused is taken back as a whole: `begin`, then `accept` or `takeBack`.
package struct ObjectPlan: Sendable {
    /// An object that the transaction changed.
    package struct Entry: Sendable {
        package fileprivate(set) var before: ObjectSummary
        /// As it was before the transaction.
        package let original: StoredObject
        /// With its new summary once the plan is finished.
        package fileprivate(set) var object: StoredObject
        /// One of each change that touched it.
        package fileprivate(set) var dots: [Dot] = []
        /// What this transaction has done to its lives so far.
        fileprivate var edits: [ObjectLives.EarlierEdit] = []
        fileprivate var isChanged = false

        /// How much memory it takes to keep `original`, about.
        package var originalByteCount: Int { original.state.isEmpty ? 64 : original.state.canonicalBytes.count }

        fileprivate mutating func note(edit change: Change, of lives: [Dot]) {
            edits.append(
                ObjectLives.EarlierEdit(
                    lives: lives, dot: change.origin.dot, wallMilliseconds: change.wallMilliseconds))
        }

        fileprivate mutating func note(_ change: Change, position: Int64) {
            object.position = position
            object.version = change.origin.dot
            object.changedMilliseconds = change.wallMilliseconds
            isChanged = true
            dots.append(change.origin.dot)
        }
    }

    /// The change whose operations are being applied.
    package struct Change {
        /// Of its next operation.
        package fileprivate(set) var origin: Origin
        package let wallMilliseconds: Int64
        package fileprivate(set) var operations: [Operation] = []
        package fileprivate(set) var steps: [WriteOutcome.Step] = []

        mutating func note(_ step: WriteOutcome.Step) { steps.append(step) }

        package init(origin: Origin, wallMilliseconds: Int64) {
            self.origin = origin
            self.wallMilliseconds = wallMilliseconds
        }
    }

    private struct SchemaEntry: Sendable {
        let before: CollectionSchema?
        var schema: CollectionSchema
        var isChanged = false

        mutating func apply(_ edit: Operation.SchemaEdit, at origin: Origin) {
            schema.apply(edit, at: origin)
            isChanged = true
        }
    }

    private var entries: [ObjectKey: Entry] = [:]
    /// In the order they were first read.
    private var keys: [ObjectKey] = []
    private var schemas: [ExactString: SchemaEntry] = [:]
    /// Entries as they were before the current change.
    private var undoEntries: [ObjectKey: Entry?] = [:]
    private var undoSchemas: [ExactString: SchemaEntry?] = [:]
    private var undoPosition: Int64 = 0
    private var undoLate: Int64 = 0
    /// Operations dropped before this transaction.
    private let lateBefore: Int64

    /// Who was let in where, with the facts of this transaction.
    package private(set) var members: MemberFacts
    package private(set) var position: Int64
    package private(set) var counts: StoreCounts
    /// What the objects of this transaction add to the state digest.
    package private(set) var digestChange = Sum256.zero

    package init(on state: LogState) {
        members = state.members
        position = state.objectPosition
        counts = state.counts
        lateBefore = state.counts.lateOperations
        undoLate = lateBefore
        undoPosition = position
    }

    package var isChanged: Bool {
        entries.values.contains(where: \.isChanged) || !changedSchemas.isEmpty || counts.lateOperations != lateBefore
    }

    /// Collections whose indexed fields are others than before.
    package var reindexed: [ExactString] {
        changedSchemas.filter { $0.before?.indexed ?? [] != $0.after.indexed }.map(\.name)
    }

    /// In the order they were first touched.
    package var changed: [Entry] { keys.compactMap { entries[$0] }.filter(\.isChanged) }

    package var changedSchemas: [(name: ExactString, before: CollectionSchema?, after: CollectionSchema)] {
        schemas.filter(\.value.isChanged).sorted { $0.key < $1.key }.map { ($0.key, $0.value.before, $0.value.schema) }
    }

    // MARK: One change

    package mutating func begin() {
        undoEntries = [:]
        undoSchemas = [:]
        undoPosition = position
        undoLate = counts.lateOperations
    }

    package mutating func takeBack() {
        for (key, entry) in undoEntries { entries[key] = entry }
        for (name, entry) in undoSchemas { schemas[name] = entry }
        keys.removeAll { entries[$0] == nil }
        position = undoPosition
        counts.lateOperations = undoLate
    }

    /// Applies a change that came with its author's signature. Changes without operations on objects, or of members, cost
    /// a look at each operation's kind.
    package mutating func apply(
        _ view: ChangeView, in segment: Segment, context: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) {
        begin()
        try view.forEachOperation(in: segment.bytes) { counter, operation throws(StoreError) in
            guard Operation.Kind.concernsObjects(operation.kind) else { return }
            var change = Change(
                origin: Origin(
                    dot: Dot(replica: segment.replica, counter: counter), stamp: view.stamp, context: context),
                wallMilliseconds: view.wallMilliseconds)
            try apply(Operation(operation, in: segment.bytes), in: &change, reading)
        }
    }

    /// Applies an operation that the log holds, and steps behind it.
    package mutating func apply(
        _ operation: Operation, in change: inout Change, _ reading: some ObjectSource
    ) throws(StoreError) {
        switch operation {
        case .editObject, .deleteObject, .keepObject:
            if let (key, action) = operation.objectAction { try apply(action, to: key, change, reading) }
        case .editSchema(let edit):
            try load(schema: edit.collection, reading)
            schemas[edit.collection]?.apply(edit, at: change.origin)
        case .addMember(let fact): if fact.isBound { members.add(fact.device, at: change.origin.dot) }
        case .appendEvent, .setStream, .void, .unknown: break
        }
        change.operations.append(operation)
        change.origin = change.origin.advanced(by: operation.span)
    }

    private mutating func apply(
        _ action: ObjectState.Action, to key: ObjectKey, _ change: Change, _ reading: some ObjectSource
    ) throws(StoreError) {
        try load(key, reading)
        let earlier = try earlierEdits(action, key, change.origin, reading)
        guard var entry = entries.removeValue(forKey: key) else { preconditionFailure("the object was loaded") }
        defer { entries[key] = entry }
        let outcome = entry.object.state.apply(
            action, at: change.origin, wallMilliseconds: change.wallMilliseconds, members: members,
            earlier: { earlier })
        switch outcome {
        case .applied(let lives):
            entry.note(change, position: nextPosition())
            if !action.isDeletion { entry.note(edit: change, of: lives) }
        case .droppedWhileDeleted: entry.note(change, position: nextPosition())
        case .unknownLife: counts.lateOperations += 1
        case .void, .repeated: return
        }
    }

    private mutating func nextPosition() -> Int64 {
        position += 1
        return position
    }

    /// What a deletion that drops edits has to look at: those its author did not know, if there are any.
    private func earlierEdits(
        _ action: ObjectState.Action, _ key: ObjectKey, _ origin: Origin, _ reading: some ObjectSource
    ) throws(StoreError) -> [ObjectLives.EarlierEdit] {
        guard case .delete(.deleteWins) = action, let state = entries[key]?.object.state else { return [] }
        let isAllKnown = state.lives.touched.entries.allSatisfy {
            origin.knows(Dot(replica: $0.replica, counter: $0.next - 1))
        }
        if isAllKnown { return [] }
        return ObjectTouch.earlierEdits(try reading.touches(of: key)) + (entries[key]?.edits ?? [])
    }

    // MARK: Reading through

    package mutating func load(_ key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) {
        if let entry = entries[key] {
            if undoEntries[key] == nil { undoEntries[key] = .some(entry) }
            return
        }
        let object = try reading.object(key) ?? StoredObject(key: key)
        var before = object.summary
        if before.standing == .live, let schema = try reading.schema(of: key.collection) {
            before.indexed = schema.indexedValues(of: object.state)
        }
        entries[key] = Entry(before: before, original: object, object: object)
        undoEntries[key] = .some(nil)
        keys.append(key)
    }

    private mutating func load(schema name: ExactString, _ reading: some ObjectSource) throws(StoreError) {
        if let entry = schemas[name] {
            if undoSchemas[name] == nil { undoSchemas[name] = .some(entry) }
            return
        }
        let found = try reading.schema(of: name)
        schemas[name] = SchemaEntry(before: found, schema: found ?? CollectionSchema())
        undoSchemas[name] = .some(nil)
    }

    /// The object as this transaction leaves it.
    mutating func object(_ key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) -> StoredObject {
        try load(key, reading)
        return entries[key]?.object ?? StoredObject(key: key)
    }

    /// What belongs to this node alone.
    /// - Returns: whether it changed anything.
    mutating func setLocal(_ planned: PlannedWrite, of key: ObjectKey, at wallMilliseconds: Int64) -> Bool {
        guard var entry = entries.removeValue(forKey: key) else { return false }
        defer { entries[key] = entry }
        var isChanged = false
        if let fields = planned.localFields {
            entry.object.localFields = fields
            isChanged = true
        }
        if planned.dismisses, !entry.object.droppedEdits.isEmpty {
            entry.object.dismissDroppedEdits()
            isChanged = true
        }
        guard isChanged else { return false }
        if !entry.isChanged { entry.object.position = nextPosition() }
        entry.isChanged = true
        return true
    }

    /// The schema as this transaction leaves it.
    package mutating func schema(
        of name: ExactString, _ reading: some ObjectSource
    ) throws(StoreError) -> CollectionSchema? {
        try load(schema: name, reading)
        guard let entry = schemas[name], entry.before != nil || entry.isChanged else { return nil }
        return entry.schema
    }

    // MARK: Sealing

    /// What `keepWhatWasShown` found.
    struct Kept {
        /// Of which nothing is left.
        var vanished: [ObjectKey] = []
        /// Which a reader would find changed.
        var differing: Set<ObjectKey> = []
    }

    /// After folded changes were applied to objects as they were before them: gives each the position it has and what
    /// belongs to this node alone, and compares it with what is stored.
    mutating func keepWhatWasShown(
        of folding: Folding, at position: Int64, _ stored: some ObjectSource
    ) throws(StoreError) -> Kept {
        var kept = Kept()
        for key in keys {
            guard var entry = entries[key], entry.isChanged else { continue }
            guard let now = try stored.object(key) else { throw .corrupt(detail: "an object of the open tail is gone") }
            let isAsItWas =
                folding.deleted.contains(key)
                ? entry.object.isShown(like: now) : entry.object.state == now.state
            if !isAsItWas { kept.differing.insert(key) }
            if entry.object.state.isEmpty {
                kept.vanished.append(key)
                entries[key] = nil
                continue
            }
            entry.before = now.summary
            if now.summary.standing == .live, let schema = try schema(of: key.collection, stored) {
                entry.before.indexed = schema.indexedValues(of: now.state)
            }
            entry.object.position = now.position
            entry.object.localFields = now.localFields
            entry.object.dismissedCount = now.dismissedCount
            entry.object.collectedEdits = now.collectedEdits
            entries[key] = entry
        }
        keys.removeAll { entries[$0] == nil }
        self.position = position
        return kept
    }

    // MARK: Collection

    /// Forgets the object's deletions, and what they ended, if all of them are stable. No change to what anybody sees:
    /// the object keeps its place in the feed.
    /// - Returns: whether anything went.
    package mutating func collect(
        _ key: ObjectKey, upTo stable: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) -> Bool {
        try load(key, reading)
        guard var entry = entries.removeValue(forKey: key) else { preconditionFailure("the object was loaded") }
        defer { entries[key] = entry }
        let dropped = entry.object.droppedEdits
        guard entry.object.state.collect(where: stable.covers) else { return false }
        entry.object.forgetDeletions(keeping: dropped)
        entry.isChanged = true
        return true
    }

    // MARK: The end

    /// Computes what is kept beside the objects that changed, and what the transaction does to digest and counts.
    package mutating func finish(_ reading: some ObjectSource) throws(StoreError) {
        for key in keys where entries[key]?.isChanged ?? false {
            let schema = try schema(of: key.collection, reading)
            guard var entry = entries.removeValue(forKey: key) else { continue }
            entry.object.summary = entry.object.summarized(schema)
            count(from: entry.before, to: entry.object.summary)
            entries[key] = entry
        }
        for change in changedSchemas {
            if let term = change.before?.digestTerm(collection: change.name) { digestChange -= term }
            if let term = change.after.digestTerm(collection: change.name) { digestChange += term }
        }
    }

    private mutating func count(from before: ObjectSummary, to after: ObjectSummary) {
        if let term = before.digest { digestChange -= term }
        if let term = after.digest { digestChange += term }
        counts.objects += (after.standing == .live ? 1 : 0) - (before.standing == .live ? 1 : 0)
        counts.deletedObjects += (after.standing == .deleted ? 1 : 0) - (before.standing == .deleted ? 1 : 0)
    }
}
