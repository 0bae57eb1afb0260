import ControlAPI

/// An edit of an object's fields that makes it differ from what was read as the application's value does.
enum FieldEdit: Sendable {
    /// An edit that merges with others wherever they are: it names no place in a sequence.
    case operation(EditOperation)
    /// A text or a list becomes another one. It is merged with what the agent has if that is no longer what was read.
    case sequence(FieldPath, base: SequenceValue, changed: SequenceValue)

    /// Returns the edits that lead from one value's fields to another's, in the order of fields.
    ///
    /// Both are written by `FieldCoding`: equal values are equal bytes. Throws what `EditOperation` and `FieldPath` do.
    static func edits(
        from base: JSONText, to changed: JSONText, of type: ObjectType
    ) throws(ControlError) -> [FieldEdit] {
        let (before, after) = (try FieldCoding.document(base), try FieldCoding.document(changed))
        var comparison = FieldComparison(type: type, before: before, after: after)
        try comparison.compareMembers(before.root, after.root, at: [])
        return comparison.edits
    }
}

/// The value of a text or a list.
enum SequenceValue: Equatable, Sendable {
    case text([Unicode.Scalar])
    case list([[UInt8]])

    /// Reads a JSON string or array; nil for other values.
    init?(_ node: JSONNode, in document: JSONDocument) {
        switch node.kind {
        case .string: self = .text(Array((document.string(of: node) ?? "").unicodeScalars))
        case .array(let elements): self = .list(elements.map(document.text(of:)))
        case .null, .bool, .number, .object: return nil
        }
    }

    var json: JSONText {
        switch self {
        case .text(let scalars):
            var text = String.UnicodeScalarView()
            text.append(contentsOf: scalars)
            return JSONText(string: String(text))
        case .list(let elements):
            return JSONText(checked: Array("[".utf8) + elements.joined(separator: ",".utf8) + Array("]".utf8))
        }
    }

    /// Returns `changed` with the changes that `other` makes to `base`, too. Values of two kinds do not merge: `changed` it is.
    static func merge(base: SequenceValue, changed: SequenceValue, other: SequenceValue) -> SequenceValue {
        switch (base, changed, other) {
        case (.text(let base), .text(let changed), .text(let other)):
            .text(SequenceMerge.merge(base: base, changed: changed, other: other))
        case (.list(let base), .list(let changed), .list(let other)):
            .list(SequenceMerge.merge(base: base, changed: changed, other: other))
        case _: changed
        }
    }
}

/// Looks for the fields in which two values differ.
private struct FieldComparison {
    let type: ObjectType
    let before: JSONDocument
    let after: JSONDocument
    var edits: [FieldEdit] = []

    mutating func compareMembers(_ old: JSONNode, _ new: JSONNode, at keys: [String]) throws(ControlError) {
        guard case .object(let oldMembers) = old.kind, case .object(let newMembers) = new.kind else { return }
        let (olds, news) = (Self.byKey(oldMembers), Self.byKey(newMembers))
        for member in oldMembers where news[member.key] == nil {
            edits.append(.operation(try EditOperation(FieldPath(keys: keys + [member.key]), .unset)))
        }
        for member in newMembers {
            try compare(olds[member.key], member.value, at: keys + [member.key])
        }
    }

    private static func byKey(_ members: [(key: String, value: JSONNode)]) -> [String: JSONNode] {
        Dictionary(members, uniquingKeysWith: { $1 })
    }

    private mutating func compare(_ old: JSONNode?, _ new: JSONNode, at keys: [String]) throws(ControlError) {
        let text = after.text(of: new)
        if let old, before.text(of: old) == text { return }
        let path = try FieldPath(keys: keys)
        let fieldType = keys.count == 1 ? type.fields[keys[0]]?.schema?.type : nil
        switch (fieldType, old?.kind, new.kind) {
        case (.counter?, .number?, .number):
            let (from, to) = (number(old.map(before.text(of:))), number(text))
            guard let from, let to, case let (step, isOverflow) = to.subtractingReportingOverflow(from), !isOverflow
            else { fallthrough }
            try append(path, .increment(by: step))
        case (_, nil, _), (.register?, _, _), (.local?, _, _), (.constant?, _, _):
            try append(path, .set(JSONText(checked: text)))
        case (.set?, .array(let olds)?, .array(let news)), (.addOnlySet?, .array(let olds)?, .array(let news)):
            let (olds, news) = (olds.map(before.text(of:)), news.map(after.text(of:)))
            for element in olds where !news.contains(element) {
                try append(path, .remove(JSONText(checked: element)))
            }
            for element in news where !olds.contains(element) { try append(path, .add(JSONText(checked: element))) }
        case (_, .object?, .object):
            if let old { try compareMembers(old, new, at: keys) }
        case (.text?, .string?, .string), (_, .array?, .array):
            guard let old, let base = SequenceValue(old, in: before), let changed = SequenceValue(new, in: after)
            else { fallthrough }
            edits.append(.sequence(path, base: base, changed: changed))
        case _: try append(path, .set(JSONText(checked: text)))
        }
    }

    private mutating func append(_ path: FieldPath, _ action: EditOperation.Action) throws(ControlError) {
        edits.append(.operation(try EditOperation(path, action)))
    }

    private func number(_ text: [UInt8]?) -> Int64? { text.flatMap { Int64(String(decoding: $0, as: UTF8.self)) } }
}
