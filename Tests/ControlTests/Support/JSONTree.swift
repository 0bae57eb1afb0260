import ControlAPI

/// A JSON value that can be changed in place: what the agent in memory makes of an edit.
indirect enum JSONTree: Equatable {
    case scalar(JSONText)
    case array([JSONTree])
    case object([Member])

    struct Member: Equatable {
        let key: String
        var value: JSONTree

        static func == (left: Member, right: Member) -> Bool {
            left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
        }
    }

    init(_ text: JSONText) throws(ControlError) {
        let document = try ValueRule.check(text)
        self.init(document.root, document)
    }

    private init(_ node: JSONNode, _ document: JSONDocument) {
        switch node.kind {
        case .array(let elements): self = .array(elements.map { JSONTree($0, document) })
        case .object(let members):
            self = .object(members.map { Member(key: $0.key, value: JSONTree($0.value, document)) })
        case .null, .bool, .number, .string: self = .scalar(JSONText(checked: document.text(of: node)))
        }
    }

    var text: JSONText {
        var writer = JSONWriter()
        write(to: &writer)
        return JSONText(checked: writer.bytes)
    }

    private func write(to writer: inout JSONWriter) {
        switch self {
        case .scalar(let text): writer.raw(text.bytes)
        case .array(let elements):
            writer.raw("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { writer.raw(",") }
                element.write(to: &writer)
            }
            writer.raw("]")
        case .object(let members):
            writer.raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(member.key)
                writer.raw(":")
                member.value.write(to: &writer)
            }
            writer.raw("}")
        }
    }

    /// Of an object; by the bytes of the key.
    subscript(key: String) -> JSONTree? {
        get {
            guard case .object(let members) = self else { return nil }
            return members.first { $0.key.utf8.elementsEqual(key.utf8) }?.value
        }
        set {
            guard case .object(var members) = self else { return }
            let index = members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
            switch (index, newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): return
            }
            self = .object(members)
        }
    }

    func value(at keys: ArraySlice<String>) -> JSONTree? {
        guard let key = keys.first else { return self }
        return self[key]?.value(at: keys.dropFirst())
    }

    /// The other value's members replace ours, recursively; ours that it does not name stay.
    func merged(with other: JSONTree) -> JSONTree {
        guard case .object = self, case .object(let members) = other else { return other }
        var result = self
        for member in members { result[member.key] = result[member.key]?.merged(with: member.value) ?? member.value }
        return result
    }
}

extension JSONTree {
    /// Does one edit. What the value is decides what it is taken for: a number for a counter, an array for set and list.
    mutating func apply(_ operation: EditOperation) throws(ControlError) {
        try change(operation.path.keys[...], operation.path.field) { tree throws(ControlError) in
            tree = try Self.edited(tree, operation.action, operation.path.field)
        }
    }

    private mutating func change(
        _ keys: ArraySlice<String>, _ field: String, _ body: (inout JSONTree?) throws(ControlError) -> Void
    ) throws(ControlError) {
        guard case .object = self else { throw ControlError.typeMismatch(field, is: "register") }
        guard let key = keys.first else { return }
        if keys.count == 1 { return try body(&self[key]) }
        var inner = self[key] ?? .object([])
        try inner.change(keys.dropFirst(), field, body)
        self[key] = inner
    }

    private static func edited(
        _ tree: JSONTree?, _ action: EditOperation.Action, _ field: String
    ) throws(ControlError) -> JSONTree? {
        switch action {
        case .set(let value): return try JSONTree(value)
        case .unset: return nil
        case .increment(let amount):
            guard let number = Int64(tree?.text.description ?? "0") else {
                throw ControlError.typeMismatch(field, is: "register")
            }
            return .scalar(JSONText(checked: Array(String(number + amount).utf8)))
        case .add(let value):
            let (elements, element) = (try elements(tree, field), try JSONTree(value))
            return .array(elements.contains(element) ? elements : elements + [element])
        case .remove(let value):
            let element = try JSONTree(value)
            return .array(try elements(tree, field).filter { $0 != element })
        case .insert, .delete, .move: return try sequence(tree, action, field)
        }
    }

    private static func elements(_ tree: JSONTree?, _ field: String) throws(ControlError) -> [JSONTree] {
        guard let tree else { return [] }
        guard case .array(let elements) = tree else { throw ControlError.typeMismatch(field, is: "register") }
        return elements
    }

    private static func sequence(
        _ tree: JSONTree?, _ action: EditOperation.Action, _ field: String
    ) throws(ControlError) -> JSONTree {
        var elements = try elements(tree, field)
        let bad = ControlError.indexOutOfRange(field, count: elements.count)
        switch action {
        case .insert(let index, let value):
            guard index <= elements.count else { throw bad }
            elements.insert(try JSONTree(value), at: index)
        case .delete(let index, let count):
            guard index + count <= elements.count else { throw bad }
            elements.removeSubrange(index..<index + count)
        case .move(let origin, let target):
            guard origin < elements.count, target < elements.count else { throw bad }
            elements.insert(elements.remove(at: origin), at: target)
        case .set, .unset, .increment, .add, .remove: break
        }
        return .array(elements)
    }
}
