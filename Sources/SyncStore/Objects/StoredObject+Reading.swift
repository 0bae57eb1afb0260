package import SyncModel

extension StoredObject {
    /// Returns the object as readers see it.
    ///
    /// - Parameter isLive: whether the object that a reference names is live here.
    package func reading(_ schema: CollectionSchema?, isLive: (ObjectKey) -> Bool) -> ObjectReading {
        ObjectReading(state, schema: schema, isLive: isLive)
    }

    /// The edits that deletions dropped and that were not dismissed here.
    package var droppedEdits: [DeletionRecord.Edited] {
        let edited = collectedEdits + state.lives.deletions.flatMap(\.edited)
        return edited.reduce(0) { $0 + $1.count } > dismissedCount ? edited : []
    }

    mutating func dismissDroppedEdits() {
        collectedEdits = []
        dismissedCount = countDroppedByDeletions
    }

    /// The number of edits that the deletions which are kept have dropped.
    var countDroppedByDeletions: UInt64 { state.lives.deletions.flatMap(\.edited).reduce(0) { $0 + $1.count } }

    /// After its deletions were collected: what a person has not yet looked at stays, and nothing else of what is gone.
    mutating func forgetDeletions(keeping dropped: [DeletionRecord.Edited]) {
        collectedEdits = dropped
        if dropped.isEmpty { dismissedCount = 0 }
        if state.isEmpty { localFields = [] }
    }

    /// The deletion that people see: the newest that holds.
    package var deletion: DeletionRecord? {
        state.lives.deletions.max { ($0.stamp, $0.dot) < ($1.stamp, $1.dot) }
    }

    /// Returns the summary stored beside the object, computed anew.
    package func summarized(_ schema: CollectionSchema?) -> ObjectSummary {
        let standing: ObjectStanding =
            switch state.judgement {
            case .absent: .nothing
            case .live: .live
            case .deleted: .deleted
            case .undecided: .undecided
            }
        var hasConflict = standing == .undecided || !droppedEdits.isEmpty
        if standing == .live, !hasConflict, state.mayBeContested {
            hasConflict = !reading(schema, isLive: { _ in true }).conflicts.isEmpty
        }
        return ObjectSummary(
            standing: standing, hasConflict: hasConflict, digest: state.digestTerm(of: key),
            indexed: standing == .live ? schema?.indexedValues(of: self) ?? [] : [],
            attachments: state.shownAttachments)
    }

    /// True if the summary is what the selection asks for.
    func isSelected(by selection: ObjectQuery.Selection) -> Bool {
        switch selection {
        case .standing(let standing): summary.standing == standing
        case .conflicted: summary.hasConflict
        }
    }

    /// True if readers see the condition met; references count whether they are live or not.
    func meets(_ condition: ObjectQuery.Condition?, _ schema: CollectionSchema?) -> Bool {
        condition?.holds { value(at: $0, schema) } ?? true
    }

    /// Returns the value that readers see in a field, or in a key below it; references count whether they are live or not.
    package func value(at path: [ExactString], _ schema: CollectionSchema?) -> JSONValue? {
        guard let field = path.first else { return nil }
        var value = localFields.first { $0.key == field }?.value
        if value == nil {
            let kind = schema?[field]?.kind
            value = kind == .local ? nil : state.shownField(field, preferring: kind?.type)
        }
        for key in path.dropFirst() { value = value?[key] }
        return value
    }
}

extension CollectionSchema {
    /// A field whose values are looked up, and as which type they are shown.
    package struct Index: Hashable, Sendable {
        package let field: ExactString
        /// Nil: whichever there is.
        package let type: FieldType?
    }

    /// Sorted by name. A local field is not among them: what is not replicated is compared object by object.
    package var indexes: [Index] {
        indexed.compactMap { field in
            let kind = self[field]?.kind
            return kind == .local ? nil : Index(field: field, type: kind?.type)
        }
    }

    /// Returns the values that a live object shows in the indexed fields, as `StoredObject.value(at:_:)` does.
    package func indexedValues(of object: StoredObject) -> [IndexedValue] {
        indexes.map { index in
            // A value of this node alone stays when its field becomes one that is replicated.
            let local = object.localFields.first { $0.key == index.field }?.value
            return IndexedValue(
                field: index.field, value: local ?? object.state.shownField(index.field, preferring: index.type))
        }
    }
}
