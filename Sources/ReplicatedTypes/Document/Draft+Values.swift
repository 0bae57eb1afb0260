extension Draft {
    /// Replaces the value, and with it all conflicts that are here. Setting what is shown writes nothing.
    @inlinable
    public func set<Content>(_ content: Content) where Value == ReplicatedRegister<Content> {
        if let operation = value.setting(content) { record(operation) }
    }

    /// Gives the constant its value. Setting what it is writes nothing; throws `ConstantAlreadySet` for another value.
    public func set<Content>(_ content: Content) throws(ConstantAlreadySet) where Value == Constant<Content> {
        guard let existing = value.value else { return record(.set(content)) }
        guard existing == content else { throw ConstantAlreadySet() }
    }
}

/// A constant is set once and never again.
public struct ConstantAlreadySet: Error, Hashable, Sendable {
    /// The one refusal there is.
    public init() {}
}

extension Draft where Value == ReplicatedCounter {
    /// Adds to the counter. False, and nothing written, when this replica's sum would leave 64 bits.
    @discardableResult
    public func increment(by amount: Int64 = 1) -> Bool {
        guard value.canIncrement(by: amount, as: origin.dot.replica) else { return false }
        record(.increment(by: amount))
        return true
    }

    /// Takes away from the counter, as `increment(by:)` adds.
    @discardableResult
    public func decrement(by amount: Int64 = 1) -> Bool {
        amount == .min ? false : increment(by: -amount)
    }
}

extension Draft {
    /// Makes the set visible while it is empty.
    public func create<Element>() where Value == ReplicatedSet<Element> {
        if !value.isCreated { record(.create) }
    }

    /// Puts the element in. False, and nothing written, when it is in.
    @discardableResult
    public func insert<Element>(_ element: Element) -> Bool where Value == ReplicatedSet<Element> {
        guard !value.contains(element) else { return false }
        record(.add(element))
        return true
    }

    /// Takes the element out. False, and nothing written, when it is not in.
    @discardableResult
    public func remove<Element>(_ element: Element) -> Bool where Value == ReplicatedSet<Element> {
        guard value.contains(element) else { return false }
        record(.remove(element))
        return true
    }

    /// Makes the set hold exactly these elements: what is missing is put in, what is too much is taken out.
    public func assign<Element>(_ elements: some Sequence<Element>) where Value == ReplicatedSet<Element> {
        let wanted = Set(elements)
        for element in value where !wanted.contains(element) { remove(element) }
        for element in wanted.sorted() { insert(element) }
    }

    /// Makes the set visible while it is empty.
    public func create<Element>() where Value == AddOnlySet<Element> {
        if !value.isCreated { record(.create) }
    }

    /// Puts the element in. False, and nothing written, when it is in.
    @discardableResult
    public func insert<Element>(_ element: Element) -> Bool where Value == AddOnlySet<Element> {
        guard !value.contains(element) else { return false }
        record(.add(element))
        return true
    }
}

extension Draft {
    /// Makes the dictionary visible while it is empty.
    @inlinable
    public func create<Key, Content>() where Value == ReplicatedDictionary<Key, Content> {
        if !value.isCreated { record(.create) }
    }

    /// The draft of what is under a key; the key is there as soon as something live is.
    @inlinable
    public subscript<Key, Content>(key: Key) -> Draft<Content> where Value == ReplicatedDictionary<Key, Content> {
        nested({ $0.state(of: key) }, { .update(key, $0) })
    }

    /// Edits what is under a key.
    @inlinable
    public func update<Key, Content, Failure: Error>(
        _ key: Key, _ body: (inout Draft<Content>) throws(Failure) -> Void
    ) throws(Failure) where Value == ReplicatedDictionary<Key, Content> {
        var draft = self[key]
        try body(&draft)
    }

    /// Removes a key with all that is seen below it. False, and nothing written, when it is not there.
    @inlinable @discardableResult
    public func removeValue<Key, Content>(forKey key: Key) -> Bool
    where Value == ReplicatedDictionary<Key, Content> {
        guard let operation = value.removing(key) else { return false }
        record(operation)
        return true
    }
}
