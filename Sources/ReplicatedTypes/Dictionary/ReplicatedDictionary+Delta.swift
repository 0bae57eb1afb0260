extension ReplicatedDictionary {
    /// The part of a dictionary that a replica lacks.
    public struct Delta: Hashable, Sendable {
        var presence: DotSet
        /// The delta of each value beyond `Value()`. A key without one has nothing live at the sender.
        var children: [Key: Value.Delta]
    }

    /// Returns the part that a replica which holds `vector` lacks.
    public func delta(since vector: VersionVector) -> Delta {
        let nothing = Value().delta(since: vector)
        var deltas: [Key: Value.Delta] = [:]
        deltas.reserveCapacity(children.count)
        for (key, value) in children {
            let delta = value.delta(since: vector)
            if delta != nothing { deltas[key] = delta }
        }
        return Delta(presence: presence, children: deltas)
    }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        presence.join(delta.presence, held: held, theirs: theirs)
        let nothing = Value().delta(since: VersionVector())
        for key in Array(children.keys) where delta.children[key] == nil {
            change(key) { $0.join(nothing, held: held, theirs: theirs) }
        }
        for (key, nested) in delta.children { change(key) { $0.join(nested, held: held, theirs: theirs) } }
    }
}

extension ReplicatedDictionary.Delta: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let coded = try CodedChildren<Key, Value.Delta>(from: decoder)
        presence = coded.presence
        children = coded.dictionary
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        try CodedChildren(presence: presence, children).encode(to: encoder)
    }
}

extension ReplicatedDictionary: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let coded = try CodedChildren<Key, Value>(from: decoder)
        presence = coded.presence
        children = coded.dictionary.filter { $1 != Value() }
        liveCount = children.values.count { $0.isLive }
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        try CodedChildren(presence: presence, children).encode(to: encoder)
    }
}

/// Keys with what is under them as they leave the process: sorted.
private struct CodedChildren<Key: ReplicableElement, Content: Codable>: Codable {
    struct Entry: Codable {
        let key: Key
        let value: Content
    }

    let presence: DotSet
    let entries: [Entry]

    init(presence: DotSet, _ children: [Key: Content]) {
        self.presence = presence
        entries = children.map { Entry(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    }

    var dictionary: [Key: Content] {
        Dictionary(entries.lazy.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    }
}
