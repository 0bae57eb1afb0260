package import ControlAPI
package import SyncAgent
import SyncModel
import SyncStore

// What became of an object, and who did what to it.
extension Agent {
    /// All that was done to the object. Throws `not_found` when nothing of that is kept here.
    func past(of name: ObjectName) throws(ControlError) -> ObjectPast {
        let past = try keptPast(of: name)
        guard !past.changes.isEmpty || past.beginning?.version != nil else {
            let isWaiting = try read { () throws(StoreError) in
                try store.hasWaitingWork(on: ObjectKey(name), space: .home)
            }
            throw isWaiting ? .historyLater : .noObject
        }
        return past
    }

    func keptPast(of name: ObjectName) throws(ControlError) -> ObjectPast {
        try read { () throws(StoreError) in
            let touches = try store.touches(of: ObjectKey(name), space: .home)
            return ObjectPast(touches, from: try store.beginning(of: ObjectKey(name), space: .home))
        }
    }

    /// The object as the author of a version left it, and that version; nil: now.
    func state(
        of name: ObjectName, behind version: DotText, in past: ObjectPast
    ) throws(ControlError) -> (state: ObjectState, version: Dot) {
        guard let dot = try dot(version) else { throw .noVersion }
        if let beginning = past.beginning, beginning.version == dot { return (beginning.state, dot) }
        guard let change = past.change(of: dot) else {
            throw past.beginning?.state.lives.touched.covers(dot) ?? false ? .versionNotKept : .noVersion
        }
        guard past.isKnown(change) else { throw .versionNotKept }
        let members = try read { () throws(StoreError) in try store.members() }
        return (past.state(behind: change, members: members), change.version)
    }

    private func schema(of name: ObjectName) throws(ControlError) -> CollectionSchema? {
        try read { () throws(StoreError) in
            try store.schema(of: ExactString(name.collection), space: .home)
        }
    }

    // MARK: What became of it

    /// Returns the history of the object, oldest first, in the order in which it was applied here; of one field (and what is
    /// below it), or of all. Throws `not_found` for an object that never was, `unknown_field` for a field that never was.
    ///
    /// - Parameter memory: the same for all pages that one request reads.
    package func history(
        _ query: HistoryQuery, _ memory: PageMemory
    ) async throws(ControlError) -> EntryPage<HistoryEntry> {
        try checkSpace(query.space)
        return try await reading { () throws(ControlError) in try page(of: query, memory) }
    }

    private func page(of query: HistoryQuery, _ memory: PageMemory) throws(ControlError) -> EntryPage<HistoryEntry> {
        var reading: HistoryReading
        if let left = memory.take(HistoryReading.self, at: query.after) {
            reading = left
        } else {
            let past = try past(of: query.name)
            let members = try read { () throws(StoreError) in try store.members() }
            reading = HistoryReading(
                past, from: try HistoryPlace(query.after, in: past),
                ObjectReplay(schema: try schema(of: query.name), members: members, from: past.beginning))
        }
        let page = reading.page(query)
        if query.after == nil, page.entries.isEmpty {
            guard reading.existed, let field = query.field else { throw .noObject }
            throw .unknownField(field.description)
        }
        if let next = page.next { memory.leave(reading, at: next) }
        return page
    }

    // MARK: Who wrote it

    /// Returns the authors of the parts of a field's value, in the order in which they are shown; now, or at a version. Nodes
    /// that show the same value return the same. Throws the errors of reading the object, and `unknown_field` when the field
    /// has no value.
    package func blame(_ query: BlameQuery) async throws(ControlError) -> [BlameEntry] {
        try checkSpace(query.space)
        return try await reading { () throws(ControlError) in try authors(query) }
    }

    private func authors(_ query: BlameQuery) throws(ControlError) -> [BlameEntry] {
        let past: ObjectPast
        let state: ObjectState
        if let at = query.at {
            past = try self.past(of: query.name)
            state = try self.state(of: query.name, behind: at, in: past).state
            guard state.isShown else { throw .notThen }
        } else {
            // The object first: its past, read later, has at least what the object shows, but for work that waits to be written again.
            state = try shownObject(query.name).state
            past = try keptPast(of: query.name)
        }
        let spans = past.blame(state, query.field.exactKeys, try schema(of: query.name))
        guard let spans else { throw .unknownField(query.field.description) }
        var names = VersionNames()
        var entries: [BlameEntry] = []
        entries.reserveCapacity(spans.count)
        for span in spans {
            let part: BlameEntry.Part =
                switch span.content {
                case .text(let offset, let text): .text(offset: offset, text)
                case .value(let value): .value(JSONText(value))
                }
            entries.append(
                BlameEntry(
                    field: try FieldPath(keys: span.path.map(\.string)), part: part,
                    device: names.device(of: span.version),
                    time: span.wallMilliseconds.map { Timestamp(millisecondsSinceEpoch: $0) },
                    version: names.text(of: span.version)))
        }
        return entries
    }

