/// An object as people and applications see it.
package struct ObjectReading: Hashable, Sendable {
    /// A conflict in an object that a person should look at.
    package struct Conflict: Hashable, Sendable {
        package enum Kind: Hashable, Sendable {
            /// Values written apart; the shown one first.
            case values
            /// The field holds values of other types than the one that is shown; that first.
            case types
        }

        /// The field and, below it, keys and indices, each escaped as in a JSON Pointer, joined by `/`.
        package let path: String
        package let kind: Kind
        package let values: [JSONValue]
    }

    /// Sorted by name.
    package let fields: [JSONValue.Member]
    package let conflicts: [Conflict]
    /// Newest first.
    package let attachments: [Attachment]

    package var json: JSONValue { .object(fields) }

    /// - Parameter isLive: whether the object that a reference names is live here.
    package init(_ state: ObjectState, schema: CollectionSchema?, isLive: (ObjectKey) -> Bool) {
        var fields: [JSONValue.Member] = []
        var conflicts: [Conflict] = []
        for member in state.mergedFields {
            let definition = schema?[member.key]
            let shown = member.value.shown(preferring: definition?.kind.type)
            conflicts += Self.conflicts(of: member.value, shown: shown, path: member.key.pointerEscaped)
            guard let shown, definition?.kind != .local else { continue }
            var value: JSONValue? = shown.content.json
            if let collection = definition?.refers {
                value = value?.keepingReferences { isLive(ObjectKey(collection: collection, id: $0)) }
            }
            if let value { fields.append(JSONValue.Member(key: member.key, value: value)) }
        }
        self.fields = fields
        self.conflicts = conflicts
        attachments = state.shownAttachments.newestFirst
    }

    private static func conflicts(
        of value: MergedValue, shown: MergedValue.Part?, path: String
    ) -> [Conflict] {
        guard let shown else { return [] }
        var conflicts: [Conflict] = []
        let others = value.parts.filter { $0 != shown }
        if !others.isEmpty {
            conflicts.append(
                Conflict(path: path, kind: .types, values: ([shown] + others).map(\.content.json)))
        }
        switch shown.content {
        case .values(let values):
            if Set(values).count > 1 { conflicts.append(Conflict(path: path, kind: .values, values: values)) }
        case .number, .elements, .text: break
        case .list(let elements):
            for (index, element) in elements.enumerated() {
                conflicts += Self.conflicts(
                    of: element, shown: element.shown(preferring: nil), path: "\(path)/\(index)")
            }
        case .members(let members):
            for member in members {
                conflicts += Self.conflicts(
                    of: member.value, shown: member.value.shown(preferring: nil),
                    path: "\(path)/\(member.key.pointerEscaped)")
            }
        }
        return conflicts
    }
}

extension CollectionSchema.Kind {
    /// Nil for what is not replicated.
    package var type: FieldType? {
        switch self {
        case .replicated(let type): type
        case .local: nil
        }
    }
}

extension JSONValue {
    /// Returns the value without the ids, one level deep, that `isLive` does not know. A reference is a string; anything else
    /// stays.
    fileprivate func keepingReferences(_ isLive: (ExactString) -> Bool) -> JSONValue? {
        func stays(_ value: JSONValue) -> Bool {
            if case .string(let id) = value { isLive(id) } else { true }
        }
        switch self {
        case .null, .bool, .integer, .double: return self
        case .string: return stays(self) ? self : Optional.none
        case .array(let elements): return .array(elements.filter(stays))
        case .object(let members): return .object(members.filter { stays($0.value) })
        }
    }
}
