extension ValuePlace {
    /// Does an edit to what is at `rest` below this value; not empty.
    func perform(_ edit: FieldEdit, at rest: ArraySlice<ExactString>) throws(ObjectRefusal) {
        guard let type = declared ?? shownType else {
            guard edit.canBegin else {
                if case .unset = edit.action { return }
                throw .noSuchField(edit.path.pathText)
            }
            return try perform(edit, inDictionaryAt: rest)
        }
        switch type {
        case .dictionary: try perform(edit, inDictionaryAt: rest)
        case .list: try ListPlace(draft: draft.list, path: path).perform(edit, at: rest)
        case .register, .constant, .counter, .set, .addOnlySet, .orderedSet, .text: throw mismatch(type)
        }
        keepVisible(type)
    }

    private func perform(_ edit: FieldEdit, inDictionaryAt rest: ArraySlice<ExactString>) throws(ObjectRefusal) {
        if edit.canBegin { create(.dictionary) }
        try DictionaryPlace(draft.dictionary, path: path).perform(edit, at: rest)
    }
}

extension ListPlace {
    func perform(_ edit: FieldEdit, at rest: ArraySlice<ExactString>) throws(ObjectRefusal) {
        guard let key = rest.first, let index = key.elementIndex else { throw .noSuchField(edit.path.pathText) }
        guard index < draft.value.count else {
            throw .indexOutOfRange(field: path.pathText, count: draft.value.count)
        }
        let identity = draft.value.identity(at: index)
        let place = element(identity, at: index)
        guard rest.count == 1 else { return try place.perform(edit, at: rest.dropFirst()) }
        switch edit.action {
        case .set(let value): try set(value, at: index, resolves: edit.resolves)
        case .unset: delete([identity])
        case .increment, .add, .remove, .insert, .delete, .move: try place.perform(edit)
        }
    }
}

extension DictionaryPlace {
    /// Does an edit to what is at `rest`, whose first is a key here.
    func perform(_ edit: FieldEdit, at rest: ArraySlice<ExactString>) throws(ObjectRefusal) {
        guard let key = rest.first else { return }
        let place = place(key)
        guard let lives, let shared = lives.shared(key, declared: place.declared) else {
            guard lives?.isMine(key) ?? true else { return }
            return rest.count == 1 ? try place.perform(edit) : try place.perform(edit, at: rest.dropFirst())
        }
        guard shared.mine != nil else { return }
        if rest.count > 1, let lives = shared.dictionaries {
            return try DictionaryPlace(place.draft.dictionary, path: place.path, lives: lives)
                .perform(edit, at: rest.dropFirst())
        }
        if rest.count == 1, edit.resolves, case .set(let value) = edit.action {
            return try resolve(value, at: place, shared)
        }
        // A part of it may be in every life: it is set to what it would then be.
        var plain = PlainValue(shared.json, path: place.path, type: shared.type)
        try plain.perform(edit, at: rest.dropFirst())
        guard let target = plain.json else { return place.remove() }
        try assign(target, to: place, shared, replacing: true)
    }
}
