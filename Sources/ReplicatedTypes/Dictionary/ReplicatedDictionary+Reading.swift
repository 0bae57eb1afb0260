extension ReplicatedDictionary {
    /// The value under `key`; nil when nothing live is there. Constant time.
    @inlinable
    public subscript(key: Key) -> Value? {
        guard let value = children[key], value.isLive else { return nil }
        return value
    }

    /// The value under `key`, or `initial` when nothing live is there.
    public subscript(key: Key, default initial: @autoclosure () -> Value) -> Value { self[key] ?? initial() }

    /// The value under `key` with all that it keeps, live or not: what an edit of the key starts from.
    @inlinable
    public func state(of key: Key) -> Value { children[key] ?? Value() }

    /// The number of keys.
    @inlinable public var count: Int { liveCount }

    /// True if there is no key. An empty dictionary that was created is live all the same.
    @inlinable public var isEmpty: Bool { liveCount == 0 }

    /// True if a replica created the dictionary explicitly, so that it is present even when empty.
    @inlinable public var isCreated: Bool { !presence.isEmpty }

    /// The keys in order.
    @inlinable public var keys: [Key] { children.lazy.filter { $0.value.isLive }.map { $0.key }.sorted() }

    /// The values in the order of their keys.
    public var values: [Value] { map { $0.value } }

    /// Returns the removal of `key`; nil if it is not present.
    @inlinable
    public func removing(_ key: Key) -> Operation? { self[key].map { .remove(key, $0.removal) } }
}

/// The members in ascending order of the keys, the same on every node. Each iteration sorts anew.
extension ReplicatedDictionary: Sequence {
    /// A key and the live value under it.
    public typealias Element = (key: Key, value: Value)

    /// Over all of it, in order.
    @inlinable
    public func makeIterator() -> IndexingIterator<[Element]> {
        children.lazy.filter { $0.value.isLive }.map { (key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
            .makeIterator()
    }

    /// The count.
    public var underestimatedCount: Int { count }
}

extension ReplicatedDictionary: CustomStringConvertible {
    /// The keys in order, each with its value.
    public var description: String {
        isEmpty ? "[:]" : "[" + map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
    }
}
