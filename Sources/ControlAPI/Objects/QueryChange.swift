/// A line of a live query: `GET …/collections/{collection}/live`, `lanyard list --watch --json`.
public enum QueryChange: Hashable, Sendable {
    /// The way an object came to its place.
    public enum Kind: String, Codable, Hashable, Sendable {
        /// The object was not part of the result.
        case inserted
        /// The object has other fields, at the same place of the order. After a connection was taken up again it stands for
        /// all three.
        case changed
        /// The object has another place in the order.
        case moved
    }

    /// The result follows from the beginning, as inserted objects.
    case reset
    /// The object with this id is not part of the result any more.
    case removed(id: String)
    /// An object is part of the result, at this index.
    case placed(Kind, index: Int, ObjectEntry)
    /// The result is complete as of this position, to be given as `after`. Lines behind it belong to the next difference.
    case complete(position: String)
}

extension QueryChange: Codable {
    private enum Key: String, CodingKey {
        case kind
        case index
        case id
        case object
        case position
    }

    /// Reads `{"kind":"reset"}`, `{"kind":"removed","id"}`, `{"kind":"inserted"|"changed"|"moved","index","object"}` or
    /// `{"kind":"complete","position"}`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        switch try container.decode(String.self, forKey: .kind) {
        case "reset": self = .reset
        case "removed": self = .removed(id: try container.decode(String.self, forKey: .id))
        case "complete": self = .complete(position: try container.decode(String.self, forKey: .position))
        case _:
            self = .placed(
                try container.decode(Kind.self, forKey: .kind), index: try container.decode(Int.self, forKey: .index),
                try container.decode(ObjectEntry.self, forKey: .object))
        }
    }

    /// Writes the same.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .reset: try container.encode("reset", forKey: .kind)
        case .removed(let id):
            try container.encode("removed", forKey: .kind)
            try container.encode(id, forKey: .id)
        case .placed(let kind, let index, let object):
            try container.encode(kind, forKey: .kind)
            try container.encode(index, forKey: .index)
            try container.encode(object, forKey: .object)
        case .complete(let position):
            try container.encode("complete", forKey: .kind)
            try container.encode(position, forKey: .position)
        }
    }
}

/// The difference between two moments of a live query's result.
public struct QueryDifference: Hashable, Sendable {
    /// An object at its place in the new result.
    public struct Placed: Hashable, Sendable {
        /// The way it came there.
        public var kind: QueryChange.Kind
        /// The index in the new result.
        public var index: Int
        /// The object as it is then.
        public var object: ObjectEntry
    }

    /// True if the result follows from the beginning: what was known of it is void.
    public var isReset = false
    /// The ids of objects that are not part of the result any more.
    public var removed: [String] = []
    /// Objects that are new in the result, that changed, or that moved, by ascending index.
    public var placed: [Placed] = []
    /// The position behind the difference, to be given as `after`; empty until `complete` was taken.
    public var position = ""

    /// An empty difference.
    public init() {}

    /// Takes a line.
    /// - Returns: true if the difference is complete with it.
    package mutating func take(_ change: QueryChange) -> Bool {
        switch change {
        case .reset:
            self = QueryDifference()
            isReset = true
        case .removed(let id): removed.append(id)
        case .placed(let kind, let index, let object): placed.append(Placed(kind: kind, index: index, object: object))
        case .complete(let position):
            self.position = position
            return true
        }
        return false
    }

    /// Brings a result that is as it was before the difference up to date.
    public func apply(to objects: inout [ObjectEntry]) { apply(to: &objects, id: \.id) { $0 } }

    /// The same for a result whose objects are kept in another form, which `item` makes of each that is new or changed.
    package func apply<Item>(
        to items: inout [Item], id: (Item) -> String, _ item: (ObjectEntry) throws -> Item
    ) rethrows {
        // Made first: if one cannot be, the result stays as it was.
        let made = try placed.map { (index: $0.index, item: try item($0.object)) }
        if isReset { items = [] }
        if !items.isEmpty {
            let named = Set(removed + placed.map(\.object.id))
            if !named.isEmpty { items.removeAll { named.contains(id($0)) } }
        }
        for (index, item) in made { items.insert(item, at: min(index, items.count)) }
    }
}