    // MARK: How two versions differ

    /// Returns the fields that differ between two versions, or a version and now, by name. An object that is not shown at a
    /// version has no fields then. Throws `not_found` for a version that is not one of this object's.
    package func difference(_ query: DifferenceQuery) async throws(ControlError) -> [DifferenceEntry] {
        try checkSpace(query.space)
        return try await reading { () throws(ControlError) in try differences(query) }
    }

    private func differences(_ query: DifferenceQuery) throws(ControlError) -> [DifferenceEntry] {
        let past = try past(of: query.name)
        let old = try state(of: query.name, behind: query.from, in: past).state
        let new: ObjectState
        if let at = query.at {
            new = try state(of: query.name, behind: at, in: past).state
        } else {
            let object = try read { () throws(StoreError) in
                try store.shownObject(ObjectKey(query.name), space: .home)
            }
            new = object?.state ?? ObjectState()
        }
        let (schema, path) = (try schema(of: query.name), query.field?.exactKeys)
        if let field = query.field, let path, old.shownValue(at: path, schema) == nil,
            new.shownValue(at: path, schema) == nil
        {
            throw .unknownField(field.description)
        }
        return differences(from: old, to: new, schema, path: path, field: query.field)
    }

    func differences(
        from old: ObjectState, to new: ObjectState, _ schema: CollectionSchema?, path: [ExactString]? = nil,
        field: FieldPath? = nil
    ) -> [DifferenceEntry] {
        old.differences(to: new, schema: schema, path: path).map { difference in
            let content: DifferenceEntry.Content =
                switch difference.content {
                case .value(let old, let new):
                    .value(old: old.map { JSONText($0) }, new: new.map { JSONText($0) })
                case .text(let comparison):
                    .text(
                        edits: comparison.edits.map { TextChange($0) },
                        lines: comparison.lines.map { lines in
                            LineChange(
                                line: lines.line, newLine: lines.newLine, deleted: lines.deleted,
                                inserted: lines.inserted)
                        })
                }
            return DifferenceEntry(field: field ?? FieldPath(field: difference.field.string), content: content)
        }
    }
}

/// The place where a page of a history begins: a change, and an entry of those that describe it.
private struct HistoryPlace {
    let change: Int
    var entry: Int

    init(change: Int, entry: Int) {
        self.change = change
        self.entry = entry
    }

    /// Throws `invalid_argument` for a cursor that was not handed out. Changes are only ever added behind.
    init(_ cursor: String?, in past: ObjectPast) throws(ControlError) {
        guard let cursor else {
            self.init(change: 0, entry: 0)
            return
        }
        let numbers = cursor.split(separator: ".", omittingEmptySubsequences: false).map { UInt32($0) }
        guard numbers.count == 2, let change = numbers[0], let entry = numbers[1], change < past.changes.count else {
            throw .badCursor
        }
        self.init(change: Int(change), entry: Int(entry))
    }

    var text: String { "\(change).\(entry)" }
}

/// A history on its way from page to page.
private struct HistoryReading: Sendable {
    private let past: ObjectPast
    private var place: HistoryPlace
    private var replay: ObjectReplay
    /// The entries that describe the change at `place`, once it is replayed.
    private var told: [HistoryEntry]?
    private var names = VersionNames()
    /// True if any change to the object took effect.
    private(set) var existed: Bool

    init(_ past: ObjectPast, from place: HistoryPlace, _ replay: ObjectReplay) {
        self.past = past
        self.place = place
        self.replay = replay
        existed = place.change > 0 || past.beginning != nil
        for change in past.changes[..<place.change] { self.replay.skip(change) }
    }

    /// Returns the object as it was when the stored part of its history began: entries before the first change.
    private func begin(_ field: FieldPath?) -> [HistoryEntry] {
        guard let beginning = past.beginning, let version = beginning.version else { return [] }
        var names = names
        let whole = HistoryEntry(
            version: names.text(of: version), time: Timestamp(millisecondsSinceEpoch: beginning.changedMilliseconds),
            device: names.device(of: version), kind: .begins)
        let shown = replay.shown(path: field?.exactKeys)
        let fields = shown.fields.map { change in
            var entry = whole
            entry.field = field ?? FieldPath(field: change.field.string)
            switch change.content {
            case .value(_, let new): entry.new = new.map { JSONText($0) }
            case .text(let edits): entry.edits = edits.map { TextChange($0) }
            }
            return entry
        }
        let files = shown.attachments.map { change in
            var entry = whole
            if case .attached(let attachment) = change { entry.attachment = AttachmentRecord(attachment) }
            return entry
        }
        return fields.isEmpty && files.isEmpty && field == nil ? [whole] : fields + files
    }

