package import SyncModel

/// The changes of a transaction to objects, computed while it runs: pure except for its reads, the same for every store.
///
/// Objects are read once and kept here until the end, so a change sees what those before it in the same transaction did. A
/// change that is refused is taken back as a whole: `begin`, then `accept` or `takeBack`.
package struct ObjectPlan: Sendable {
    /// An object that the transaction changed.
    package struct Entry: Sendable {
        package internal(set) var before: ObjectSummary
        /// The object before the transaction. Nil for a large one: the first edit would have to copy it.
        package let original: StoredObject?
        package let isLarge: Bool
        /// The births of the lives that it kept, as they are stored.
        var birthsBefore: [Dot]
        /// With its new summary once the plan is finished.
        package internal(set) var object: StoredObject
        /// The dots of the changes that touched it, one of each change.
        package internal(set) var dots: [Dot] = []
        /// The operations on a large object; nil once there was more than edits of a life.
        package internal(set) var journal: [PastOperation]? = []
        /// The edits of its lives in this transaction so far.
        var edits: [ObjectLives.EarlierEdit] = []
        /// The operations in the log that this transaction applies again: edits among them are in `edits` once it has.
        var appliedAgain: Set<Dot> = []
        var isChanged = false
        /// The change before which it was put by, should that be taken back.
        var savedBefore = 0

        /// The approximate memory that keeping `original` takes, in bytes.
        package var originalByteCount: Int {
            original.map { $0.state.isEmpty ? 64 : $0.state.canonicalBytes.count } ?? 64
        }

        /// The attachments that a reader no longer sees, and the new ones.
        package var attachmentDifference: AttachmentDifference {
            AttachmentDifference(from: before.attachments, to: object.summary.attachments)
        }

        package var attachmentCountChange: Int64 {
            Int64(object.summary.attachments.count) - Int64(before.attachments.count)
        }

        /// Notes what can be done again without looking at anything else.
        mutating func journal(_ action: ObjectState.Action, _ change: Change, isAgain: Bool) {
            guard isLarge else { return }
            // Noted edits of an author know more and more.
            if isAgain { journal = nil }
            switch action {
            case .edit(.own, _), .edit(.other, _), .editAttachments:
                journal?.append(
                    PastOperation(origin: change.origin, action: action, wallMilliseconds: change.wallMilliseconds))
            case .edit(.birth, _), .delete, .keep: journal = nil
            }
        }

        mutating func record(edit change: Change, of lives: [Dot]) {
            edits.append(
                ObjectLives.EarlierEdit(
                    lives: lives, dot: change.origin.dot, wallMilliseconds: change.wallMilliseconds))
        }

        /// Takes what doing all of it again came to.
        mutating func replace(
            _ state: ObjectState, _ last: PastOperation?, from beginning: ObjectBeginning,
            listing edits: [DeletionRecord.Edited], position: Int64
        ) {
            object.state = state
            object.version = last.map { $0.origin.advanced(by: max($0.action.span, 1) - 1).dot } ?? beginning.version
            object.changedMilliseconds = last?.wallMilliseconds ?? beginning.changedMilliseconds
            object.collectedEdits = edits
            // It counts edits of deletions, some of which may not be there any more.
            object.dismissedCount = min(object.dismissedCount, object.countDroppedByDeletions)
            object.position = position
            journal = nil
            isChanged = true
        }

        mutating func record(_ change: Change, span: UInt64, position: Int64) {
            object.position = position
            // The last of its dots, as `LifeRecord.Touch`.
            object.version = change.origin.advanced(by: max(span, 1) - 1).dot
            object.changedMilliseconds = change.wallMilliseconds
            isChanged = true
            dots.append(change.origin.dot)
        }
    }

    /// The change whose operations are being applied.
    package struct Change {
        /// The origin of its next operation.
        package internal(set) var origin: Origin
        /// The counter of its first operation.
        let start: UInt64
        package let wallMilliseconds: Int64
        package internal(set) var operations: [Operation] = []
        package internal(set) var steps: [WriteOutcome.Step] = []

        mutating func record(_ step: WriteOutcome.Step) { steps.append(step) }

        package init(origin: Origin, wallMilliseconds: Int64) {
            self.origin = origin
            start = origin.dot.counter
            self.wallMilliseconds = wallMilliseconds
        }
    }

    struct SchemaEntry: Sendable {
        let before: CollectionSchema?
        var schema: CollectionSchema
        var isChanged = false

        mutating func apply(_ edit: Operation.SchemaEdit, at origin: Origin) {
            schema.apply(edit, at: origin)
            isChanged = true
        }
    }

    /// The entries, in the order in which they were first read.
    var entries: [Entry] = []
    /// Indices in `entries`.
    var places: [ObjectKey: Int] = [:]
    var schemas: [ExactString: SchemaEntry] = [:]
    /// The steps that undo the current change: a bulk load has thousands of changes in a commit, so a change that touches
    /// nothing twice costs two numbers here.
    private var undo = Undo()
    /// Operations dropped before this transaction.
    private let lateBefore: Int64
    /// Large objects that a refused change had looked at: still as they are stored.
    private var untouched: [StoredObject] = []
    /// Large objects of the open tail: what is done to them is done already.
    let steady: Set<ObjectKey>
    /// The work that applications have to wait for before they write to the objects that it is on.
    var waiting: WaitingWork?
    /// The dots of operations on those objects, one of each operation.
    package internal(set) var steadyDots: [ObjectKey: [Dot]] = [:]

    private struct Undo: Sendable {
        /// The number of the change.
        var number = 0
        /// False while changes are applied that cannot be refused any more: a copy to go back to would cost one of the whole
        /// object for each of them.
        var isKept = false
        /// Entries from here on came with it.
        var entryCount = 0
        var entries: [(place: Int, entry: Entry)] = []
        var schemas: [(name: ExactString, entry: SchemaEntry)] = []
        var position: Int64 = 0
        var members = MemberFacts()
        var lateOperations: Int64 = 0
    }

    /// The membership facts with their places, those of this transaction included.
    package private(set) var members: MemberFacts
    package internal(set) var position: Int64
    package private(set) var counts: StoreCounts
    /// The change that the objects of this transaction make to the state digest.
    package private(set) var digestChange = Sum256.zero

    let faults: ModelFaults
    let cuts: CutTable

    package init(
        on state: LogState, cuts: CutTable? = nil, steady: Set<ObjectKey> = [], faults: ModelFaults = []
    ) {
        self.faults = faults
        self.cuts = cuts ?? state.cuts
        self.steady = steady
        members = state.members
        position = state.objectPosition
        counts = state.counts
        lateBefore = state.counts.lateOperations
        undo.lateOperations = lateBefore
        undo.position = position
        undo.members = members
    }

    package var isChanged: Bool {
        entries.contains(where: \.isChanged) || !changedSchemas.isEmpty || counts.lateOperations != lateBefore
    }

    /// Collections in which other values than before are to be found by an index: other fields, or the same fields shown
    /// as another type.
    package var reindexed: [ExactString] {
        changedSchemas.filter { $0.before?.indexes ?? [] != $0.after.indexes }.map(\.name)
    }

    /// The changed entries, in the order in which they were first touched.
    package var changed: [Entry] { entries.filter(\.isChanged) }

    package var changedSchemas: [(name: ExactString, before: CollectionSchema?, after: CollectionSchema)] {
        schemas.filter(\.value.isChanged).sorted { $0.key < $1.key }.map { ($0.key, $0.value.before, $0.value.schema) }
    }

    // MARK: One change

    package mutating func begin() {
        undo = Undo(
            number: undo.number + 1, isKept: true, entryCount: entries.count, position: position, members: members,
            lateOperations: counts.lateOperations)
    }

    package mutating func takeBack() {
        for (place, entry) in undo.entries { entries[place] = entry }
        for (name, entry) in undo.schemas.reversed() { schemas[name] = entry }
        for entry in entries[undo.entryCount...] {
            places[entry.object.key] = nil
            if entry.isLarge, !entry.isChanged { untouched.append(entry.object) }
        }
        entries.removeSubrange(undo.entryCount...)
        position = undo.position
        members = undo.members
        counts.lateOperations = undo.lateOperations
    }

    /// Applies a change that came with its author's signature. Changes without operations on objects, or of members, cost
    /// a look at each operation's kind.
    package mutating func apply(
        _ view: ChangeView, in segment: Segment, context: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) {
        undo.isKept = false
        try view.forEachOperation(in: segment.bytes) { counter, operation throws(StoreError) in
            guard Operation.Kind.concernsObjects(operation.kind) else { return }
            var change = Change(
                origin: Origin(
                    dot: Dot(replica: segment.replica, counter: counter), stamp: view.stamp, context: context
                ).planting(faults),
                wallMilliseconds: view.wallMilliseconds)
            try apply(Operation(operation, in: segment.bytes), in: &change, reading)
        }
    }

    /// Applies an operation that the log holds, and steps behind it.
    package mutating func apply(
        _ operation: Operation, in change: inout Change, _ reading: some ObjectSource
    ) throws(StoreError) {
        switch operation {
        case .editObject, .editAttachments, .editAgain, .deleteObject, .keepObject:
            if let (key, action) = operation.objectAction {
                if cuts.isVoid(change.origin.dot) {
                    try recordVoid(key, change.origin.dot, reading)
                } else {
                    var judged = change
                    judged.origin = operation.judged(at: change.origin)
                    let isAgain = judged.origin != change.origin
                    try apply(action, to: key, span: operation.span, judged, isAgain: isAgain, reading)
                }
            }
        case .editSchema(let edit):
            if !cuts.isStrictlyVoid(change.origin.dot) {
                let before = try loaded(schema: edit.collection, reading)
                if undo.isKept { undo.schemas.append((edit.collection, before)) }
                schemas[edit.collection]?.apply(edit, at: change.origin)
            }
        case .addMember(let fact):
            // See `ChangeView.mayAdmit`.
            let mayAdmit = change.origin.dot.counter - change.start < Limits.admissionsPerChange
            if mayAdmit, fact.isBound { members.add(fact, at: change.origin.dot) }
        case .acceptWork(let work): try recordAcceptance(of: work.object, change.origin.dot, reading)
        case .appendEvent, .setStream, .cut, .markRewriting, .settleCut, .dropEvents, .trust, .void,
            .unknown:
            break
        }
        change.operations.append(operation)
        change.origin = change.origin.advanced(by: operation.span)
    }

    mutating func apply(
        _ action: ObjectState.Action, to key: ObjectKey, span: UInt64, _ change: Change, isAgain: Bool,
        _ reading: some ObjectSource
    ) throws(StoreError) {
        if steady.contains(key) {
            steadyDots[key, default: []].append(change.origin.dot)
            return
        }
        let place = try load(key, reading)
        let earlier = try earlierEdits(action, entries[place], change.origin, reading)
        let outcome = entries[place].object.state.apply(
            action, at: change.origin, wallMilliseconds: change.wallMilliseconds, members: members,
            earlier: { earlier })
        switch outcome {
        case .applied(let lives):
            let position = nextPosition()
            entries[place].record(change, span: span, position: position)
            if !action.isDeletion { entries[place].record(edit: change, of: lives) }
            entries[place].journal(action, change, isAgain: isAgain)
        case .droppedWhileDeleted:
            let position = nextPosition()
            entries[place].record(change, span: span, position: position)
            entries[place].journal = nil
            // Another deletion in the same transaction, whose author did not know of it either, lists it too.
            if let life = action.life(at: change.origin) { entries[place].record(edit: change, of: [life]) }
        case .unknownLife:
            counts.lateOperations += 1
            // The life may be one that a cut took, and that a membership fact brings back.
            if !cuts.endsNothing { try recordVoid(key, change.origin.dot, reading) }
        case .void, .repeated: return
        }
    }

    mutating func nextPosition() -> Int64 {
        position += 1
        return position
    }

    /// Returns the edits that a deletion may drop: those that its author did not know.
    private func earlierEdits(
        _ action: ObjectState.Action, _ entry: Entry, _ origin: Origin, _ reading: some ObjectSource
    ) throws(StoreError) -> [ObjectLives.EarlierEdit] {
        guard case .delete(.deleteWins) = action else { return [] }
        let isAllKnown = entry.object.state.lives.touched.entries.allSatisfy {
            origin.knows(Dot(replica: $0.replica, counter: $0.next - 1))
        }
        if isAllKnown { return [] }
        let touches = try reading.touches(of: entry.object.key).filter {
            !cuts.isVoid($0.origin.dot) && !entry.appliedAgain.contains($0.origin.dot)
        }
        return PastOperation.earlierEdits(touches, members) + entry.edits
    }

    // MARK: Reading through

    /// - Returns: its index in `entries`.
    @discardableResult
    package mutating func load(_ key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) -> Int {
        if let place = places[key] {
            if undo.isKept, place < undo.entryCount, entries[place].savedBefore != undo.number {
                undo.entries.append((place, entries[place]))
                entries[place].savedBefore = undo.number
            }
            return place
        }
        let found: ObjectToChange
        if let index = untouched.firstIndex(where: { $0.key == key }) {
            found = ObjectToChange(untouched.remove(at: index), isLarge: true)
        } else {
            found = try reading.objectToChange(key) ?? ObjectToChange(StoredObject(key: key), isLarge: false)
        }
        var before = found.object.summary
        if before.standing == .live, let schema = try reading.schema(of: key.collection) {
            before.indexed = schema.indexedValues(of: found.object)
        }
        before.attachments = found.object.state.shownAttachments
        places[key] = entries.count
        entries.append(
            Entry(
                before: before, original: found.isLarge ? nil : found.object, isLarge: found.isLarge,
                birthsBefore: found.object.births, object: found.object))
        return entries.count - 1
    }

    @discardableResult
    mutating func loaded(
        schema name: ExactString, _ reading: some ObjectSource
    ) throws(StoreError) -> SchemaEntry {
        if let entry = schemas[name] { return entry }
        let found = try reading.schema(of: name)
        let entry = SchemaEntry(before: found, schema: found ?? CollectionSchema())
        schemas[name] = entry
        return entry
    }

    /// The object as this transaction leaves it.
    mutating func object(_ key: ObjectKey, _ reading: some ObjectSource) throws(StoreError) -> StoredObject {
        entries[try load(key, reading)].object
    }

    /// Sets the fields that belong to this node alone.
    /// - Returns: true if the write changed anything.
    mutating func setLocal(_ planned: PlannedWrite, of key: ObjectKey, at wallMilliseconds: Int64) -> Bool {
        guard planned.localFields != nil || planned.dismisses, let place = places[key] else { return false }
        var isChanged = false
        if let fields = planned.localFields {
            entries[place].object.localFields = fields
            isChanged = true
        }
        if planned.dismisses, !entries[place].object.droppedEdits.isEmpty {
            entries[place].object.dismissDroppedEdits()
            isChanged = true
        }
        guard isChanged else { return false }
        if !entries[place].isChanged { entries[place].object.position = nextPosition() }
        entries[place].isChanged = true
        return true
    }

    /// The schema as this transaction leaves it.
    package mutating func schema(
        of name: ExactString, _ reading: some ObjectSource
    ) throws(StoreError) -> CollectionSchema? {
        let entry = try loaded(schema: name, reading)
        return entry.before != nil || entry.isChanged ? entry.schema : nil
    }

    // MARK: Collection

    /// Forgets the object's deletions, and what they ended, if all of them are stable. No change to what anybody sees:
    /// the object keeps its place in the feed.
    /// - Returns: whether anything went.
    package mutating func collect(
        _ key: ObjectKey, upTo stable: VersionVector, _ reading: some ObjectSource
    ) throws(StoreError) -> Bool {
        let place = try load(key, reading)
        let dropped = entries[place].object.droppedEdits
        guard entries[place].object.state.collect(where: stable.covers) else { return false }
        entries[place].journal = nil
        entries[place].object.forgetDeletions(keeping: dropped)
        entries[place].isChanged = true
        return true
    }

    // MARK: The end

    /// Large objects that are as they are stored.
    package var unchangedLarge: [StoredObject] {
        untouched + entries.filter { $0.isLarge && !$0.isChanged }.map(\.object)
    }

    /// Computes what is kept beside the objects that changed, and what the transaction does to digest and counts.
    package mutating func finish(_ reading: some ObjectSource) throws(StoreError) {
        for place in entries.indices where entries[place].isChanged {
            let schema = try schema(of: entries[place].object.key.collection, reading)
            var summary = entries[place].object.summarized(schema)
            if faults.contains(.deletionKeepsAttachments), summary.standing != .live {
                summary.attachments = entries[place].before.attachments
            }
            count(from: entries[place].before, to: summary)
            entries[place].object.summary = summary
            count(entries[place])
        }
        for change in changedSchemas {
            if let term = change.before?.digestTerm(collection: change.name) { digestChange -= term }
            if let term = change.after.digestTerm(collection: change.name) { digestChange += term }
        }
    }

    private mutating func count(from before: ObjectSummary, to after: ObjectSummary) {
        if let term = before.digest { digestChange -= term }
        if let term = after.digest { digestChange += term }
        counts.count(from: before.standing, to: after.standing)
    }

    /// Attachments, each an item of its own in the digest.
    private mutating func count(_ entry: Entry) {
        let difference = entry.attachmentDifference
        for attachment in difference.gone { digestChange -= attachment.digestTerm(of: entry.object.key) }
        for attachment in difference.new { digestChange += attachment.digestTerm(of: entry.object.key) }
        counts.attachments += entry.attachmentCountChange
    }
}

extension StoreCounts {
    mutating func count(from before: ObjectStanding, to after: ObjectStanding) {
        objects += (after == .live ? 1 : 0) - (before == .live ? 1 : 0)
        deletedObjects += (after == .deleted ? 1 : 0) - (before == .deleted ? 1 : 0)
    }
}
