/// The difference between what a reader sees of a field, or of what is below it, and what was seen before.
package struct FieldChange: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Nil: it was not there, or is not any more.
        case value(old: JSONValue?, new: JSONValue?)
        /// The edits of a text that stays a text, without its whole content.
        case text([TextEdit])
    }

    package let field: ExactString
    package let content: Content
}

/// A field as a reader sees it.
struct ShownField {
    let name: ExactString
    let part: MergedValue.Part

    /// Returns the value at a path; its first key is the name.
    func value(at path: [ExactString]?) -> JSONValue? { part.content.json.value(at: (path ?? []).dropFirst()) }

    /// The text, if it is asked for as a whole.
    fileprivate func text(at path: [ExactString]?) -> String? {
        guard case .text(let text) = part.content, (path?.count ?? 1) == 1 else { return nil }
        return text
    }
}

extension ObjectState {
    /// Sorted by name. References are there whether they are live or not.
    func shownFields(_ schema: CollectionSchema?) -> [ShownField] {
        mergedFields.compactMap { member in
            let kind = schema?[member.key]?.kind
            guard kind != .local, let part = member.value.shown(preferring: kind?.type) else { return nil }
            return ShownField(name: member.key, part: part)
        }
    }
}

/// The difference in one field between two times, as a reader sees it.
struct ShownDifference {
    let name: ExactString
    let old: ShownField?
    let new: ShownField?

    /// The fields of both, sorted by name; only that which `path` begins with, if there is one.
    static func between(
        _ old: [ShownField], _ new: [ShownField], path: [ExactString]?
    ) -> [ShownDifference] {
        var differences: [ShownDifference] = []
        var (one, other) = (old[...], new[...])
        while true {
            let difference: ShownDifference
            switch (one.first, other.first) {
            case (nil, nil): return differences
            case (let left?, let right?) where left.name == right.name:
                difference = ShownDifference(name: left.name, old: one.popFirst(), new: other.popFirst())
            case (let left?, let right) where right.map({ left.name < $0.name }) ?? true:
                difference = ShownDifference(name: left.name, old: one.popFirst(), new: nil)
            case (_, let right?): difference = ShownDifference(name: right.name, old: nil, new: other.popFirst())
            case (_?, nil): preconditionFailure("a field with no other beside it was taken above")
            }
            if path.map({ $0.first == difference.name }) ?? true { differences.append(difference) }
        }
    }

    /// Returns both texts; nil unless it is a text before and afterwards.
    func texts(at path: [ExactString]?) -> (old: String, new: String)? {
        guard let old = old?.text(at: path), let new = new?.text(at: path) else { return nil }
        return (old, new)
    }

    func values(at path: [ExactString]?) -> (old: JSONValue?, new: JSONValue?) {
        (old?.value(at: path), new?.value(at: path))
    }
}

extension FieldChange {
    /// Nil: a reader sees the same.
    init?(_ difference: ShownDifference, path: [ExactString]?) {
        field = difference.name
        if let texts = difference.texts(at: path) {
            let edits = TextComparison(texts.old, texts.new).edits
            guard !edits.isEmpty else { return nil }
            content = .text(edits)
        } else {
            let (old, new) = difference.values(at: path)
            guard old != new else { return nil }
            content = .value(old: old, new: new)
        }
    }
}

extension JSONValue {
    /// Returns the value under keys and indices, one below the other; nil if there is none.
    package func value(at path: some Sequence<ExactString>) -> JSONValue? {
        var value: JSONValue? = self
        for key in path {
            if case .array(let elements) = value {
                guard let index = key.elementIndex, index < elements.count else { return Optional.none }
                value = elements[index]
            } else {
                value = value?[key]
            }
        }
        return value
    }
}