    /// The entries from here on, as many as the query and the size of a page allow, and at least one if there is one.
    mutating func page(_ query: HistoryQuery) -> EntryPage<HistoryEntry> {
        var entries: [HistoryEntry] = []
        var byteCount = 0
        if past.changes.isEmpty { return EntryPage(entries: begin(query.field)) }
        while place.change < past.changes.count {
            let told =
                self.told ?? (place.change == 0 ? begin(query.field) : [])
                + tell(past.changes[place.change], query.field)
            self.told = told
            while place.entry < told.count {
                let isFull = entries.count >= query.limit || byteCount > ControlLimits.pagePayloadBytes
                if isFull, !entries.isEmpty { return EntryPage(entries: entries, next: place.text) }
                entries.append(told[place.entry])
                byteCount += told[place.entry].valueByteCount
                place.entry += 1
            }
            self.told = nil
            place = HistoryPlace(change: place.change + 1, entry: 0)
        }
        return EntryPage(entries: entries)
    }

    /// Does a change again.
    private mutating func tell(_ change: ObjectPast.Change, _ field: FieldPath?) -> [HistoryEntry] {
        guard let told = replay.redo(change, path: field?.exactKeys) else { return [] }
        existed = true
        let whole = HistoryEntry(
            version: names.text(of: change.version),
            time: Timestamp(millisecondsSinceEpoch: change.wallMilliseconds),
            device: names.device(of: change.version), kind: change.kind)
        switch whole.kind {
        case .deleted, .kept: return field == nil ? [whole] : []
        case .created, .edited, .attached, .detached, .begins: break
        }
        guard told.fields.isEmpty else {
            return told.fields.map { entry(of: $0, field, whole) } + entries(told.attachments, whole)
        }
        if field != nil { return [] }
        if whole.kind == .edited {
            // An edit without a visible effect still says which field it was about.
            let fields = told.attachments.isEmpty ? replay.unchangedFields(of: change) : []
            return fields.map { entry(of: $0, nil, whole) } + entries(told.attachments, whole)
        }
        // A creation without fields.
        return [whole] + entries(told.attachments, whole)
    }

    private func entry(of change: FieldChange, _ field: FieldPath?, _ whole: HistoryEntry) -> HistoryEntry {
        var entry = whole
        entry.field = field ?? FieldPath(field: change.field.string)
        switch change.content {
        case .value(let old, let new):
            entry.old = old.map { JSONText($0) }
            entry.new = new.map { JSONText($0) }
        case .text(let edits): entry.edits = edits.map { TextChange($0) }
        }
        return entry
    }

    private func entries(_ changes: [AttachmentChange], _ whole: HistoryEntry) -> [HistoryEntry] {
        changes.map { change in
            var entry = whole
            switch change {
            case .attached(let attachment):
                entry.kind = .attached
                entry.attachment = AttachmentRecord(attachment)
            case .detached(let attachment):
                entry.kind = .detached
                entry.attachment = AttachmentRecord(attachment)
            }
            return entry
        }
    }
}

/// The text forms of versions, each replica's and device's made once.
private struct VersionNames {
    private var names: [ReplicaID: (replica: String, device: String)] = [:]

    mutating func text(of dot: Dot) -> DotText { DotText(replica: name(dot).replica, counter: dot.counter) }

    mutating func device(of dot: Dot) -> String { name(dot).device }

    private mutating func name(_ dot: Dot) -> (replica: String, device: String) {
        if let name = names[dot.replica] { return name }
        let name = ("\(dot.replica)", "\(dot.replica.device)")
        names[dot.replica] = name
        return name
    }
}

extension ObjectPast.Change {
    /// True if it changed no field.
    var isOnlyOfAttachments: Bool {
        operations.allSatisfy { if case .editAttachments = $0.action { true } else { false } }
    }

    var kind: HistoryEntry.Kind {
        for operation in operations {
            switch operation.action {
            case .edit(.birth, _): return .created
            case .edit, .editAttachments: continue
            case .delete: return .deleted
            case .keep: return .kept
            }
        }
        return .edited
    }
}

extension TextChange {
    fileprivate init(_ edit: TextEdit) {
        self.init(offset: edit.offset, deleted: edit.deleted, inserted: edit.inserted)
    }
}

extension AttachmentRecord {
    init(_ attachment: Attachment) {
        let file = attachment.file
        self.init(
            id: attachment.label, name: file.name.string, mediaType: file.mediaType.name, size: file.size,
            width: file.image?.width, height: file.image?.height, hash: file.blob.hash.bytes.hexadecimal)
    }
}

extension HistoryEntry {
    fileprivate var valueByteCount: Int {
        let values = (old?.bytes.count ?? 0) + (new?.bytes.count ?? 0) + (attachment?.name.utf8.count ?? 0)
        return (edits ?? []).reduce(values) { $0 + $1.deleted.utf8.count + $1.inserted.utf8.count }
    }
}
