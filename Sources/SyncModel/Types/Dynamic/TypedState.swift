/// The state of a field in one of its types.
enum TypedState: Hashable, Sendable, Codable {
    /// Only while a state is being changed: whoever changes it must be its one owner, or it would be copied.
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
        switch self {
        case .moved: break
        case .register(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .register(state)
        case .constant(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .constant(state)
        case .counter(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .counter(state)
        case .set(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .set(state)
        case .addOnlySet(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .addOnlySet(state)
        case .list(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .list(state)
        case .orderedSet(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .orderedSet(state)
        case .text(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .text(state)
        case .dictionary(var state):
            self = .moved
            state.remove(removal, at: origin)
            self = .dictionary(state)
        }
    }

    /// Of an operation of the same type; any other is left out.
    mutating func apply(_ operation: ReplicatedValue.Operation, at origin: Origin) {
        switch self {
        case .moved: break
        case .register(var state):
            guard case .register(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .register(state)
        case .constant(var state):
            guard case .constant(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .constant(state)
        case .counter(var state):
            guard case .counter(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .counter(state)
        case .set(var state):
            guard case .set(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .set(state)
        case .addOnlySet(var state):
            guard case .addOnlySet(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .addOnlySet(state)
        case .list(var state):
            guard case .list(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .list(state)
        case .orderedSet(var state):
            guard case .orderedSet(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .orderedSet(state)
        case .text(var state):
            guard case .text(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .text(state)
        case .dictionary(var state):
            guard case .dictionary(let operation) = operation else { return }
            self = .moved
            state.apply(operation, at: origin)
            self = .dictionary(state)
        }
    }
}
