/// Where a text changed: some scalars in a row gave way to others. What those are, the text says.
struct TextSplice: BitwiseCopyable {
    /// Of the text as the splices before left it, in scalars.
    var offset: Int
    var deletedCount: Int
    var insertedCount: Int
}

extension [TextSplice] {
    /// Adds what happened last. Where it touches what happened before that, both are one: whoever types and deletes in one
    /// place adds one splice.
    mutating func note(_ next: TextSplice) {
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
