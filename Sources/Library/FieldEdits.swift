import ControlAPI

/// An edit of an object's fields that makes it differ from what was read as the application's value does.
enum FieldEdit: Sendable {
    /// An edit that merges with others wherever they are: it names no place in a sequence.
    case operation(EditOperation)
    /// A text or a list becomes another one. It is merged with what the agent has if that is no longer what was read.
    case sequence(FieldPath, base: SequenceValue, changed: SequenceValue)

    var isSequence: Bool { if case .sequence = self { true } else { false } }

    /// Returns the edits that lead from one value's fields to another's.
    ///
    /// Both are written by `FieldCoding`: equal values are equal bytes. Throws what `EditOperation` and `FieldPath` do.
    ///
    /// - Parameter raw: the fields that `base` was read from, with what the struct does not have and as others wrote them:
    ///   elements that stay are sent like this.
    static func edits(
        from base: JSONText, to changed: JSONText, raw: JSONText, of type: ObjectType
    ) throws(ControlError) -> [FieldEdit] {
        var comparison = FieldComparison(
            type: type, before: try FieldCoding.document(base), after: try FieldCoding.document(changed),
            raw: try FieldCoding.document(raw))
        try comparison.compareMembers(
            comparison.before.root, comparison.after.root, comparison.raw.root, at: [])
        return comparison.edits
    }

    /// Returns the edits that lead from fields as they were read to those of a value.
    static func edits<Object: LanyardObject>(
        to changed: JSONText, from raw: JSONText, _ type: Object.Type, id: String
    ) throws(ControlError) -> [FieldEdit] {
        // Written anew as this struct writes it, so that only what the application changed differs.
        let base = try FieldCoding.fields(try FieldCoding.value(type, fields: raw, id: id))
        return try edits(from: base, to: changed, raw: raw, of: try ObjectType.of(type))
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

    /// A value of the same kind with nothing in it.
    var emptied: SequenceValue {
        switch self {
        case .text: .text([])
        case .list: .list([])
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
    let raw: JSONDocument
    var edits: [FieldEdit] = []

    /// The most elements of a set that are added and removed one by one; more of them replace the set.
    private static let maximumElements = 2_048

    mutating func compareMembers(
        _ old: JSONNode, _ new: JSONNode, _ read: JSONNode?, at keys: [String]
    ) throws(ControlError) {
        guard case .object(let oldMembers) = old.kind, case .object(let newMembers) = new.kind else { return }
        var reads: [String: JSONNode] = [:]
        if case .object(let members)? = read?.kind { reads = Self.byKey(members) }
        let (olds, news) = (Self.byKey(oldMembers), Self.byKey(newMembers))
        for member in oldMembers where news[member.key] == nil {
            edits.append(.operation(try EditOperation(FieldPath(keys: keys + [member.key]), .unset)))
        }
        for member in newMembers {
            try compare(olds[member.key], member.value, reads[member.key], at: keys + [member.key])
        }
    }

    private static func byKey(_ members: [(key: String, value: JSONNode)]) -> [String: JSONNode] {
        Dictionary(members, uniquingKeysWith: { $1 })
    }

    private mutating func compare(
        _ old: JSONNode?, _ new: JSONNode, _ read: JSONNode?, at keys: [String]
    ) throws(ControlError) {
        let text = after.text(of: new)
        if let old, before.text(of: old) == text { return }
        let path = try FieldPath(keys: keys)
        let fieldType = keys.count == 1 ? type.fields[keys[0]]?.schema?.type : nil
        switch (fieldType, old?.kind, new.kind) {
        case (.counter?, .number?, .number):
            guard let from = old.flatMap({ number(before.text(of: $0)) }), let to = number(text),
                case let (step, isOverflow) = to.subtractingReportingOverflow(from), !isOverflow
            else { fallthrough }
            try append(path, .increment(by: step))
        case (_, nil, _), (.register?, _, _), (.local?, _, _), (.constant?, _, _):
            try append(path, .set(JSONText(checked: text)))
        case (.set?, .array(let olds)?, .array(let news)), (.addOnlySet?, .array(let olds)?, .array(let news)):
            guard case .array(let reads)? = read?.kind, olds.count + news.count <= Self.maximumElements else {
                try append(path, .set(JSONText(checked: text)))
                return
            }
            try compareSets(
                olds.map(before.text(of:)), news.map(after.text(of:)), reads.map(raw.text(of:)), at: path)
        case (_, .object?, .object) where type.shapes[keys] != .enumeration:
            if let old { try compareMembers(old, new, read, at: keys) }
        case (.text?, .string?, .string), (_, .array?, .array):
            guard let old, let base = SequenceValue(old, in: before), let changed = SequenceValue(new, in: after)
            else { fallthrough }
            append(path, base, changed, read.flatMap { SequenceValue($0, in: raw) } ?? base.emptied)
        case _: try append(path, .set(JSONText(checked: text)))
        }
    }

    private mutating func compareSets(
        _ olds: [[UInt8]], _ news: [[UInt8]], _ reads: [[UInt8]], at path: FieldPath
    ) throws(ControlError) {
        let (known, wanted) = (Set(olds), Set(news))
        for element in olds where !wanted.contains(element) {
            // As it is there: another application may have written 2.0 for 2.
            let texts = reads.filter { $0 == element || Self.areSameNumber($0, element) }
            for text in texts.isEmpty ? [element] : texts { try append(path, .remove(JSONText(checked: text))) }
        }
        for element in news where !known.contains(element) { try append(path, .add(JSONText(checked: element))) }
    }

    private static func areSameNumber(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard let left = Double(String(decoding: left, as: UTF8.self)) else { return false }
        return left == Double(String(decoding: right, as: UTF8.self))
    }

    private mutating func append(_ path: FieldPath, _ action: EditOperation.Action) throws(ControlError) {
        edits.append(.operation(try EditOperation(path, action)))
    }

    private mutating func append(
        _ path: FieldPath, _ base: SequenceValue, _ changed: SequenceValue, _ read: SequenceValue
    ) {
        // Elements that stay are those that are there, with what the struct does not have.
        if case .list(let olds) = base, case .list(let news) = changed, case .list(let reads) = read,
            reads.count == olds.count
        {
            let substituted = SequenceMerge.substituting(reads, for: olds, in: news)
            edits.append(.sequence(path, base: read, changed: .list(substituted)))
        } else {
            edits.append(.sequence(path, base: read, changed: changed))
        }
    }

    private func number(_ text: [UInt8]) -> Int64? { Int64(String(decoding: text, as: UTF8.self)) }
}
