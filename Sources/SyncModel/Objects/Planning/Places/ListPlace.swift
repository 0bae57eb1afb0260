/// A list in an object that is being written.
struct ListPlace {
    let draft: Draft<ReplicatedList<ReplicatedValue>>
    /// The path of the list.
    let path: [ExactString]

    private var author: ReplicaID { draft.origin.dot.replica }

    /// Makes the list read as `target`. Elements that are still meant keep their identity; a changed one is edited in
    /// place, exactly: whether a new value means an old element is a guess, and it must not inherit what was not named.
    func assign(_ target: [JSONValue]) throws(ObjectRefusal) {
        let identities = draft.value.identities
        let difference = difference(to: target, movesAtMost: movesAtMost(identities))
        delete(difference.removed.map { identities[$0] })
        let sources = Dictionary(difference.pairs.map { ($0.new, $0) }, uniquingKeysWith: { first, _ in first })
        var reordering = Reordering<Dot, Int>()
        for index in target.indices {
            guard let pair = sources[index] else {
                reordering.append(.inserts([index]))
                continue
            }
            let identity = identities[pair.old]
            reordering.append(pair.isMoved ? .moves(identity) : .stays(identity))
        }
        var begun: [(identity: Dot, index: Int)] = []
        reordering.run(
            index: { draft.value.index(ofElement: $0) ?? 0 }, move: { move(from: $0, to: $1) },
            insert: { indices, place in
                let added = begin(indices.map { target[$0] }, at: place)
                begun += zip(added, indices).map { ($0, $1) }
                return added[added.count - 1]
            })
        for pair in difference.pairs where pair.isEdited {
            try element(identities[pair.old], at: pair.new).assign(target[pair.new], replacing: true)
        }
        for (identity, index) in begun { try fill(identity, at: index, target[index]) }
    }

    private func difference(to target: [JSONValue], movesAtMost: Int) -> ListDifference {
        let types = draft.value.map { $0.shownType() }
        let present = draft.value.map { $0.json() ?? .null }
        return ListDifference(present, target, movesAtMost: movesAtMost) {
            types[$0]?.continues(present[$0], as: target[$1]) ?? true
        }
    }

    /// Returns the number of moves that take half of what one change may hold. A list of which more would move is written
    /// anew: an edit must not be refused for keeping identities that a shuffle of everything says little about.
    ///
    /// A move names its element, and mostly the element moved before it, which is the author's own. That takes about 16
    /// bytes, and 40 more for an element that another replica inserted. The containers around the list add their own bytes.
    private func movesAtMost(_ identities: [Dot]) -> Int {
        let author = author
        let isOwn = identities.allSatisfy { $0.replica == author }
        let elementBytes = isOwn ? 16 : 16 + ReplicaID.byteCount
        let containerBytes = path.reduce(0) { sum, key in
            sum + 4 + (key.elementIndex == nil ? key.string.utf8.count : ReplicaID.byteCount)
        }
        return Limits.operationsBytes / 2 / (elementBytes + containerBytes)
    }

    func element(_ identity: Dot, at index: Int) -> ValuePlace {
        ValuePlace(
            draft: draft.element(identity), path: path + [ExactString(String(index))], declared: nil, container: nil)
    }

    // MARK: One by one

    /// Puts new elements before the one at `index`.
    func insert(_ values: [JSONValue], at index: Int) throws(ObjectRefusal) {
        let identities = begin(values, at: index)
        for (offset, identity) in identities.enumerated() {
            try fill(identity, at: index + offset, values[offset])
        }
    }

    /// An element is inserted by one operation: a scalar with its value, a container empty.
    private func begin(_ values: [JSONValue], at index: Int) -> [Dot] {
        let first = draft.origin.dot
        let operations = values.map(\.firstOperation)
        if let insertion = draft.value.operation(inserting: operations, at: index, by: author) {
            draft.record(insertion)
        }
        var counter = first.counter
        return operations.map { operation in
            defer { counter += ReplicatedValue.span(of: operation) }
            return Dot(replica: first.replica, counter: counter)
        }
    }

    private func fill(_ identity: Dot, at index: Int, _ value: JSONValue) throws(ObjectRefusal) {
        switch value {
        case .null, .bool, .integer, .double, .string, .array([]), .object([]): break
        case .array, .object: try element(identity, at: index).assign(value, replacing: true)
        }
    }

    func delete(_ identities: [Dot]) {
        if !identities.isEmpty { draft.record(.delete(DotRange.ranges(of: identities, by: author))) }
    }

    func move(from source: Int, to index: Int) {
        if let move = draft.value.operation(moving: source, to: index, by: author) { draft.record(move) }
    }

    /// An element whose type cannot take the value gives way to another.
    func set(_ value: JSONValue, at index: Int, resolves: Bool) throws(ObjectRefusal) {
        let identity = draft.value.identity(at: index)
        let place = element(identity, at: index)
        let types = place.draft.value.types
        guard place.continues(as: value), !resolves || types.count < 2 else {
            delete([identity])
            return try insert([value], at: index)
        }
        try place.assign(value, replacing: true)
    }
}

extension JSONValue {
    fileprivate var firstOperation: ReplicatedValue.Operation {
        switch self {
        case .null, .bool, .integer, .double, .string: .register(.set(self))
        case .array: .list(.create)
        case .object: .dictionary(.create)
        }
    }
}
