// Neighbours in sequences. The element beside which another was put may count nowhere, or not yet: another retired device wrote it,
// and has not written it again. What was put there goes to the beginning: elsewhere is better than nowhere.
extension ObjectFields.Operation {
    /// Returns the edit with the beginning in place of each neighbour that is not here; nil if it edits or moves an element that is not
    /// here, which nothing can do.
    ///
    /// - Parameters:
    ///   - fields: what is edited, as it is when the edit is written again.
    ///   - origin: where the edits begin that are written again together. What they insert is here by then.
    package func placed(in fields: ObjectFields, from origin: Origin) -> Self? {
        guard case .update(let key, let value) = self, value.namesPlaces else { return self }
        return value.placed(in: fields.state(of: key), from: origin).map { .update(key, $0) }
    }
}

extension ReplicatedValue.Operation {
    fileprivate var namesPlaces: Bool {
        switch self {
        case .register, .constant, .counter, .set, .addOnlySet: false
        case .list, .orderedSet, .text: true
        case .dictionary(.update(_, let nested)): nested.namesPlaces
        case .dictionary(.create), .dictionary(.remove): false
        }
    }

    fileprivate func placed(in value: ReplicatedValue, from origin: Origin) -> Self? {
        switch self {
        case .register, .constant, .counter, .set, .addOnlySet: return self
        case .dictionary(.update(let key, let nested)):
            return nested.placed(in: value.dictionary.state(of: key), from: origin).map {
                .dictionary(.update(key, $0))
            }
        case .dictionary(.create), .dictionary(.remove): return self
        case .list(let list):
            let state = value.list
            let neighbours = Neighbours(origin) { state.hasPosition(at: $0) }
            switch list {
            case .create, .delete: return self
            case .insert(let placement, let values): return .list(.insert(neighbours.place(placement), values))
            case .edit(let element, let edit):
                guard neighbours.has(element) else { return nil }
                let edited = edit.placed(in: state.state(ofElement: element.dot(by: origin.dot.replica)), from: origin)
                return edited.map { .list(.edit(element, $0)) }
            case .move(let element, let placement):
                return neighbours.has(element) ? .list(.move(element, neighbours.place(placement))) : nil
            }
        case .orderedSet(let set):
            let state = value.orderedSet
            let neighbours = Neighbours(origin) { state.hasPosition(at: $0) }
            switch set {
            case .create, .remove: return self
            case .insert(let placement, let values): return .orderedSet(.insert(neighbours.place(placement), values))
            case .move(let value, let placement): return .orderedSet(.move(value, neighbours.place(placement)))
            }
        case .text(let text):
            let state = value.text
            let neighbours = Neighbours(origin) { state.hasPosition(at: $0) }
            switch text {
            case .create, .delete: return self
            case .insert(let placement, let string): return .text(.insert(neighbours.place(placement), string))
            case .revise(let revision): return .text(.revise(revision.placing { neighbours.place($0) }))
            }
        }
    }
}

/// The positions beside which something can be put.
private struct Neighbours {
    private let origin: Origin
    private let isHere: (Dot) -> Bool

    init(_ origin: Origin, isHere: @escaping (Dot) -> Bool) {
        self.origin = origin
        self.isHere = isHere
    }

    func has(_ reference: DotReference) -> Bool {
        let dot = reference.dot(by: origin.dot.replica)
        return dot.replica == origin.dot.replica && dot.counter >= origin.dot.counter || isHere(dot)
    }

    func place(_ placement: Placement) -> Placement {
        switch placement {
        case .before(let next): return has(next) ? placement : .after(nil, .end)
        case .after(let previous, let rightOrigin):
            let next: DotReference? = if case .node(let next) = rightOrigin { next } else { nil }
            let hasNext = next.map(has) ?? true
            if previous.map(has) ?? true { return hasNext ? placement : .after(previous, .inherited) }
            if let next, hasNext { return .before(next) }
            return .after(nil, .end)
        }
    }
}
