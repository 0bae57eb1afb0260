// Resolving: a value is set, and what contradicts it goes.

extension ValuePlace {
    /// Makes the value read as `target` and drops values written apart and other types.
    func resolve(_ target: JSONValue) throws(ObjectRefusal) {
        let value = draft.value
        if try type(for: target) == .constant {
            return try resolveConstant(target, among: value.constant.values, isResolved: value.types == [.constant])
        }
        if value.types.count > 1 { remove() }
        try assign(target, replacing: true)
    }

    /// Chooses one of a constant's concurrent values; it gets no other.
    private func resolveConstant(
        _ target: JSONValue, among values: [JSONValue], isResolved: Bool
    ) throws(ObjectRefusal) {
        guard values.isEmpty || values.contains(target) else { throw .constant(field: field) }
        if isResolved, values.allSatisfy({ $0 == target }) { return }
        remove()
        draft.constant.record(.set(target))
    }
}

extension DictionaryPlace {
    /// The first life that holds the value has it alone afterwards.
    func resolve(
        _ target: JSONValue, at place: ValuePlace, _ shared: MergedLives.Shared
    ) throws(ObjectRefusal) {
        guard shared.isFirst else { return place.remove() }
        guard shared.type == .constant, try place.type(for: target) == .constant else {
            return try place.resolve(target)
        }
        let values = shared.values.flatMap(\.constant.values)
        guard values.contains(target) else { throw .constant(field: place.field) }
        place.remove()
        place.draft.constant.record(.set(target))
    }
}

extension ObjectState {
    /// True if the value shown at `path` has another one beside it that a user would have to decide about.
    func isContested(at path: [ExactString], _ schema: CollectionSchema?) -> Bool {
        guard let field = path.first, let value = mergedFields.first(where: { $0.key == field })?.value else {
            return false
        }
        return value.isContested(at: path.dropFirst(), declared: schema?[field]?.kind.type)
    }
}

extension MergedValue {
    fileprivate func isContested(at rest: ArraySlice<ExactString>, declared: FieldType?) -> Bool {
        guard let key = rest.first else { return isContested }
        switch shown(preferring: declared)?.content {
        case .list(let elements):
            guard let index = key.elementIndex, index < elements.count else { return false }
            return elements[index].isContested(at: rest.dropFirst(), declared: nil)
        case .members(let members):
            let below = members.first { $0.key == key }?.value
            return below?.isContested(at: rest.dropFirst(), declared: nil) ?? false
        case .values?, .number?, .elements?, .text?, nil: return false
        }
    }

    /// Itself, or something in it.
    private var isContested: Bool {
        parts.count > 1
            || parts.contains { part in
                switch part.content {
                case .values(let values): values.count > 1
                case .number, .elements, .text: false
                case .list(let elements): elements.contains(where: \.isContested)
                case .members(let members): members.contains(where: \.value.isContested)
                }
            }
    }
}
