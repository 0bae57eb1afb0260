extension ValuePlace {
    /// Does one edit to the value itself.
    func perform(_ edit: FieldEdit) throws(ObjectRefusal) {
        let action = edit.action
        if case .set(let value) = action {
            return edit.resolves ? try resolve(value) : try assign(value, replacing: true)
        }
        guard let type = declared ?? shownType ?? action.naturalType else {
            if case .unset = action { return }
            throw .noSuchField(field)
        }
        let staysLive = staysLive(type, after: action)
        switch action {
        case .set: break
        case .unset: try unset(type)
        case .increment(let amount):
            guard type == .counter else { throw mismatch(type) }
            try increment(by: amount)
        case .add(let element): try add(element, type)
        case .remove(let element): try remove(element, type)
        case .insert(let index, let value): try insert(value, at: index, type, edit.keepsCharacters)
        case .delete(let index, let count): try delete(at: index, count: count, type, edit.keepsCharacters)
        case .move(let source, let target): try move(from: source, to: target, type)
        }
        if isSeen(after: action), !staysLive { keepVisible(type) }
    }

    /// Told before the edit: to look at a text behind it, all of the text would be copied.
    private func staysLive(_ type: FieldType, after action: FieldEdit.Action) -> Bool {
        guard type == .text else { return false }
        let text = draft.value.text
        return switch action {
        case .insert(_, .string(let inserted)): text.isCreated || !inserted.string.isEmpty
        case .delete(_, let count): text.isCreated || count < text.count
        case .set, .increment, .unset, .add, .remove, .insert, .move: false
        }
    }

    private func isSeen(after action: FieldEdit.Action) -> Bool {
        switch action {
        case .unset, .set, .increment: false
        case .remove, .delete, .move, .add, .insert: true
        }
    }

    private func unset(_ type: FieldType) throws(ObjectRefusal) {
        guard draft.value.isLive else { return }
        guard shownType != .constant else { throw .constant(field: field) }
        remove()
    }

    private func add(_ element: JSONValue, _ type: FieldType) throws(ObjectRefusal) {
        switch type {
        case .set:
            create(.set)
            draft.set.insert(element)
        case .addOnlySet:
            create(.addOnlySet)
            draft.addOnlySet.insert(element)
        case .orderedSet:
            create(.orderedSet)
            draft.orderedSet.append(element)
        case .register, .constant, .counter, .list, .text, .dictionary: throw mismatch(type)
        }
    }

    private func remove(_ element: JSONValue, _ type: FieldType) throws(ObjectRefusal) {
        switch type {
        case .set: draft.set.remove(element)
        case .orderedSet: draft.orderedSet.remove(element)
        case .register, .constant, .counter, .addOnlySet, .list, .text, .dictionary: throw mismatch(type)
        }
    }

    // MARK: By index

    /// Returns the number of elements or scalars.
    private func count(_ type: FieldType) throws(ObjectRefusal) -> Int {
        switch type {
        case .list: draft.value.list.count
        case .orderedSet: draft.value.orderedSet.count
        case .text: draft.value.text.count
        case .register, .constant, .counter, .set, .addOnlySet, .dictionary: throw mismatch(type)
        }
    }

    private func insert(
        _ value: JSONValue, at index: Int, _ type: FieldType, _ keepsCharacters: Bool
    ) throws(ObjectRefusal) {
        let count = try count(type)
        guard (0...count).contains(index) else { throw .indexOutOfRange(field: field, count: count) }
        switch (type, value) {
        case (.text, .string(let string)):
            if keepsCharacters { try draft.value.text.checkCharacters(at: index..<index, of: field) }
            create(.text)
            draft.text.insert(string.string, at: index)
        case (.text, _): throw mismatch(.text)
        case (.orderedSet, _):
            create(.orderedSet)
            guard let source = draft.value.orderedSet.firstIndex(of: value) else {
                draft.orderedSet.insert(value, at: index)
                return
            }
            // It is there once: what is inserted again is moved.
            draft.orderedSet.move(from: source, to: source < index ? index - 1 : index)
        case (_, _):
            create(.list)
            try ListPlace(draft: draft.list, path: path).insert([value], at: index)
        }
    }

    private func delete(
        at index: Int, count: Int, _ type: FieldType, _ keepsCharacters: Bool
    ) throws(ObjectRefusal) {
        let present = try self.count(type)
        guard index >= 0, count > 0, index <= present, count <= present - index else {
            throw .indexOutOfRange(field: field, count: present)
        }
        let range = index..<index + count
        switch type {
        case .list: draft.list.removeSubrange(range)
        case .orderedSet:
            if let removal = draft.value.orderedSet.operation(removing: range) { draft.orderedSet.record(removal) }
        case .text:
            if keepsCharacters { try draft.value.text.checkCharacters(at: range, of: field) }
            draft.text.removeSubrange(range)
        case .register, .constant, .counter, .set, .addOnlySet, .dictionary: throw mismatch(type)
        }
    }

    private func move(from source: Int, to target: Int, _ type: FieldType) throws(ObjectRefusal) {
        guard type != .text else { throw mismatch(type) }
        let count = try count(type)
        guard (0..<count).contains(source), (0..<count).contains(target) else {
            throw .indexOutOfRange(field: field, count: count)
        }
        switch type {
        case .list: draft.list.move(from: source, to: target)
        case .orderedSet: draft.orderedSet.move(from: source, to: target)
        case .register, .constant, .counter, .set, .addOnlySet, .text, .dictionary: throw mismatch(type)
        }
    }
}

extension RandomAccessCollection where Element == Unicode.Scalar, Index == Int {
    /// Throws `insideCharacter` when `range`, which lies in the text, cuts a `Character` at one of its ends.
    func checkCharacters(at range: Range<Int>, of field: String) throws(ObjectRefusal) {
        for offset in [range.lowerBound, range.upperBound] {
            let around = characterBoundaries(around: offset)
            if around.count > 1 {
                throw .insideCharacter(
                    field: field, offset: offset, start: around.lowerBound, end: around.upperBound)
            }
        }
    }
}
