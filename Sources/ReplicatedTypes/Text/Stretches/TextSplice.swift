/// A place where a text changed: some scalars in a row were replaced by others. The new scalars are in the text.
struct TextSplice: BitwiseCopyable {
    /// The offset in the text after the earlier splices, in scalars.
    var offset: Int
    var deletedCount: Int
    var insertedCount: Int
}

extension [TextSplice] {
    /// Adds the latest splice. If it touches the one before, both become one: typing and deleting in one place adds one
    /// splice.
    mutating func record(_ next: TextSplice) {
        guard let last, next.offset <= last.offset + last.insertedCount,
            last.offset <= next.offset + next.deletedCount
        else { return append(next) }
        let before = Swift.max(0, last.offset - next.offset)
        let inside = Swift.min(
            next.deletedCount - before, last.insertedCount - Swift.max(0, next.offset - last.offset))
        self[count - 1] = TextSplice(
            offset: last.offset - before,
            deletedCount: last.deletedCount + next.deletedCount - inside,
            insertedCount: last.insertedCount - inside + next.insertedCount)
    }
}
