import SyncModel

// The words of `edit`: one thing changed inside a field.
extension ObjectWork {
    mutating func edit(_ key: ObjectKey, _ view: ObjectView) -> ObjectWrite {
        var edits: [FieldEdit] = []
        repeat {
            let (name, kind) = ObjectView.fields[number(0..<ObjectView.fields.count)]
            // Two edits of one field see each other; the indices were chosen before, so one field is edited once.
            guard !edits.contains(where: { $0.path[0] == name }) else { break }
            let type = view.type(of: name) ?? kind
            edits.append(edit(name, type, view[name]))
        } while edits.count < 3 && chance(30)
        return .edit(key, edits, ObjectWrite.EditOptions(creating: chance(80)))
    }

    private mutating func edit(_ name: ExactString, _ type: FieldType, _ now: JSONValue?) -> FieldEdit {
        if now != nil, type != .constant, chance(8) { return FieldEdit(path: [name], action: .unset) }
        let count = now?.count ?? 0
        switch type {
        case .register, .constant, .counter, .set, .addOnlySet, .orderedSet:
            return FieldEdit(path: [name], action: elementAction(type, now))
        case .text:
            if count > 3, chance(35) {
                return FieldEdit(path: [name], action: .delete(at: number(0..<count), count: 1))
            }
            if chance(30) { return FieldEdit(path: [name], action: .set(value(of: .text, now: now))) }
            return FieldEdit(path: [name], action: .insert(at: number(0..<count + 1), .text(word())))
        case .list: return listEdit(name, now, count)
        case .dictionary: return dictionaryEdit(name)
        }
    }

    private mutating func elementAction(_ type: FieldType, _ now: JSONValue?) -> FieldEdit.Action {
        let elements: [JSONValue] = if case .array(let elements)? = now { elements } else { [] }
        switch type {
        case .register, .constant: return .set(scalar())
        case .counter: return .increment(Int64(number(-3..<9)))
        case .set, .orderedSet, .addOnlySet, .list, .text, .dictionary: break
        }
        guard !elements.isEmpty, type != .addOnlySet, chance(50) else { return .add(scalar()) }
        let index = number(0..<elements.count)
        if type == .orderedSet, chance(60) { return .move(from: index, to: number(0..<elements.count)) }
        return chance(60) ? .remove(elements[index]) : .add(elements[index])
    }

    private mutating func listEdit(_ name: ExactString, _ now: JSONValue?, _ count: Int) -> FieldEdit {
        guard count > 0, case .array(let elements)? = now else {
            return FieldEdit(path: [name], action: .insert(at: 0, element()))
        }
        let index = number(0..<count)
        switch number(0..<10) {
        case 0, 1: return FieldEdit(path: [name], action: .delete(at: index, count: 1))
        case 2, 3, 4: return FieldEdit(path: [name], action: .move(from: index, to: number(0..<count)))
        case 5, 6:
            let path: [ExactString] = [name, ExactString("\(index)")]
            if case .object = elements[index] { return FieldEdit(path: path + [key()], action: .set(scalar())) }
            return FieldEdit(path: path, action: .set(scalar()))
        case _: return FieldEdit(path: [name], action: .insert(at: number(0..<count + 1), element()))
        }
    }

    private mutating func key() -> ExactString { ["a", "b", "c", "n"][number(0..<4)] }

    private mutating func dictionaryEdit(_ name: ExactString) -> FieldEdit {
        switch number(0..<10) {
        case 0: FieldEdit(path: [name, key()], action: .unset)
        case 1: FieldEdit(path: [name, "deep"], action: .unset)
        case 2, 3: FieldEdit(path: [name, "n"], action: .increment(Int64(number(1..<5))))
        case 4, 5: FieldEdit(path: [name, "deep", key()], action: .set(scalar()))
        case 6: FieldEdit(path: [name, "deep", "n"], action: .increment(1))
        case 7: FieldEdit(path: [name, "words"], action: .add(scalar()))
        case _: FieldEdit(path: [name, key()], action: .set(scalar()))
        }
    }
}

extension JSONValue {
    /// Elements of an array, scalars of a string.
    fileprivate var count: Int {
        switch self {
        case .array(let elements): elements.count
        case .string(let string): string.string.unicodeScalars.count
        case .null, .bool, .integer, .double, .object: 0
        }
    }
}
