/// The state of a field in one of its types.
enum TypedState: Hashable, Sendable, Codable {
    /// The state while it is being changed: the code that changes it must be its only owner, or it would be copied.
    case moved
    case register(ReplicatedRegister<JSONValue>)
    case constant(Constant<JSONValue>)
    case counter(ReplicatedCounter)
    case set(ReplicatedSet<JSONValue>)
    case addOnlySet(AddOnlySet<JSONValue>)
    indirect case list(ReplicatedList<ReplicatedValue>)
    indirect case orderedSet(ReplicatedOrderedSet<JSONValue>)
    indirect case text(ReplicatedText)
    case dictionary(ReplicatedDictionary<ExactString, ReplicatedValue>)

    init(_ type: FieldType) {
        switch type {
        case .register: self = .register(ReplicatedRegister<JSONValue>())
        case .constant: self = .constant(Constant<JSONValue>())
        case .counter: self = .counter(ReplicatedCounter())
        case .set: self = .set(ReplicatedSet<JSONValue>())
        case .addOnlySet: self = .addOnlySet(AddOnlySet<JSONValue>())
        case .list: self = .list(ReplicatedList<ReplicatedValue>())
        case .orderedSet: self = .orderedSet(ReplicatedOrderedSet<JSONValue>())
        case .text: self = .text(ReplicatedText())
        case .dictionary: self = .dictionary(ReplicatedDictionary<ExactString, ReplicatedValue>())
        }
    }

    var type: FieldType {
        switch self {
        case .moved: preconditionFailure("a state is looked at while it is changed")
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

    var isLive: Bool {
        switch self {
        case .moved: false
        case .register(let state): state.isLive
        case .constant(let state): state.isLive
        case .counter(let state): state.isLive
        case .set(let state): state.isLive
        case .addOnlySet(let state): state.isLive
        case .list(let state): state.isLive
        case .orderedSet(let state): state.isLive
        case .text(let state): state.isLive
        case .dictionary(let state): state.isLive
        }
    }

    var removal: Removal {
        switch self {
        case .moved: Removal()
        case .register(let state): state.removal
        case .constant(let state): state.removal
        case .counter(let state): state.removal
        case .set(let state): state.removal
        case .addOnlySet(let state): state.removal
        case .list(let state): state.removal
        case .orderedSet(let state): state.removal
        case .text(let state): state.removal
        case .dictionary(let state): state.removal
        }
    }

    mutating func remove(_ removal: Removal, at origin: Origin) {
        switch type {
        case .register: update(\.register, Self.register) { $0.remove(removal, at: origin) }
        case .constant: update(\.constant, Self.constant) { $0.remove(removal, at: origin) }
        case .counter: update(\.counter, Self.counter) { $0.remove(removal, at: origin) }
        case .set: update(\.set, Self.set) { $0.remove(removal, at: origin) }
        case .addOnlySet: update(\.addOnlySet, Self.addOnlySet) { $0.remove(removal, at: origin) }
        case .list: update(\.list, Self.list) { $0.remove(removal, at: origin) }
        case .orderedSet: update(\.orderedSet, Self.orderedSet) { $0.remove(removal, at: origin) }
        case .text: update(\.text, Self.text) { $0.remove(removal, at: origin) }
        case .dictionary: update(\.dictionary, Self.dictionary) { $0.remove(removal, at: origin) }
        }
    }

    /// Applies an operation of the same type; any other is left out.
    mutating func apply(_ operation: ReplicatedValue.Operation, at origin: Origin) {
        switch operation {
        case .register(let operation): update(\.register, Self.register) { $0.apply(operation, at: origin) }
        case .constant(let operation): update(\.constant, Self.constant) { $0.apply(operation, at: origin) }
        case .counter(let operation): update(\.counter, Self.counter) { $0.apply(operation, at: origin) }
        case .set(let operation): update(\.set, Self.set) { $0.apply(operation, at: origin) }
        case .addOnlySet(let operation): update(\.addOnlySet, Self.addOnlySet) { $0.apply(operation, at: origin) }
        case .list(let operation): update(\.list, Self.list) { $0.apply(operation, at: origin) }
        case .orderedSet(let operation): update(\.orderedSet, Self.orderedSet) { $0.apply(operation, at: origin) }
        case .text(let operation): update(\.text, Self.text) { $0.apply(operation, at: origin) }
        case .dictionary(let operation): update(\.dictionary, Self.dictionary) { $0.apply(operation, at: origin) }
        }
    }
}
