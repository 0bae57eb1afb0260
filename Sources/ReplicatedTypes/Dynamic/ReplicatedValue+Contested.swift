extension ReplicatedValue {
    /// False if nothing in the value can contradict anything: one state, of one value, all the way down. True if the caller
    /// has to look. It is called for most values, and most need no look.
    var mayBeContested: Bool {
        switch states {
        case .none: false
        case .one(let state): state.mayBeContested
        case .many: true
        }
    }
}

extension TypedState {
    fileprivate var mayBeContested: Bool {
        switch self {
        case .moved, .counter, .set, .addOnlySet, .orderedSet, .text: false
        case .register(let state): state.mayBeContested
        case .constant(let state): state.mayBeContested
        case .list(let state): state.entries.contains { $0.value.mayBeContested }
        case .dictionary(let state): state.mayBeContested
        }
    }
}

extension ReplicatedDictionary where Value == ReplicatedValue {
    /// True if a reader may find conflicts in the shown values. False is certain, and cheap to find.
    package var mayBeContested: Bool { children.values.contains(where: \.mayBeContested) }
}
