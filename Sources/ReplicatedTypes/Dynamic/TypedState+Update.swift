extension TypedState {
    /// Changes a state of one type where it is; one of another type stays as it is.
    ///
    /// A state may hold a book. It is taken out first, so that while it is changed nothing else refers to what it holds.
    mutating func update<State>(
        _ part: (TypedState) -> State?, _ whole: (State) -> TypedState, _ change: (inout State) -> Void
    ) {
        guard var state = take(part) else { return }
        change(&state)
        self = whole(state)
    }

    /// Never inlined: a `switch` holds what it looks at, above all an indirect case, for as long as the optimizer likes.
    /// Behind this return there is one reference, the returned one.
    @inline(never) private mutating func take<State>(_ part: (TypedState) -> State?) -> State? {
        guard let state = part(self) else { return nil }
        self = .moved
        return state
    }

    var register: ReplicatedRegister<JSONValue>? { if case .register(let state) = self { state } else { nil } }
    var constant: Constant<JSONValue>? { if case .constant(let state) = self { state } else { nil } }
    var counter: ReplicatedCounter? { if case .counter(let state) = self { state } else { nil } }
    var set: ReplicatedSet<JSONValue>? { if case .set(let state) = self { state } else { nil } }
    var addOnlySet: AddOnlySet<JSONValue>? { if case .addOnlySet(let state) = self { state } else { nil } }
    var list: ReplicatedList<ReplicatedValue>? { if case .list(let state) = self { state } else { nil } }
    var orderedSet: ReplicatedOrderedSet<JSONValue>? { if case .orderedSet(let state) = self { state } else { nil } }
    var text: ReplicatedText? { if case .text(let state) = self { state } else { nil } }
    var dictionary: ReplicatedDictionary<ExactString, ReplicatedValue>? {
        if case .dictionary(let state) = self { state } else { nil }
    }
}
