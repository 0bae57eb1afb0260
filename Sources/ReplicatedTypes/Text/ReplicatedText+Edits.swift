// What operations do to what a reader sees, recorded while they are applied: each costs what it changes, never the whole text.

extension ReplicatedText {
    /// Records every edit from now on, until the edits are taken.
    package mutating func recordEdits() { own().pointee.edits = [] }

    /// Returns the recorded edits in their order, and stops recording.
    package mutating func takeRecordedEdits() -> [TextEdit] {
        let engine = own()
        defer { engine.pointee.edits = nil }
        return engine.pointee.edits ?? []
    }
}

extension [TextEdit] {
    /// The same with fewer steps: a run of deletions is one, and so are a deletion and what was put in its place.
    package var joined: [TextEdit] {
        var joined: [TextEdit] = []
        for edit in self {
            if let last = joined.last, let both = last.joined(with: edit) {
                joined[joined.count - 1] = both
            } else {
                joined.append(edit)
            }
        }
        return joined
    }

    /// The text before these edits, which made `string` of it.
    package func undone(on string: String) -> String {
        var scalars = Array<Unicode.Scalar>(string.unicodeScalars)
        for edit in reversed() {
            let inserted = edit.offset..<edit.offset + edit.inserted.unicodeScalars.count
            scalars.replaceSubrange(inserted, with: edit.deleted.unicodeScalars)
        }
        return String(scalars: scalars)
    }
}

extension TextEdit {
    /// Returns both steps as one; nil unless they touch. `next` is a step in the text that this one left.
    fileprivate func joined(with next: TextEdit) -> TextEdit? {
        if inserted.isEmpty {
            if next.offset == offset {
                return TextEdit(offset: offset, deleted: deleted + next.deleted, inserted: next.inserted)
            }
            guard next.inserted.isEmpty, next.offset + next.deletedCount == offset else { return nil }
            return TextEdit(offset: next.offset, deleted: next.deleted + deleted, inserted: "")
        }
        guard next.deletedCount == 0, next.offset == offset + inserted.unicodeScalars.count else { return nil }
        return TextEdit(offset: offset, deleted: deleted, inserted: inserted + next.inserted)
    }
}

extension String {
    /// Creates a string of these scalars.
    package init(scalars: some Sequence<Unicode.Scalar>) {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        self.init(view)
    }
}
