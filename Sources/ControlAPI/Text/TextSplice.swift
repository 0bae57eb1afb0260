/// A step of an edit of a text: some units at an offset are deleted, and others inserted in their place.
///
/// The steps of a list follow each other: the offset of each counts in the text that those before it left.
public struct TextSplice: Codable, Hashable, Sendable {
    /// The offset at which units are deleted and inserted; in the unit that the request names.
    public var offset: Int
    /// The number of deleted units.
    public var deleted: Int
    /// The inserted text; empty if the step only deletes.
    public var inserted: String

    /// Creates a step of all its parts.
    public init(offset: Int, deleted: Int, inserted: String) {
        self.offset = offset
        self.deleted = deleted
        self.inserted = inserted
    }

    private enum CodingKeys: String, CodingKey {
        case offset
        case deleted
        case inserted
    }

    /// Reads the members `offset`, `deleted` and `inserted`; the last two may be absent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        offset = try container.decode(Int.self, forKey: .offset)
        deleted = try container.decodeIfPresent(Int.self, forKey: .deleted) ?? 0
        inserted = try container.decodeIfPresent(String.self, forKey: .inserted) ?? ""
    }
}

extension TextSplice {
    /// True if the step changes no text.
    package var isEmpty: Bool { deleted == 0 && inserted.isEmpty }

    /// Returns the step that makes `target` of `old`, found by their common beginning and end; none if they are equal.
    package static func difference(from old: String, to target: String, in unit: TextUnit) -> [TextSplice] {
        let (oldScalars, targetScalars) = (old.unicodeScalars, target.unicodeScalars)
        var (start, targetStart) = (oldScalars.startIndex, targetScalars.startIndex)
        while start < oldScalars.endIndex, targetStart < targetScalars.endIndex,
            oldScalars[start] == targetScalars[targetStart]
        {
            oldScalars.formIndex(after: &start)
            targetScalars.formIndex(after: &targetStart)
        }
        var (end, targetEnd) = (oldScalars.endIndex, targetScalars.endIndex)
        while end > start, targetEnd > targetStart {
            let (before, targetBefore) = (oldScalars.index(before: end), targetScalars.index(before: targetEnd))
            guard oldScalars[before] == targetScalars[targetBefore] else { break }
            (end, targetEnd) = (before, targetBefore)
        }
        if start == end, targetStart == targetEnd { return [] }
        return [
            TextSplice(
                offset: old.offset(of: start, in: unit), deleted: unit.count(String(old[start..<end])),
                inserted: String(target[targetStart..<targetEnd]))
        ]
    }

    /// Returns both steps as one; nil unless they touch. `next` is a step in the text that this one left.
    package func joined(with next: TextSplice, in unit: TextUnit) -> TextSplice? {
        let end = offset + unit.count(inserted)
        if next.offset == end {
            return TextSplice(offset: offset, deleted: deleted + next.deleted, inserted: inserted + next.inserted)
        }
        guard next.inserted.isEmpty else { return nil }
        // Deleted backwards: units that were just typed, then those before them.
        if next.offset + next.deleted == end, next.offset >= offset,
            let cut = inserted.index(at: next.offset - offset, in: unit)
        {
            return TextSplice(offset: offset, deleted: deleted, inserted: String(inserted[..<cut]))
        }
        guard inserted.isEmpty, next.offset + next.deleted == offset else { return nil }
        return TextSplice(offset: next.offset, deleted: deleted + next.deleted, inserted: "")
    }
}

extension [TextSplice] {
    /// Adds a step: to the last one if they touch, so that what is typed in one go is one step.
    package mutating func record(_ next: TextSplice, in unit: TextUnit) {
        if next.isEmpty { return }
        guard let joined = last?.joined(with: next, in: unit) else { return append(next) }
        self[count - 1] = joined
        if joined.isEmpty { removeLast() }
    }
}

extension String {
    /// Applies steps whose places lie in the text; a step outside of it changes nothing.
    package mutating func apply(_ steps: [TextSplice], in unit: TextUnit) {
        for step in steps {
            guard let lower = index(at: step.offset, in: unit),
                let upper = index(at: step.offset + step.deleted, in: unit)
            else { continue }
            unicodeScalars.replaceSubrange(lower..<upper, with: step.inserted.unicodeScalars)
        }
    }
}
