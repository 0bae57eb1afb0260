/// A value in an object that is being written: a field, a key of a dictionary, or an element of a list.
struct ValuePlace {
    let draft: Draft<ReplicatedValue>
    /// The path of the value, for refusals.
    let path: [ExactString]
    /// The type that the schema declares; nil below a field.
    let declared: FieldType?
    /// The dictionary it is in; nil for an element of a list.
    let container: Draft<ObjectFields>?

    var field: String { path.pathText }
    var shownType: FieldType? { draft.value.shownType(preferring: declared) }

    /// The type in which `target` would be written.
    func type(for target: JSONValue) throws(ObjectRefusal) -> FieldType { try type(for: target, in: draft.value) }

    private func type(for target: JSONValue, in value: ReplicatedValue) throws(ObjectRefusal) -> FieldType {
        if let declared {
            guard declared.takes(target) else { throw mismatch(declared) }
            return declared
        }
        if let shown = value.shownType(), Self.continues(value, shown, as: target) { return shown }
        return FieldType(natural: target)
    }

    /// True if the shown type continues as `target`, where no schema says anything.
    func continues(as target: JSONValue) -> Bool {
        let value = draft.value
        return value.shownType().map { Self.continues(value, $0, as: target) } ?? true
    }

    private static func continues(_ value: ReplicatedValue, _ type: FieldType, as target: JSONValue) -> Bool {
        type.continues(type == .register ? value.register.value : nil, as: target)
    }

    func mismatch(_ type: FieldType) -> ObjectRefusal { .typeMismatch(field: field, expected: type) }

    /// Makes the value read as `target`, by the least edits that its type has.
    ///
    /// - Parameters:
    ///   - wanted: the type to write it in, if that is known.
    ///   - replacing: keys of dictionaries that `target` does not name are removed.
    func assign(
        _ target: JSONValue, as wanted: FieldType? = nil, replacing: Bool
    ) throws(ObjectRefusal) {
        // Looked up once, and let go before anything is written: held, it would be copied.
        let (type, shown) = try types(for: target, as: wanted)
        if let shown, shown != type { remove() }
        switch (type, target) {
        case (.register, _): assignRegister(target)
        case (.constant, _): try assignConstant(target)
        case (.counter, .integer(let number)): try assignCounter(number)
        case (.set, .array(let elements)): assignSet(elements)
        case (.addOnlySet, .array(let elements)): assignAddOnlySet(elements)
        case (.orderedSet, .array(let elements)): assignOrderedSet(elements)
        case (.list, .array(let elements)):
            try ListPlace(draft: draft.list, path: path).assign(elements)
        case (.text, .string(let string)):
            create(.text)
            let text = draft.text
            for operation in text.value.operations(setting: string.string, by: text.origin.dot.replica) {
                text.record(operation)
            }
        case (.dictionary, .object(let members)):
            create(.dictionary)
            try DictionaryPlace(draft.dictionary, path: path).assign(members, replacing: replacing)
        case (.counter, _), (.set, _), (.addOnlySet, _), (.orderedSet, _), (.list, _), (.text, _), (.dictionary, _):
            throw mismatch(type)
        }
        keepVisible(type)
    }

    /// Returns the type to write the value in, and the type that is shown; nil if there is none.
    private func types(
        for target: JSONValue, as wanted: FieldType?
    ) throws(ObjectRefusal) -> (type: FieldType, shown: FieldType?) {
        let value = draft.value
        let type = if let wanted { wanted } else { try type(for: target, in: value) }
        return (type, value.shownType(preferring: declared))
    }

    /// Removes everything that is seen here, of every type.
    func remove() {
        guard let key = path.last else { return }
        container?.removeValue(forKey: key)
    }

    /// A container begins with its own presence: or two nodes that each take out one half would leave no field at all.
    func create(_ type: FieldType) {
        if !isLive(type) { recordCreation(type) }
    }

    /// Keeps an emptied value present, empty.
    func keepVisible(_ type: FieldType) {
        if !isLive(type) { recordCreation(type) }
    }

    /// A register and a constant are there by their value alone: nothing is created, so nothing has to be looked up.
    private func isLive(_ type: FieldType) -> Bool {
        type == .register || type == .constant || draft.value.isLive(as: type)
    }

    private func recordCreation(_ type: FieldType) {
        switch type {
        case .register, .constant: break
        case .counter: draft.counter.record(.increment(by: 0))
        case .set: draft.set.record(.create)
        case .addOnlySet: draft.addOnlySet.record(.create)
        case .list: draft.list.record(.create)
        case .orderedSet: draft.orderedSet.record(.create)
        case .text: draft.text.record(.create)
        case .dictionary: draft.dictionary.record(.create)
        }
    }
}
