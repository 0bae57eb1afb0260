/// The part of a field that a replica lacks, in one of its types.
enum TypedDelta: Hashable, Sendable, Codable {
    case register(ReplicatedRegister<JSONValue>.Delta)
    case constant(Constant<JSONValue>.Delta)
    case counter(ReplicatedCounter.Delta)
    case set(ReplicatedSet<JSONValue>.Delta)
    case addOnlySet(AddOnlySet<JSONValue>.Delta)
    indirect case list(ReplicatedList<ReplicatedValue>.Delta)
    indirect case orderedSet(ReplicatedOrderedSet<JSONValue>.Delta)
    indirect case text(ReplicatedText.Delta)
    indirect case dictionary(ReplicatedDictionary<ExactString, ReplicatedValue>.Delta)

    /// Creates the delta of a field that no replica has written.
    init(nothing type: FieldType) {
        let vector = VersionVector()
        switch type {
        case .register: self = .register(ReplicatedRegister<JSONValue>().delta(since: vector))
        case .constant: self = .constant(Constant<JSONValue>().delta(since: vector))
        case .counter: self = .counter(ReplicatedCounter().delta(since: vector))
        case .set: self = .set(ReplicatedSet<JSONValue>().delta(since: vector))
        case .addOnlySet: self = .addOnlySet(AddOnlySet<JSONValue>().delta(since: vector))
        case .list: self = .list(ReplicatedList<ReplicatedValue>().delta(since: vector))
        case .orderedSet: self = .orderedSet(ReplicatedOrderedSet<JSONValue>().delta(since: vector))
        case .text: self = .text(ReplicatedText().delta(since: vector))
        case .dictionary: self = .dictionary(ReplicatedDictionary<ExactString, ReplicatedValue>().delta(since: vector))
        }
    }

    var type: FieldType {
        switch self {
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

extension TypedState {
    func delta(since vector: VersionVector) -> TypedDelta {
        switch self {
        case .moved: preconditionFailure("a state is looked at while it is changed")
        case .register(let state): .register(state.delta(since: vector))
        case .constant(let state): .constant(state.delta(since: vector))
        case .counter(let state): .counter(state.delta(since: vector))
        case .set(let state): .set(state.delta(since: vector))
        case .addOnlySet(let state): .addOnlySet(state.delta(since: vector))
        case .list(let state): .list(state.delta(since: vector))
        case .orderedSet(let state): .orderedSet(state.delta(since: vector))
        case .text(let state): .text(state.delta(since: vector))
        case .dictionary(let state): .dictionary(state.delta(since: vector))
        }
    }

    /// Joins a delta of the same type; any other is left out.
    mutating func join(_ delta: TypedDelta, held: VersionVector, theirs: VersionVector) {
        switch delta {
        case .register(let delta):
            update(\.register, Self.register) { $0.join(delta, held: held, theirs: theirs) }
        case .constant(let delta):
            update(\.constant, Self.constant) { $0.join(delta, held: held, theirs: theirs) }
        case .counter(let delta):
            update(\.counter, Self.counter) { $0.join(delta, held: held, theirs: theirs) }
        case .set(let delta):
            update(\.set, Self.set) { $0.join(delta, held: held, theirs: theirs) }
        case .addOnlySet(let delta):
            update(\.addOnlySet, Self.addOnlySet) { $0.join(delta, held: held, theirs: theirs) }
        case .list(let delta):
            update(\.list, Self.list) { $0.join(delta, held: held, theirs: theirs) }
        case .orderedSet(let delta):
            update(\.orderedSet, Self.orderedSet) { $0.join(delta, held: held, theirs: theirs) }
        case .text(let delta):
            update(\.text, Self.text) { $0.join(delta, held: held, theirs: theirs) }
        case .dictionary(let delta):
            update(\.dictionary, Self.dictionary) { $0.join(delta, held: held, theirs: theirs) }
        }
    }
}
