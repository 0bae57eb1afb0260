/// A dictionary whose values are replicated types themselves and merge with their own rules, as deep as they nest.
///
///     var settings = ReplicatedDictionary<ExactString, ReplicatedRegister<Int>>()
///     settings.apply(.update("volume", .set(7)), at: origin)
///     settings["volume"]?.value    // 7
///
/// A key is there while something live is under it. Removing it removes what the remover had seen below; an edit made
/// apart survives, and with it the key. What a value keeps although nothing of it is live (a counter's removed sum, the
/// places of a list) stays here, hidden.
public struct ReplicatedDictionary<Key: ReplicableElement & ByteCoded, Value: Replicated>: Replicated {
    /// The operations on a dictionary.
    public enum Operation: Hashable, Sendable, Codable {
        /// Makes the dictionary visible, even while it is empty.
        case create
        /// Edits the value under a key, which is there from then on if the edit makes it live.
        case update(Key, Value.Operation)
        /// Removes what the author had seen under a key, with `removal` of the value as it was then.
        case remove(Key, Removal)
    }

    // What other modules call for each edit is inlinable: a generic function whose body they do not see is not specialized
    // for them, and putting objects took a quarter longer.

    /// Invariant: no value equals `Value()`.
    @usableFromInline var children: [Key: Value] = [:]
    @usableFromInline var presence = DotSet()
    /// The number of live `children`.
    @usableFromInline var liveCount = 0

    /// Creates a dictionary that no replica has created yet.
    public init() {}

    /// True if a reader sees anything of it.
    @inlinable public var isLive: Bool { liveCount > 0 || !presence.isEmpty }

    /// The number of counters that the operation owns.
    @inlinable
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .create, .remove: 1
        case .update(_, let nested): Value.span(of: nested)
        }
    }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    @inlinable
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        switch operation {
        case .create: presence.replace(at: origin)
        case .update(let key, let nested): change(key) { $0.apply(nested, at: origin) }
        // Also of a key that is not here: whether it is depends on what was made apart, and may not matter.
        case .remove(let key, let removal):
            change(key) { value in
                if origin.faults.contains(.dictionaryDropsConcurrentEdit) { value = Value() }
                value.remove(removal, at: origin)
            }
        }
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal {
        guard liveCount > 0 else { return Removal() }
        var found: [Removal.Child] = []
        for (key, value) in children where value.isLive {
            let removal = value.removal
            if !removal.isEmpty { found.append(Removal.Child(key: key.canonicalBytes, removal: removal)) }
        }
        return Removal(children: found.sorted { $0.key.lexicographicallyPrecedes($1.key) })
    }

    /// Removes everything the author of `origin` had seen.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        presence.remove(knownTo: origin)
        var rest: [Key: Removal] = [:]
        for child in removal.children {
            if let key = try? Key(canonicalBytes: child.key) { rest[key] = child.removal }
        }
        for key in Array(children.keys) {
            let nested = rest.removeValue(forKey: key) ?? Removal()
            change(key) { $0.remove(nested, at: origin) }
        }
        for (key, nested) in rest { change(key) { $0.remove(nested, at: origin) } }
    }

    /// Changes one value in place; it comes and goes with what it holds.
    @inlinable
    package mutating func change(_ key: Key, _ body: (inout Value) -> Void) {
        guard let index = children.index(forKey: key) else {
            var value = Value()
            body(&value)
            guard value != Value() else { return }
            if value.isLive { liveCount += 1 }
            children[key] = value
            return
        }
        let wasLive = children.values[index].isLive
        body(&children.values[index])
        let isLive = children.values[index].isLive
        if wasLive != isLive { liveCount += isLive ? 1 : -1 }
        if !isLive, children.values[index] == Value() { children.remove(at: index) }
    }
}
