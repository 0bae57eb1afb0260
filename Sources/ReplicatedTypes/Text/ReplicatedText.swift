/// A text that several replicas type into independently: a sequence of Unicode scalars.
///
/// A run typed in one place stays together, forward or backward, whatever other replicas typed there (FugueMax). A deletion
/// removes the scalars that its author had seen, and nothing else. The text is a `RandomAccessCollection` of scalars: offsets
/// count these.
///
/// Changes are operations: plan one with `operation(inserting:at:by:)`, `operation(deleting:by:)` or
/// `operations(setting:by:)` against the state it is made on, and apply it here and everywhere. `TextEditor` does so for a
/// user who types.
///
/// A text that is only read stays the bytes it arrived as; the structures for editing are built at the first edit.
public struct ReplicatedText: Replicated {
    /// An edit of a text.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the text visible although it is empty.
        case create
        /// Scalars next to each other; at least one.
        case insert(Placement, ExactString)
        /// The scalars with these dots; at least one.
        case delete([DotRange])
        /// All of the above that one author did in one go.
        case revise(TextRevision)
    }

    /// The scalars that a replica at some vector lacks, and the dots of all that are not deleted.
    public typealias Delta = TextContents

    /// The dots of explicit creations.
    var presence = DotSet()
    var storage = TextStorage.empty

    /// Creates a text that no replica has written yet.
    public init() {}

    /// True if a reader sees a scalar, or the creation of the text.
    public var isLive: Bool { !presence.isEmpty || !isEmpty }

    /// Returns one counter per scalar inserted or deleted; for a revision, one per scalar inserted.
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .create: 1
        case .insert(_, let text): UInt64(Swift.max(1, text.string.unicodeScalars.count))
        case .delete(let ranges): Swift.max(1, DotRange.span(of: ranges))
        case .revise(let revision): UInt64(revision.count)
        }
    }

    // MARK: Applying

    /// Applies an operation whose causal past is applied; see `Replicated`.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .create: presence.replace(at: origin)
        case .insert(let placement, let text): own().pointee.apply(placement, text, at: origin)
        case .delete(let ranges): own().pointee.apply(ranges, at: origin)
        case .revise(let revision): own().pointee.apply(revision, at: origin)
        }
    }

    /// Empty: no counters are inside.
    public var removal: Removal { Removal() }

    /// Removes what the author of `origin` had seen. What was inserted or edited apart survives.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        presence.remove(knownTo: origin)
        own().pointee.hideAll(knownTo: origin)
    }

    // MARK: Merging

    /// All positions that `vector` does not cover, their scalars unless deleted, and the dots of all scalars.
    public func delta(since vector: VersionVector) -> Delta {
        var contents = vector.isEmpty ? storage.contents : storage.columns(since: vector)
        contents.presence = presence
        return contents
    }

    /// Takes in a delta made at `theirs`, for a vector that `held` covers.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        guard !delta.columns.isEmpty else {
            own().pointee.join(TextColumns(), held: held, theirs: theirs)
            return
        }
        guard let columns = try? delta.read() else { return }
        if columns.isWhole, held.isEmpty, storage.isEmpty, theirs.covers(columns.vector),
            let text = Self(opening: delta)
        {
            storage = text.storage
        } else {
            own().pointee.join(columns, held: held, theirs: theirs)
        }
    }

    /// The whole state.
    var contents: TextContents { delta(since: VersionVector()) }

    /// A whole text from bytes that this program wrote itself: whether they are canonical is not looked at. Nil if they are
    /// none.
    public init?(opening contents: TextContents) {
        presence = contents.presence
        guard let storage = TextStorage(contents) else { return nil }
        self.storage = storage
    }

    /// The engine, ours alone, to be changed.
    @inline(__always)
    mutating func own() -> UnsafeMutablePointer<TextEngine> {
        if isKnownUniquelyReferenced(&storage), let engine = storage.changing {
            engine.pointee.settle()
            return engine
        }
        return ownAnew()
    }

    @inline(never)
    private mutating func ownAnew() -> UnsafeMutablePointer<TextEngine> {
        if !isKnownUniquelyReferenced(&storage) { storage = TextStorage(copying: storage) }
        return storage.own()
    }
}

extension ReplicatedText: Hashable {
    /// Equal states: whatever was applied or merged in which order, and positions of deleted scalars count too.
    public static func == (left: ReplicatedText, right: ReplicatedText) -> Bool {
        left.presence == right.presence && (left.storage === right.storage || left.contents == right.contents)
    }

    /// Agrees with `==`.
    public func hash(into hasher: inout Hasher) { hasher.combine(contents) }
}

extension ReplicatedText: Codable {
    /// Refuses what is not the contents of one.
    public init(from decoder: any Decoder) throws {
        guard let text = Self(opening: try TextContents(from: decoder)) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "not the contents of a text"))
        }
        self = text
    }

    /// Sorted, so that equal values give equal texts.
    public func encode(to encoder: any Encoder) throws { try contents.encode(to: encoder) }
}
