/// A step of an edit, for a text that is open or looked back at: delete scalars at an offset, then insert.
public struct TextEdit: Hashable, Sendable {
    /// The offset in the text after the earlier steps, in Unicode scalars.
    public let offset: Int
    /// The deleted scalars; empty if the step only inserts.
    public let deleted: String
    /// The number of deleted scalars.
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
    /// The authors of what is shown, in order; neighbours that one replica wrote in a row are one span.
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
