/// One step of what an edit does to a text that somebody has open or looks back at: delete scalars at an offset, then insert.
public struct TextEdit: Hashable, Sendable {
    /// Of the text as the steps before left it, in Unicode scalars.
    public let offset: Int
    /// What was there and went; empty: only inserted.
    public let deleted: String
    /// Its scalars.
    public let deletedCount: Int
    /// Empty: only deleted.
    public let inserted: String

    /// All parts.
    public init(offset: Int, deleted: String, inserted: String) {
        self.offset = offset
        self.deleted = deleted
        deletedCount = deleted.unicodeScalars.count
        self.inserted = inserted
    }
}

/// A stretch of a text that one replica wrote in a row.
public struct TextSpan: Hashable, Sendable {
    /// Offsets of scalars.
    public let range: Range<Int>
    /// The first scalar's; the others have the counters behind it.
    public let first: Dot
}

extension ReplicatedText {
    /// Who wrote what is shown: in order, neighbours that one replica wrote in a row are one span.
    public var spans: [TextSpan] {
        storage.reading { cell in
            var numbers: [Range<Int>] = []
            cell.engine.pointee.tree.forEachItem { if $0.isShown { numbers.append($0.number..<$0.number + $0.count) } }
            var spans: [TextSpan] = []
            var offset = 0
            for range in cell.engine.pointee.dotSpans(of: numbers) {
                let end = offset + Int(range.count)
                spans.append(TextSpan(range: offset..<end, first: range.first))
                offset = end
            }
            return spans
        }
    }
}
