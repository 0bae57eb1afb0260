extension ReplicatedText: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// The number of scalars that a reader sees.
    public var endIndex: Int { storage.shownCount }

    /// The scalar at this offset. Logarithmic; to read many, take `string`.
    public subscript(offset: Int) -> Unicode.Scalar {
        precondition(offset >= 0 && offset < endIndex, "offset \(offset) of \(endIndex) scalars")
        let value = storage.reading { cell in
            let place = cell.engine.pointee.tree.place(ofShown: offset)
            let item = cell.engine.pointee.tree.item(place.leaf, place.index)
            return cell.engine.pointee.arena[item.number + place.offset]
        }
        guard let scalar = Unicode.Scalar(value) else { preconditionFailure("a shown place of a text has its scalar") }
        return scalar
    }

    /// The text a reader sees.
    public var string: String { storage.string }

    /// True if a replica created the text explicitly, so that it is present even when empty.
    public var isCreated: Bool { !presence.isEmpty }

    /// True if a scalar with this dot is here, deleted or not, so that others can be put beside it.
    package func hasPosition(at dot: Dot) -> Bool { storage.reading { $0.engine.pointee.dots.number(of: dot) != nil } }

    /// A part of it, by offsets of scalars.
    public func string(in range: Range<Int>) -> String {
        precondition(range.lowerBound >= 0 && range.upperBound <= endIndex, "\(range) of \(endIndex) scalars")
        return storage.reading { $0.engine.pointee.string(ofShown: range) }
    }
}

extension ReplicatedText: CustomStringConvertible {
    /// The text a reader sees.
    public var description: String { string }
}

/// A place in a text that stays where it is while others type: beside one scalar, whether that is deleted or not.
public struct TextCursor: Hashable, Sendable, Codable {
    /// The side of its scalar that the cursor is on. It decides what the cursor stays with when a replica types right there.
    public enum Side: String, Hashable, Sendable, Codable {
        /// Before the scalar that follows: what is typed at the cursor is left of it.
        case before
        /// After the scalar that precedes: what is typed at the cursor is right of it.
        case after
    }

    /// Nil: before the end, or after the beginning.
    public let scalar: Dot?
    /// The side that the cursor stays with.
    public let side: Side

    /// A cursor beside `scalar`.
    public init(scalar: Dot?, side: Side) {
        self.scalar = scalar
        self.side = side
    }
}

extension ReplicatedText {
    /// A cursor at `offset`, held by the scalar before or after it.
    public func cursor(at offset: Int, side: TextCursor.Side) -> TextCursor {
        precondition(offset >= 0 && offset <= count, "offset \(offset) of \(count) scalars")
        let held = side == .before ? offset : offset - 1
        guard held >= 0, held < count else { return TextCursor(scalar: nil, side: side) }
        let dot = storage.reading { cell in
            let place = cell.engine.pointee.tree.place(ofShown: held)
            let item = cell.engine.pointee.tree.item(place.leaf, place.index)
            return cell.engine.pointee.dots.fullDot(of: item.number + place.offset)
        }
        return TextCursor(scalar: dot, side: side)
    }

    /// Returns the offset of the cursor; nil if its scalar has not arrived here.
    public func offset(of cursor: TextCursor) -> Int? {
        guard let scalar = cursor.scalar else { return cursor.side == .before ? count : 0 }
        return storage.reading { cell in
            guard let number = cell.engine.pointee.dots.number(of: scalar) else { return nil }
            let place = cell.engine.pointee.tree.place(of: number)
            let isShown = cell.engine.pointee.tree.item(place.leaf, place.index).isShown
            let offset = cell.engine.pointee.tree.shownIndex(of: place)
            return cursor.side == .after && isShown ? offset + 1 : offset
        }
    }
}
