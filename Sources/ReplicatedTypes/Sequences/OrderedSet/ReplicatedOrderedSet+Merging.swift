/// An ordered set, or what a replica lacks of one, in canonical form: what is compared, hashed, kept and shipped.
public struct OrderedSetContents<Element: ReplicableElement>: Hashable, Sendable, Codable {
    struct Entry: Hashable, Sendable, Codable {
        let element: Element
        var presence: DotSet
        var positions: PositionRegister

        /// Inserted once, and neither moved nor removed.
        var isPlain: Bool {
            positions.keys.count == 1 && presence.count == 1 && presence.first == positions.greatest?.dot
        }
    }

    var presence = DotSet()
    var skeleton = Skeleton()
    /// Sorted by element; removed ones too, for what was made apart may keep them.
    var entries: [Entry] = []
}

extension ReplicatedOrderedSet {
    /// The whole state.
    var contents: OrderedSetContents<Element> { delta(since: VersionVector()) }

    /// Nil unless these are the contents of an ordered set: each value once, every position with a place of its own.
    init?(_ contents: OrderedSetContents<Element>) {
        self.init()
        presence = contents.presence
        guard tree.insert(contents.skeleton) else { return nil }
        makeRoom()
        for entry in contents.entries {
            guard entryIndices[entry.element] == nil, !entry.positions.isEmpty,
                entry.positions.keys.allSatisfy({ tree.node(at: $0.dot) != nil })
            else { return nil }
            let index = entryIndex(of: entry.element)
            let shownCount = tree.order.shownCount
            entries[index].presence = entry.presence
            entries[index].positions = entry.positions
            refresh(index)
            guard entry.presence.isEmpty || tree.order.shownCount > shownCount else { return nil }
        }
    }

    /// Every value is named with the dots that are live in it, removed ones with none; positions only as far as `vector` does
    /// not cover them.
    public func delta(since vector: VersionVector) -> Delta {
        var contents = OrderedSetContents<Element>()
        contents.presence = presence
        contents.skeleton = tree.skeleton(since: vector)
        contents.entries = entries.map { .init(element: $0.element, presence: $0.presence, positions: $0.positions) }
        contents.entries.sort { $0.element < $1.element }
        return contents
    }

    /// Takes in a delta made at `theirs`, for a vector that `held` covers.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        tree.insert(delta.skeleton)
        makeRoom()
        var isNamed = [Bool](repeating: false, count: entries.count)
        for other in delta.entries {
            let index = entryIndex(of: other.element)
            if index < isNamed.count { isNamed[index] = true }
            entries[index].presence.join(other.presence, held: held, theirs: theirs)
            entries[index].positions.join(other.positions, held: held, theirs: theirs)
            refresh(index)
        }
        for index in isNamed.indices where !isNamed[index] {
            entries[index].presence.join(DotSet(), held: held, theirs: theirs)
            refresh(index)
        }
    }
}

extension ReplicatedOrderedSet: Hashable {
    /// Equal states: whatever was applied or merged in which order, and removed values count too.
    public static func == (left: ReplicatedOrderedSet, right: ReplicatedOrderedSet) -> Bool {
        left.tree.count == right.tree.count && left.presence == right.presence && left.contents == right.contents
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(contents) }
}

extension ReplicatedOrderedSet: Codable {
    /// Refuses what is not the contents of one.
    public init(from decoder: any Decoder) throws {
        let contents = try OrderedSetContents<Element>(from: decoder)
        guard let set = Self(contents) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the contents of an ordered set"))
        }
        self = set
    }

    /// Sorted, so that equal values give equal texts.
    public func encode(to encoder: any Encoder) throws { try contents.encode(to: encoder) }
}
