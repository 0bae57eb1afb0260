/// A list, or what a replica lacks of one, in canonical form: what is compared, hashed, kept and shipped.
///
/// `Content` is the value of an element, or a delta of it.
public struct ListContents<Content: Hashable & Codable & Sendable>: Hashable, Sendable, Codable {
    struct Element: Hashable, Sendable, Codable {
        let birth: Dot
        var presence: DotSet
        var moves: PositionRegister
        var content: Content

        /// True if the element was never edited, moved or deleted.
        var isPlain: Bool { moves.isEmpty && presence.count == 1 && presence.first == birth }
    }

    var presence = DotSet()
    var skeleton = Skeleton()
    /// Sorted by birth; deleted ones too, for what was made apart may keep them.
    var elements: [Element] = []
}

extension ReplicatedList {
    /// The whole state.
    var contents: ListContents<Value> { contents(since: VersionVector()) { $0 } }

    private func contents<Content>(
        since vector: VersionVector, _ content: (Value) -> Content
    ) -> ListContents<Content> {
        var contents = ListContents<Content>()
        contents.presence = presence
        contents.skeleton = tree.skeleton(since: vector)
        contents.elements.reserveCapacity(entries.count)
        for node in tree.nodesByDot() {
            guard let index = entryIndex(node) else { continue }
            contents.elements.append(
                .init(
                    birth: tree.dot(of: node), presence: entries[index].presence, moves: entries[index].moves,
                    content: content(entries[index].value)))
        }
        return contents
    }

    /// Nil unless these are the contents of a list: every position has a place, every element a position of its own.
    init?(_ contents: ListContents<Value>) {
        self.init()
        presence = contents.presence
        guard tree.insert(contents.skeleton) else { return nil }
        makeRoom()
        for element in contents.elements {
            guard let node = tree.node(at: element.birth), entryIndex(node) == nil,
                element.moves.keys.allSatisfy({ tree.node(at: $0.dot) != nil })
            else { return nil }
            let shownCount = tree.order.shownCount
            let index = makeEntry(node)
            entries[index].presence = element.presence
            entries[index].moves = element.moves
            entries[index].value = element.content
            refresh(index)
            guard element.presence.isEmpty || tree.order.shownCount > shownCount else { return nil }
        }
    }

    /// Every element is named with the dots that are live in it, deleted ones with none; values and positions only as far
    /// as `vector` does not cover them.
    public func delta(since vector: VersionVector) -> Delta { contents(since: vector) { $0.delta(since: vector) } }

    /// Takes in a delta made at `theirs`, for a vector that `held` covers.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        tree.insert(delta.skeleton)
        makeRoom()
        var isNamed = [Bool](repeating: false, count: entries.count)
        for other in delta.elements {
            guard let node = tree.node(at: other.birth) else { continue }
            let index = makeEntry(node)
            if index < isNamed.count { isNamed[index] = true }
            entries[index].presence.join(other.presence, held: held, theirs: theirs)
            entries[index].moves.join(other.moves, held: held, theirs: theirs)
            entries[index].value.join(other.content, held: held, theirs: theirs)
            refresh(index)
        }
        for index in isNamed.indices where !isNamed[index] {
            entries[index].presence.join(DotSet(), held: held, theirs: theirs)
            refresh(index)
        }
    }
}

extension ReplicatedList: Hashable {
    /// Equal states: whatever was applied or merged in which order, and deleted elements count too.
    public static func == (left: ReplicatedList, right: ReplicatedList) -> Bool {
        left.tree.count == right.tree.count && left.presence == right.presence && left.contents == right.contents
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(contents) }
}

extension ReplicatedList: Codable {
    /// Refuses what is not the contents of one.
    public init(from decoder: any Decoder) throws {
        let contents = try ListContents<Value>(from: decoder)
        guard let list = Self(contents) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the contents of a list"))
        }
        self = list
    }

    /// Sorted, so that equal values give equal texts.
    public func encode(to encoder: any Encoder) throws { try contents.encode(to: encoder) }
}
