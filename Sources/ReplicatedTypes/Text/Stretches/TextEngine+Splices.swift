// The engine's notes for the summaries kept stretch by stretch.

extension TextEngine {
    /// Records where the text changed. Too many places are forgotten all: where every stretch was edited, to look at them anew
    /// costs no more than to follow.
    @inline(never)
    mutating func recordSplice(at offset: Int, deleted: Int, inserted: Int) {
        splices?.record(TextSplice(offset: offset, deletedCount: deleted, insertedCount: inserted))
        if let count = splices?.count, count > max(64, tree.shownCount / CharacterCount.mostScalars) { splices = nil }
    }
}
