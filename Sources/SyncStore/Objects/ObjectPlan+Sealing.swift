import SyncModel

// Changes that are folded, and stored anew.
extension ObjectPlan {
    /// The result of `keepWhatWasShown`.
    struct Kept {
        /// The objects that a reader would find changed.
        var differing: Set<ObjectKey> = []
    }

    /// After folded changes were applied to objects as they were before them: gives each the position it has and what
    /// belongs to this node alone, and compares it with what is stored.
    mutating func keepWhatWasShown(
        of folding: Folding, at position: Int64, _ stored: some ObjectSource
    ) throws(StoreError) -> Kept {
        var kept = Kept()
        for place in entries.indices where entries[place].isChanged {
            let key = entries[place].object.key
            guard let now = try stored.object(key) else { throw .corrupt(detail: "an object of the open tail is gone") }
            let object = entries[place].object
            let isAsItWas =
                folding.deleted.contains(key) ? object.isShown(like: now) : object.state == now.state
            if !isAsItWas { kept.differing.insert(key) }
            if object.state.isEmpty { continue }
            entries[place].before = now.summary
            entries[place].before.attachments = now.state.shownAttachments
            entries[place].birthsBefore = now.births
            if now.summary.standing == .live, let schema = try schema(of: key.collection, stored) {
                entries[place].before.indexed = schema.indexedValues(of: now)
            }
            entries[place].object.position = now.position
            entries[place].object.localFields = now.localFields
            entries[place].object.dismissedCount = now.dismissedCount
            entries[place].object.collectedEdits = now.collectedEdits
        }
        entries.removeAll { $0.isChanged && $0.object.state.isEmpty }
        places = Dictionary(uniqueKeysWithValues: entries.indices.map { (entries[$0].object.key, $0) })
        // Numbers of entries mean others from here on: the changes before this cannot be taken back.
        begin()
        self.position = position
        return kept
    }
}
