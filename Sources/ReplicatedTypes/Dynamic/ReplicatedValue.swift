/// A replicated value whose type is known only when it runs: a field of an object, or what is inside one.
///
/// It is register, constant, counter, set, list, … as the operations say. Two nodes may give one field different types;
/// both survive, one is shown (`json(preferring:)`), `otherTypes` names the rest. Elements are `JSONValue`; lists and
/// dictionaries hold replicated values again, up to `ByteReader.maximumDepth` deep.
public struct ReplicatedValue: Replicated {
    /// An edit, in one type.
    public enum Operation: Hashable, Sendable, Codable {
        /// An operation on the register.
        case register(ReplicatedRegister<JSONValue>.Operation)
        /// An operation on the constant.
        case constant(Constant<JSONValue>.Operation)
        /// An operation on the counter.
        case counter(ReplicatedCounter.Operation)
        /// An operation on the set.
        case set(ReplicatedSet<JSONValue>.Operation)
        /// An operation on the add-only set.
        case addOnlySet(AddOnlySet<JSONValue>.Operation)
        /// An operation on the list.
        indirect case list(ReplicatedList<ReplicatedValue>.Operation)
        /// An operation on the ordered set.
        case orderedSet(ReplicatedOrderedSet<JSONValue>.Operation)
        /// An operation on the text.
        case text(ReplicatedText.Operation)
        /// An operation on the dictionary.
        indirect case dictionary(ReplicatedDictionary<ExactString, ReplicatedValue>.Operation)

        /// The type it edits.
        public var type: FieldType {
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

    /// The states, sorted by type; empty for a value that no replica has written.
    private(set) var states: Few<TypedState> = .none

    /// Creates a value that no replica has written yet.
    public init() {}

    /// Sorted by type, none of them empty.
    init(_ states: [TypedState]) { self.states = Few(states) }

    /// True if a reader sees anything of it.
    public var isLive: Bool { states.contains(where: \.isLive) }

    /// The number of counters that the operation owns.
    public static func span(of operation: Operation) -> UInt64 {
        switch operation {
        case .register(let operation): ReplicatedRegister<JSONValue>.span(of: operation)
        case .constant(let operation): Constant<JSONValue>.span(of: operation)
        case .counter(let operation): ReplicatedCounter.span(of: operation)
        case .set(let operation): ReplicatedSet<JSONValue>.span(of: operation)
        case .addOnlySet(let operation): AddOnlySet<JSONValue>.span(of: operation)
        case .list(let operation): ReplicatedList<ReplicatedValue>.span(of: operation)
        case .orderedSet(let operation): ReplicatedOrderedSet<JSONValue>.span(of: operation)
        case .text(let operation): ReplicatedText.span(of: operation)
        case .dictionary(let operation): ReplicatedDictionary<ExactString, ReplicatedValue>.span(of: operation)
        }
    }

    /// Applies an operation whose causal past is applied; again, it changes nothing.
    public mutating func apply(_ operation: Operation, at origin: Origin) {
        change(operation.type) { $0.apply(operation, at: origin) }
    }

    /// The data about inner counters that a removal of the whole has to carry.
    public var removal: Removal {
        Removal(
            children: states.compactMap { state in
                let removal = state.isLive ? state.removal : Removal()
                return removal.isEmpty ? nil : Removal.Child(key: [state.type.rank], removal: removal)
            })
    }

    /// Removes everything the author of `origin` had seen.
    public mutating func remove(_ removal: Removal, at origin: Origin) {
        for type in FieldType.allCases {
            let nested = removal.child([type.rank])
            guard !nested.isEmpty || state(type) != nil else { continue }
            change(type) { $0.remove(nested, at: origin) }
        }
    }

    /// Changes the text, if there is one, where it is.
    package mutating func changeText(_ body: (inout ReplicatedText) -> Void) {
        guard state(.text) != nil else { return }
        change(.text) { $0.update(\.text, TypedState.text, body) }
    }

    func state(_ type: FieldType) -> TypedState? { states.first { $0.type == type } }

    /// Changes the state of one type in place; it comes and goes with what it holds.
    private mutating func change(_ type: FieldType, _ body: (inout TypedState) -> Void) {
        let index = states.firstIndex { $0.type >= type } ?? states.count
        if index < states.count, states[index].type == type {
            states.update(at: index, body)
            let state = states[index]
            if !state.isLive, state == TypedState(type) { states.removeAll { $0.type == type } }
        } else {
            var state = TypedState(type)
            body(&state)
            if state != TypedState(type) { states.insert(state, at: index) }
        }
    }
}

extension ReplicatedValue {
    /// The part of a value that a replica lacks, in each of its types.
    public struct Delta: Hashable, Sendable, Codable {
        /// Sorted by type; none of a type of which there is nothing to say.
        var deltas: [TypedDelta]
    }

    /// Returns the part that a replica which holds `vector` lacks.
    public func delta(since vector: VersionVector) -> Delta {
        Delta(
            deltas: states.compactMap { state in
                let delta = state.delta(since: vector)
                return delta == TypedDelta(nothing: state.type) ? nil : delta
            })
    }

    /// Takes in a delta that was made at `theirs`.
    public mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        for type in states.map(\.type) where !delta.deltas.contains(where: { $0.type == type }) {
            change(type) { $0.join(TypedDelta(nothing: type), held: held, theirs: theirs) }
        }
        for delta in delta.deltas { change(delta.type) { $0.join(delta, held: held, theirs: theirs) } }
    }
}

extension ReplicatedValue: Codable {
    /// Decodes what `encode(to:)` wrote.
    public init(from decoder: any Decoder) throws {
        let decoded = try decoder.singleValueContainer().decode([TypedState].self)
        for state in decoded {
            if case .moved = state {
                throw DecodingError.dataCorrupted(
                    DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "a state of no type"))
            }
            change(state.type) { $0 = state }
        }
    }

    /// Encodes the whole, in one order everywhere.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(Array(states))
    }
}
