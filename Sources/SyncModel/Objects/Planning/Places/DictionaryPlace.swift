/// A dictionary in an object that is being written: its fields, or what is nested in one.
struct DictionaryPlace {
    let draft: Draft<ObjectFields>
    /// The path of the dictionary; empty for the fields themselves.
    let path: [ExactString]
    /// Speaks of the fields, not of what is below them.
    let schema: CollectionSchema?
    /// Nil unless several lives are shown as one.
    let lives: MergedLives?

    init(
        _ draft: Draft<ObjectFields>, path: [ExactString], schema: CollectionSchema? = nil, lives: MergedLives? = nil
    ) {
        self.draft = draft
        self.path = path
        self.schema = schema
        self.lives = lives
    }

    func place(_ key: ExactString) -> ValuePlace {
        ValuePlace(
            draft: draft[key], path: path + [key], declared: declaredType(of: key), container: draft)
    }

    func declaredType(of key: ExactString) -> FieldType? {
        switch schema?[key]?.kind {
        case .replicated(let type): type
        case .local, nil: nil
        }
    }

    /// Sets what `members` names.
    ///
    /// - Parameter replacing: removes the rest; a constant stays, for it is set once.
    func assign(_ members: [JSONValue.Member], replacing: Bool) throws(ObjectRefusal) {
        for member in members { try assign(member.value, to: member.key, replacing: replacing) }
        guard replacing else { return }
        let named = Set(members.map(\.key))
        for key in draft.value.keys where !named.contains(key) && place(key).shownType != .constant {
            draft.removeValue(forKey: key)
        }
    }

    private func assign(_ target: JSONValue, to key: ExactString, replacing: Bool) throws(ObjectRefusal) {
        guard let lives, let shared = lives.shared(key, declared: declaredType(of: key)) else {
            if lives?.isMine(key) ?? true { try place(key).assign(target, replacing: replacing) }
            return
        }
        try assign(target, to: place(key), shared, replacing: replacing)
    }

    /// A value that several lives hold: the first takes the difference, the others give theirs up, so that what is shown
    /// is in one life afterwards. Nothing is written while it shows what it should.
    func assign(
        _ target: JSONValue, to place: ValuePlace, _ shared: MergedLives.Shared, replacing: Bool
    ) throws(ObjectRefusal) {
        let type =
            place.declared
            ?? (shared.type.continues(shared.json, as: target) ? shared.type : FieldType(natural: target))
        guard type.takes(target) else { throw place.mismatch(type) }
        if type == .dictionary, let lives = shared.dictionaries, case .object(let members) = target {
            guard lives.mine != nil else { return }
            return try DictionaryPlace(place.draft.dictionary, path: place.path, lives: lives)
                .assign(members, replacing: replacing)
        }
        if type == shared.type {
            if type == .constant {
                if shared.json == target { return }
                throw .constant(field: place.field)
            }
            if shared.shows(target) { return }
        }
        if shared.isFirst {
            try place.assign(type == shared.type ? shared.whole(target) : target, as: type, replacing: true)
        } else if shared.mine != nil {
            place.remove()
        }
    }
}
