/// A text that several replicas type into apart: a sequence of Unicode scalars.
///
/// A run typed in one place stays together, whatever others typed there, forward or backward (FugueMax); a deletion takes
/// away the scalars that its author had seen, and nothing else. A `RandomAccessCollection` of scalars: offsets count these.
///
/// Changes are operations: plan one with `operation(inserting:at:by:)`, `operation(deleting:by:)` or
/// `operations(setting:by:)` against the state it is made on, and apply it here and everywhere.
public struct ReplicatedText: Replicated {
    /// An edit of a text.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the text visible although it is empty.
        case create
        /// Scalars next to each other; at least one.
        case insert(Placement, ExactString)
        /// The scalars with these dots; at least one.
        case delete([DotRange])
    }

    /// What a replica at some vector lacks: its new scalars, and the dots of all that are not deleted.
    public typealias Delta = TextContents

    typealias Node = PositionTree.Node

    /// In place of a scalar that was deleted: its position stays, for others may have typed beside it.
    private static let deleted = UInt32.max

    /// The dots of explicit creations.
    var presence = DotSet()
    var tree = PositionTree()
    /// By node.
    private var scalars: ContiguousArray<UInt32> = []

    /// A text that nobody has written yet.
    public init() {}

    /// Whether a reader sees a scalar, or that the text was created.
    public var isLive: Bool { tree.order.shownCount > 0 || !presence.isEmpty }

    /// One counter per scalar inserted or deleted.
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .create: 1
        case .insert(_, let text): UInt64(Swift.max(1, text.string.unicodeScalars.count))
        case .delete(let ranges): Swift.max(1, DotRange.span(of: ranges))
        }
    }

    // MARK: Applying

    /// Applies an operation whose causal past is applied; see `Replicated`.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .create: presence.replace(at: origin)
        case .insert(let placement, let text):
            let inserted = text.string.unicodeScalars
            guard tree.insert(placement, count: inserted.count, at: origin) != nil else { return }
            for scalar in inserted { append(scalar) }
        case .delete(let ranges): for node in tree.seen(ranges, at: origin) { delete(node) }
        }
    }

    /// Shows `scalar` at the next node.
    private mutating func append(_ scalar: Unicode.Scalar) {
        tree.order.setShown(Node(scalars.count), true)
        scalars.append(scalar.value)
    }

    private mutating func delete(_ node: Node) {
        guard scalars[Int(node)] != Self.deleted else { return }
        scalars[Int(node)] = Self.deleted
        tree.order.setShown(node, false)
    }

    /// Empty: no counters are inside.
    public var removal: Removal { Removal() }

    /// Removes what the author of `origin` had seen. What was inserted or edited apart survives.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        presence.remove(knownTo: origin)
        let takesAll = origin.faults.contains(.textRemovalTakesAll)
        for node in 0..<Node(tree.count) where takesAll || origin.knows(tree.dot(of: node)) { delete(node) }
    }

    // MARK: Merging

    /// All positions that `vector` does not cover, their scalars unless deleted, and the dots of all scalars.
    public func delta(since vector: VersionVector) -> Delta {
        var contents = TextContents()
        contents.presence = presence
        contents.skeleton = tree.skeleton(since: vector)
        contents.live = live
        contents.scalars = ExactString(string(of: tree.nodesByDot(since: vector).filter { isShown($0) }))
        return contents
    }

    /// Takes in a delta made at `theirs`, for a vector that `held` covers.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        for node in 0..<Node(tree.count) where isShown(node) {
            let dot = tree.dot(of: node)
            if theirs.covers(dot), !delta.live.contains(dot) { delete(node) }
        }
        insert(delta, held: held)
    }

    /// The dots of all scalars that are not deleted.
    private var live: DotRuns { DotRuns(tree.nodesByDot().filter { isShown($0) }.map { tree.dot(of: $0) }) }

    /// Adds the positions of `contents` that are not here, and shows those that live there and were never held here.
    /// False unless each position had a place, and each living one a scalar.
    @discardableResult
    private mutating func insert(_ contents: TextContents, held: VersionVector) -> Bool {
        let present = Node(tree.count)
        let isWhole = tree.insert(contents.skeleton)
        scalars.append(contentsOf: repeatElement(Self.deleted, count: tree.count - scalars.count))
        var rest = contents.scalars.string.unicodeScalars[...]
        for run in contents.skeleton.runs {
            for node in tree.nodes(from: run.first, count: run.count) {
                let dot = tree.dot(of: node)
                guard contents.live.contains(dot) else { continue }
                guard let scalar = rest.popFirst() else { return false }
                if node >= present, !held.covers(dot) {
                    scalars[Int(node)] = scalar.value
                    tree.order.setShown(node, true)
                }
            }
        }
        return isWhole && rest.isEmpty
    }

    /// The whole state.
    var contents: TextContents { delta(since: VersionVector()) }

    /// Nil unless these are the contents of a text: every position has a place, every scalar a position.
    init?(_ contents: TextContents) {
        presence = contents.presence
        guard insert(contents, held: VersionVector()), live == contents.live else { return nil }
    }

    // MARK: Reading

    func isShown(_ node: Node) -> Bool { scalars[Int(node)] != Self.deleted }

    func scalar(at node: Node) -> Unicode.Scalar {
        guard let scalar = Unicode.Scalar(scalars[Int(node)]) else {
            preconditionFailure("a shown node of a text has its scalar")
        }
        return scalar
    }

    func string(of nodes: some Sequence<Node>) -> String {
        var string = String.UnicodeScalarView()
        for node in nodes { string.append(scalar(at: node)) }
        return String(string)
    }
}

/// A text, or what a replica lacks of one, in canonical form: what is compared, hashed, kept and shipped.
public struct TextContents: Hashable, Sendable, Codable {
    var presence = DotSet()
    /// Deleted scalars too.
    var skeleton = Skeleton()
    /// The dots of all scalars that are not deleted, also of those before the skeleton.
    var live = DotRuns()
    /// Of the skeleton's positions that live, sorted by dot.
    var scalars = ExactString("")
}

extension ReplicatedText: Hashable {
    /// Equal states: whatever was applied or merged in which order, and positions of deleted scalars count too.
    public static func == (left: ReplicatedText, right: ReplicatedText) -> Bool {
        left.tree.count == right.tree.count && left.presence == right.presence && left.contents == right.contents
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(contents) }
}

extension ReplicatedText: Codable {
    /// Refuses what is not the contents of one.
    public init(from decoder: any Decoder) throws {
        let contents = try TextContents(from: decoder)
        guard let text = Self(contents) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the contents of a text"))
        }
        self = text
    }

    /// Sorted, so that equal values give equal texts.
    public func encode(to encoder: any Encoder) throws { try contents.encode(to: encoder) }
}
