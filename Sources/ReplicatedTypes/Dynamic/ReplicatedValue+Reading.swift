extension ReplicatedValue {
    /// The types in which something is live, in order.
    public var types: [FieldType] { states.filter(\.isLive).map(\.type) }

    /// True if the value is live in that type.
    package func isLive(as type: FieldType) -> Bool { state(type)?.isLive ?? false }

    /// The type that a reader is shown: `preferred` (the schema's) if something is live in it, else the first that is.
    public func shownType(preferring preferred: FieldType? = nil) -> FieldType? {
        if let preferred, state(preferred)?.isLive == true { return preferred }
        return states.first(where: \.isLive)?.type
    }

    /// The types that are live beside the shown one: a user should look at them.
    public func otherTypes(preferring preferred: FieldType? = nil) -> [FieldType] {
        let shown = shownType(preferring: preferred)
        return types.filter { $0 != shown }
    }

    /// Returns the value that a reader is shown; nil if nothing is live.
    public func json(preferring preferred: FieldType? = nil) -> JSONValue? {
        shownType(preferring: preferred).flatMap { state($0)?.json }
    }

    /// The values of the register, as `ReplicatedRegister.values`.
    package var registerValues: [JSONValue] { register.values }

    /// True if it has a register with a value, and no value of it is another than `value`.
    package func isRegister(of value: JSONValue) -> Bool {
        let values = registerValues
        return !values.isEmpty && values.allSatisfy { $0 == value }
    }

    /// The value in one type; nil when nothing is live in it.
    public func json(as type: FieldType) -> JSONValue? {
        guard let state = state(type), state.isLive else { return nil }
        return state.json
    }
}

extension ReplicatedValue {
    /// The register with all that it keeps, as if unwritten when this is none. So are the others.
    public var register: ReplicatedRegister<JSONValue> {
        if case .register(let state) = state(.register) { state } else { ReplicatedRegister() }
    }

    /// The constant.
    public var constant: Constant<JSONValue> {
        if case .constant(let state) = state(.constant) { state } else { Constant() }
    }

    /// The counter.
    public var counter: ReplicatedCounter {
        if case .counter(let state) = state(.counter) { state } else { ReplicatedCounter() }
    }

    /// The set.
    public var set: ReplicatedSet<JSONValue> {
        if case .set(let state) = state(.set) { state } else { ReplicatedSet() }
    }

    /// The set that only grows.
    public var addOnlySet: AddOnlySet<JSONValue> {
        if case .addOnlySet(let state) = state(.addOnlySet) { state } else { AddOnlySet() }
    }

    /// The list.
    public var list: ReplicatedList<ReplicatedValue> {
        if case .list(let state) = state(.list) { state } else { ReplicatedList() }
    }

    /// The ordered set.
    public var orderedSet: ReplicatedOrderedSet<JSONValue> {
        if case .orderedSet(let state) = state(.orderedSet) { state } else { ReplicatedOrderedSet() }
    }

    /// The text.
    public var text: ReplicatedText {
        if case .text(let state) = state(.text) { state } else { ReplicatedText() }
    }

    /// The dictionary.
    public var dictionary: ReplicatedDictionary<ExactString, ReplicatedValue> {
        if case .dictionary(let state) = state(.dictionary) { state } else { ReplicatedDictionary() }
    }
}

extension ReplicatedValue.Operation {
    /// The depth of the edited value, itself counted. Beyond `ByteReader.maximumDepth` no node could read it: an author must
    /// not write it.
    public var depth: Int {
        switch self {
        case .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text: 1
        case .list(.insert(_, let values)): 1 + (values.lazy.map(\.depth).max() ?? 0)
        case .list(.edit(_, let nested)): 1 + nested.depth
        case .list: 1
        case .dictionary(.update(_, let nested)): 1 + nested.depth
        case .dictionary: 1
        }
    }
}

extension TypedState {
    /// The value of a live state.
    var json: JSONValue {
        switch self {
        case .moved: .null
        case .register(let state): state.value ?? .null
        case .constant(let state): state.value ?? .null
        case .counter(let state): .integer(state.value)
        case .set(let state): .array(state.elements)
        case .addOnlySet(let state): .array(state.elements)
        // An element is there even when its value says nothing, and null keeps its index.
        case .list(let state): .array(state.map { $0.json() ?? .null })
        case .orderedSet(let state): .array(Array(state))
        case .text(let state): .string(ExactString(state.string))
        case .dictionary(let state):
            .object(state.map { JSONValue.Member(key: $0.key, value: $0.value.json() ?? .null) })
        }
    }
}

extension ReplicatedValue: CustomStringConvertible {
    /// The value that a reader is shown, as JSON.
    public var description: String { json()?.text ?? "nothing" }
}

// What a digest is over: all live values in canonical bytes and no dots, so it is equal wherever readers see the same.

extension ReplicatedValue {
    /// Appends, for each live type in order: its rank + 1, then its values; then 0. Conflicts are values too.
    public func appendVisible(to bytes: inout [UInt8]) {
        for state in states where state.isLive {
            bytes.append(state.type.rank + 1)
            state.appendVisible(to: &bytes)
        }
        bytes.append(0)
    }
}

extension TypedState {
    fileprivate func appendVisible(to bytes: inout [UInt8]) {
        func append(_ values: some Collection<JSONValue>) {
            bytes.append(varint: UInt64(values.count))
            for value in values { value.append(to: &bytes) }
        }
        switch self {
        case .moved: break
        case .register(let state): append(state.values)
        case .constant(let state): append(state.values)
        case .counter(let state): bytes.append(signed: state.value)
        case .set(let state): append(state.elements)
        case .addOnlySet(let state): append(state.elements)
        case .list(let state):
            bytes.append(varint: UInt64(state.count))
            for value in state { value.appendVisible(to: &bytes) }
        case .orderedSet(let state): append(state)
        case .text(let state): bytes.append(visible: state)
        case .dictionary(let state):
            bytes.append(varint: UInt64(state.count))
            for (key, value) in state {
                key.append(to: &bytes)
                value.appendVisible(to: &bytes)
            }
        }
    }
}
