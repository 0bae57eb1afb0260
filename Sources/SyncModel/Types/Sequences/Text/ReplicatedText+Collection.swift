extension ReplicatedText: RandomAccessCollection {
    /// Always 0.
    public var startIndex: Int { 0 }

    /// How many scalars a reader sees.
    public var endIndex: Int { tree.order.shownCount }

    /// The scalar at this offset.
    public subscript(offset: Int) -> Unicode.Scalar { scalar(at: tree.order.shownNode(at: offset)) }

    /// The text a reader sees.
    public var string: String {
        var string = String.UnicodeScalarView()
        tree.order.forEachShown { string.append(scalar(at: $0)) }
        return String(string)
    }

    /// Whether somebody created the text explicitly, so that it is there even when empty.
    public var isCreated: Bool { !presence.isEmpty }

    /// A part of it, by offsets of scalars.
    public func string(in range: Range<Int>) -> String { string(of: tree.order.shownNodes(in: range)) }
}

extension ReplicatedText: CustomStringConvertible {
    /// The text a reader sees.
    public var description: String { string }
}

/// A place in a text that stays where it is while others type: beside one scalar, whether that is deleted or not.
public struct TextCursor: Hashable, Sendable, Codable {
    /// Which side of its scalar the cursor is on, so what it stays with when somebody types right there.
    public enum Side: String, Hashable, Sendable, Codable {
        /// Before the scalar that follows: what is typed at the cursor is left of it.
        case before
        /// After the scalar that precedes: what is typed at the cursor is right of it.
        case after
    }

    /// Nil: before the end, or after the beginning.
    public let scalar: Dot?
    /// What it stays with.
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
        switch side {
        case .before:
            return TextCursor(
                scalar: offset == count ? nil : tree.dot(of: tree.order.shownNode(at: offset)), side: side)
        case .after:
            return TextCursor(
                scalar: offset == 0 ? nil : tree.dot(of: tree.order.shownNode(at: offset - 1)), side: side)
        }
    }

    /// Where the cursor is now; nil if its scalar has not arrived here.
    public func offset(of cursor: TextCursor) -> Int? {
        guard let scalar = cursor.scalar else { return cursor.side == .before ? count : 0 }
        guard let node = tree.node(at: scalar) else { return nil }
        let offset = tree.order.shownIndex(of: node)
        return cursor.side == .after && isShown(node) ? offset + 1 : offset
    }
}
