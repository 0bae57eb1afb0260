// Edits of lists, ordered sets and texts inside `Document.edit`. Indices count what the draft shows at that moment; one out
// of range is a programmer's error, as in `Array`.

// MARK: Lists

extension Draft {
    /// Makes the list visible while it is empty.
    public func create<Content>() where Value == ReplicatedList<Content> {
        if !value.isCreated { record(.create) }
    }

    /// Puts a new element before `index`, made by one operation on an empty value; gives its draft, to go on with.
    @discardableResult
    public func insert<Content>(_ operation: Content.Operation, at index: Int) -> Draft<Content>
    where Value == ReplicatedList<Content> {
        if let insertion = value.operation(inserting: [operation], at: index, by: origin.dot.replica) {
            record(insertion)
        }
        return self[index]
    }

    /// Puts new elements before `index`, as one run.
    public func insert<Content>(contentsOf contents: some Sequence<Content>, at index: Int)
    where Value == ReplicatedList<ReplicatedRegister<Content>> {
        let operations = contents.map { ReplicatedRegister<Content>.Operation.set($0) }
        if let insertion = value.operation(inserting: operations, at: index, by: origin.dot.replica) {
            record(insertion)
        }
    }

    /// Puts a new element before `index`.
    public func insert<Content>(_ content: Content, at index: Int)
    where Value == ReplicatedList<ReplicatedRegister<Content>> {
        insert(contentsOf: CollectionOfOne(content), at: index)
    }

    /// Puts a new element at the end.
    public func append<Content>(_ content: Content) where Value == ReplicatedList<ReplicatedRegister<Content>> {
        insert(contentsOf: CollectionOfOne(content), at: value.count)
    }

    /// Puts new elements at the end, as one run.
    public func append<Content>(contentsOf contents: some Sequence<Content>)
    where Value == ReplicatedList<ReplicatedRegister<Content>> {
        insert(contentsOf: contents, at: value.count)
    }

    /// The draft of the element that is at `index` now; it stays the draft of that element, wherever it is moved.
    public subscript<Content>(index: Int) -> Draft<Content> where Value == ReplicatedList<Content> {
        let identity = value.identity(at: index)
        let reference = DotReference(identity, by: origin.dot.replica)
        return nested({ $0.state(ofElement: identity) }, { .edit(reference, $0) })
    }

    /// Deletes the element at `index`.
    public func remove<Content>(at index: Int) where Value == ReplicatedList<Content> {
        removeSubrange(index..<index + 1)
    }

    /// Deletes the elements at `range`.
    public func removeSubrange<Content>(_ range: Range<Int>) where Value == ReplicatedList<Content> {
        if let deletion = value.operation(deleting: range, by: origin.dot.replica) { record(deletion) }
    }

    /// Moves the element at `source` so that it is found at `target` afterwards.
    public func move<Content>(from source: Int, to target: Int) where Value == ReplicatedList<Content> {
        if let move = value.operation(moving: source, to: target, by: origin.dot.replica) { record(move) }
    }
}

// MARK: Ordered sets

extension Draft {
    /// Makes the set visible while it is empty.
    public func create<Element>() where Value == ReplicatedOrderedSet<Element> {
        if !value.isCreated { record(.create) }
    }

    /// Puts a value before `index`. False, and nothing written, when it is in.
    @discardableResult
    public func insert<Element>(_ element: Element, at index: Int) -> Bool
    where Value == ReplicatedOrderedSet<Element> {
        guard let insertion = value.operation(inserting: [element], at: index, by: origin.dot.replica)
        else { return false }
        record(insertion)
        return true
    }

    /// Puts a value at the end. False, and nothing written, when it is in.
    @discardableResult
    public func append<Element>(_ element: Element) -> Bool where Value == ReplicatedOrderedSet<Element> {
        insert(element, at: value.count)
    }

    /// Puts those values at the end that are not in, as one run.
    public func append<Element>(contentsOf elements: some Sequence<Element>)
    where Value == ReplicatedOrderedSet<Element> {
        let insertion = value.operation(inserting: Array(elements), at: value.count, by: origin.dot.replica)
        if let insertion { record(insertion) }
    }

    /// Takes a value out. False, and nothing written, when it is not in.
    @discardableResult
    public func remove<Element>(_ element: Element) -> Bool where Value == ReplicatedOrderedSet<Element> {
        guard let removal = value.operation(removing: [element]) else { return false }
        record(removal)
        return true
    }

    /// Takes out the value at `index`.
    public func remove<Element>(at index: Int) where Value == ReplicatedOrderedSet<Element> {
        if let removal = value.operation(removing: index..<index + 1) { record(removal) }
    }

    /// Moves the value at `source` so that it is found at `target` afterwards.
    public func move<Element>(from source: Int, to target: Int) where Value == ReplicatedOrderedSet<Element> {
        if let move = value.operation(moving: source, to: target, by: origin.dot.replica) { record(move) }
    }
}

// MARK: Texts

extension Draft where Value == ReplicatedText {
    /// Makes the text visible while it is empty.
    public func create() {
        if !value.isCreated { record(.create) }
    }

    /// Types `text` at `offset`.
    public func insert(_ text: String, at offset: Int) {
        if let insertion = value.operation(inserting: text, at: offset, by: origin.dot.replica) { record(insertion) }
    }

    /// Types `text` at the end.
    public func append(_ text: String) { insert(text, at: value.count) }

    /// Deletes the scalars at `range`.
    public func removeSubrange(_ range: Range<Int>) {
        if let deletion = value.operation(deleting: range, by: origin.dot.replica) { record(deletion) }
    }

    /// Turns the text into `string` by few insertions and deletions.
    public func set(_ string: String) {
        for operation in value.operations(setting: string, by: origin.dot.replica) { record(operation) }
    }
}
