extension ValuePlace {
    func assignSet(_ elements: [JSONValue]) {
        create(.set)
        draft.set.assign(elements)
    }

    /// Adds the elements. Elements that are present and not named stay: nothing leaves an add-only set.
    func assignAddOnlySet(_ elements: [JSONValue]) {
        create(.addOnlySet)
        for element in Set(elements).sorted() { draft.addOnlySet.insert(element) }
    }

    /// A value named twice stands where it is named first. What keeps its order among the rest is not moved.
    func assignOrderedSet(_ elements: [JSONValue]) {
        create(.orderedSet)
        let set = draft.orderedSet
        let target = elements.withoutRepetitions
        let wanted = Set(target)
        if let removal = set.value.operation(removing: set.value.filter { !wanted.contains($0) }) {
            set.record(removal)
        }
        let author = set.origin.dot.replica
        reordering(of: Array(set.value), to: target).run(
            index: { set.value.firstIndex(of: $0) ?? 0 },
            move: { source, index in
                if let move = set.value.operation(moving: source, to: index, by: author) { set.record(move) }
            },
            insert: { values, index in
                if let insertion = set.value.operation(inserting: values, at: index, by: author) {
                    set.record(insertion)
                }
                return values[values.count - 1]
            })
    }

    private func reordering(of present: [JSONValue], to target: [JSONValue]) -> Reordering<JSONValue, JSONValue> {
        let places = Dictionary(zip(present, present.indices), uniquingKeysWith: { first, _ in first })
        let kept = target.filter { places[$0] != nil }
        let staying = Set(kept.map { places[$0] ?? 0 }.longestIncreasingIndices().map { kept[$0] })
        var reordering = Reordering<JSONValue, JSONValue>()
        for value in target {
            if staying.contains(value) {
                reordering.append(.stays(value))
            } else {
                reordering.append(places[value] != nil ? .moves(value) : .inserts([value]))
            }
        }
        return reordering
    }
}
