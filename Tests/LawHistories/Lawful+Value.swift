package import ReferenceModels
package import SyncModel

extension ReplicatedValue: Lawful {
    package static var shape: Shape { .any }

    package var reading: Reading {
        let types = types
        // What applications read must fit what is kept.
        guard (json() == nil) == types.isEmpty, isLive == !types.isEmpty, shownType() == types.first,
            otherTypes() == Array(types.dropFirst())
        else { return .values(["json and types disagree"]) }
        if types.isEmpty { return .nothing }
        return .typed(types.map { Reading.Part(kind: Kind($0), value: reading(as: $0)) })
    }

    private func reading(as type: FieldType) -> Reading {
        switch type {
        case .register: register.reading
        case .constant: constant.reading
        case .counter: counter.reading
        case .set: set.reading
        case .addOnlySet: addOnlySet.reading
        case .list: list.reading
        case .orderedSet: orderedSet.reading
        case .text: text.reading
        case .dictionary: dictionary.reading
        }
    }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        guard case .typed(let kind, let nested) = intent else { return [] }
        switch kind {
        case .register: return register.operations(for: nested, by: author).map { .register($0) }
        case .constant: return constant.operations(for: nested, by: author).map { .constant($0) }
        case .counter: return counter.operations(for: nested, by: author).map { .counter($0) }
        case .set: return set.operations(for: nested, by: author).map { .set($0) }
        case .addOnlySet: return addOnlySet.operations(for: nested, by: author).map { .addOnlySet($0) }
        case .list: return list.operations(for: nested, by: author).map { .list($0) }
        case .orderedSet: return orderedSet.operations(for: nested, by: author).map { .orderedSet($0) }
        case .text: return text.operations(for: nested, by: author).map { .text($0) }
        case .dictionary: return dictionary.operations(for: nested, by: author).map { .dictionary($0) }
        }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        let nested: PlainOperation =
            switch operation {
            case .register(let nested): ReplicatedRegister<JSONValue>.plain(nested, by: author, in: cast)
            case .constant(let nested): Constant<JSONValue>.plain(nested, by: author, in: cast)
            case .counter(let nested): ReplicatedCounter.plain(nested, by: author, in: cast)
            case .set(let nested): ReplicatedSet<JSONValue>.plain(nested, by: author, in: cast)
            case .addOnlySet(let nested): AddOnlySet<JSONValue>.plain(nested, by: author, in: cast)
            case .list(let nested): ReplicatedList<ReplicatedValue>.plain(nested, by: author, in: cast)
            case .orderedSet(let nested): ReplicatedOrderedSet<JSONValue>.plain(nested, by: author, in: cast)
            case .text(let nested): ReplicatedText.plain(nested, by: author, in: cast)
            case .dictionary(let nested):
                ReplicatedDictionary<ExactString, ReplicatedValue>.plain(nested, by: author, in: cast)
            }
        return .typed(Kind(operation.type), nested)
    }
}

extension Kind {
    fileprivate init(_ type: FieldType) {
        self =
            switch type {
            case .register: .register
            case .constant: .constant
            case .counter: .counter
            case .set: .set
            case .addOnlySet: .addOnlySet
            case .list: .list
            case .orderedSet: .orderedSet
            case .text: .text
            case .dictionary: .dictionary
            }
    }
}
