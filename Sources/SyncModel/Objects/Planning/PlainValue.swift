/// A value that is no replicated state: a `local` field, or what several lives show together. Edits are those of `edit`,
/// done to the JSON that is shown.
struct PlainValue {
    /// Nil: not there.
    private(set) var json: JSONValue?
    private let path: [ExactString]
    /// The value's type, if more than its JSON is known.
    private let type: FieldType?

    init(_ json: JSONValue?, path: [ExactString], type: FieldType? = nil) {
        self.json = json
        self.path = path
        self.type = type
    }

    private var field: String { path.pathText }
    private var shownType: FieldType? { type ?? json.map { FieldType(natural: $0) } }

    private func mismatch() -> ObjectRefusal { .typeMismatch(field: field, expected: shownType ?? .register) }

    /// Does an edit to what is at `rest` below this value, or to the value itself if that is empty.
    mutating func perform(_ edit: FieldEdit, at rest: ArraySlice<ExactString>) throws(ObjectRefusal) {
        guard let key = rest.first else { return try perform(edit) }
        switch json {
        case .object(let members):
            guard type == nil || type == .dictionary else { throw mismatch() }
            var below = PlainValue(json?[key], path: path + [key])
            try below.perform(edit, at: rest.dropFirst())
            json = .object(members.setting(key, to: below.json))
        case .array(var elements):
            guard type == nil || type == .list else { throw mismatch() }
            guard let index = key.elementIndex else { throw .noSuchField(edit.path.pathText) }
            guard index < elements.count else { throw outOfRange(elements.count) }
            var below = PlainValue(elements[index], path: path + [key])
            try below.perform(edit, at: rest.dropFirst())
            if let element = below.json { elements[index] = element } else { elements.remove(at: index) }
            json = .array(elements)
        case nil:
            guard edit.canBegin else {
                if case .unset = edit.action { return }
                throw .noSuchField(edit.path.pathText)
            }
            json = .object([])
            try perform(edit, at: rest)
        case .null?, .bool?, .integer?, .double?, .string?: throw mismatch()
        }
    }

    private func outOfRange(_ count: Int) -> ObjectRefusal { .indexOutOfRange(field: field, count: count) }

    private mutating func perform(_ edit: FieldEdit) throws(ObjectRefusal) {
        let keepsCharacters = edit.keepsCharacters
        switch edit.action {
        case .set(let value): json = value
        case .unset:
            guard type != .constant else { throw .constant(field: field) }
            json = nil
        case .increment(let amount): try increment(by: amount)
        case .add(let element): try add(element)
        case .remove(let element): try remove(element)
        case .insert(let index, let value): try insert(value, at: index, keepsCharacters)
        case .delete(let index, let count): try delete(at: index, count: count, keepsCharacters)
        case .move(let source, let target): try move(from: source, to: target)
        }
    }

    private mutating func increment(by amount: Int64) throws(ObjectRefusal) {
        guard type == nil || type == .counter else { throw mismatch() }
        guard case .integer(let number) = json ?? .integer(0) else { throw mismatch() }
        let (sum, overflow) = number.addingReportingOverflow(amount)
        guard !overflow else { throw .counterOverflow(field: field) }
        json = .integer(sum)
    }

    // MARK: Elements

    private mutating func add(_ element: JSONValue) throws(ObjectRefusal) {
        guard type == nil || type == .set || type == .addOnlySet || type == .orderedSet,
            case .array(let elements) = json ?? .array([])
        else { throw mismatch() }
        if !elements.contains(element) { json = .array(elements + [element]) }
    }

    private mutating func remove(_ element: JSONValue) throws(ObjectRefusal) {
        guard json != nil else { throw .noSuchField(field) }
        guard type == nil || type == .set || type == .orderedSet, case .array(let elements) = json else {
            throw mismatch()
        }
        json = .array(elements.filter { $0 != element })
    }

    private var isSequence: Bool { type == nil || type == .list || type == .orderedSet || type == .text }

    private mutating func insert(
        _ value: JSONValue, at index: Int, _ keepsCharacters: Bool
    ) throws(ObjectRefusal) {
        guard isSequence else { throw mismatch() }
        switch json ?? .array([]) {
        case .string(let string):
            guard case .string(let added) = value, type == nil || type == .text else { throw mismatch() }
            var scalars = Array(string.string.unicodeScalars)
            guard (0...scalars.count).contains(index) else { throw outOfRange(scalars.count) }
            if keepsCharacters { try scalars.checkCharacters(at: index..<index, of: field) }
            scalars.insert(contentsOf: added.string.unicodeScalars, at: index)
            json = .text(scalars)
        case .array(var elements):
            guard (0...elements.count).contains(index) else { throw outOfRange(elements.count) }
            if type == .orderedSet, let source = elements.firstIndex(of: value) {
                elements.remove(at: source)
                elements.insert(value, at: source < index ? index - 1 : index)
            } else {
                elements.insert(value, at: index)
            }
            json = .array(elements)
        case .null, .bool, .integer, .double, .object: throw mismatch()
        }
    }

    private mutating func delete(
        at index: Int, count: Int, _ keepsCharacters: Bool
    ) throws(ObjectRefusal) {
        guard json != nil else { throw .noSuchField(field) }
        guard isSequence else { throw mismatch() }
        func range(in present: Int) throws(ObjectRefusal) -> Range<Int> {
            guard index >= 0, count > 0, index <= present, count <= present - index else { throw outOfRange(present) }
            return index..<index + count
        }
        switch json {
        case .string(let string):
            var scalars = Array(string.string.unicodeScalars)
            let range = try range(in: scalars.count)
            if keepsCharacters { try scalars.checkCharacters(at: range, of: field) }
            scalars.removeSubrange(range)
            json = .text(scalars)
        case .array(var elements):
            elements.removeSubrange(try range(in: elements.count))
            json = .array(elements)
        case .null?, .bool?, .integer?, .double?, .object?, nil: throw mismatch()
        }
    }

    private mutating func move(from source: Int, to target: Int) throws(ObjectRefusal) {
        guard json != nil else { throw .noSuchField(field) }
        guard isSequence, type != .text, case .array(var elements) = json else { throw mismatch() }
        guard elements.indices.contains(source), elements.indices.contains(target) else {
            throw outOfRange(elements.count)
        }
        elements.insert(elements.remove(at: source), at: target)
        json = .array(elements)
    }
}

extension [JSONValue.Member] {
    /// The members of an object, with another value under `key`; nil: without it. Sorted before and after.
    func setting(_ key: ExactString, to value: JSONValue?) -> [JSONValue.Member] {
        var members = self
        let index = firstIndexPast { $0.key >= key }
        if index < members.count, members[index].key == key { members.remove(at: index) }
        if let value { members.insert(JSONValue.Member(key: key, value: value), at: index) }
        return members
    }
}

extension JSONValue {
    fileprivate static func text(_ scalars: [Unicode.Scalar]) -> JSONValue {
        var view = String.UnicodeScalarView()
        view.append(contentsOf: scalars)
        return .text(String(view))
    }
}
