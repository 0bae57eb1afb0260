/// The difference of one field between two times, as a reader sees it.
package struct FieldDifference: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Nil: it is not there at that time.
        case value(old: JSONValue?, new: JSONValue?)
        /// A text at both times.
        case text(TextComparison)
    }

    package let field: ExactString
    package let content: Content
}

extension ObjectState {
    /// Returns the fields in which a reader finds something else in `other`, sorted by name. An object that is not shown has
    /// no fields.
    ///
    /// - Parameter path: Only the field, or what is below it; nil: all fields.
    package func differences(
        to other: ObjectState, schema: CollectionSchema?, path: [ExactString]? = nil
    ) -> [FieldDifference] {
        ShownDifference.between(shownFields(schema), other.shownFields(schema), path: path).compactMap { difference in
            if let texts = difference.texts(at: path) {
                let comparison = TextComparison(texts.old, texts.new)
                guard !comparison.edits.isEmpty else { return nil }
                return FieldDifference(field: difference.name, content: .text(comparison))
            }
            let (old, new) = difference.values(at: path)
            guard old != new else { return nil }
            return FieldDifference(field: difference.name, content: .value(old: old, new: new))
        }
    }

    /// Returns the value that a reader sees at a path; nil if there is none.
    package func shownValue(at path: [ExactString], _ schema: CollectionSchema?) -> JSONValue? {
        shownFields(schema).first { $0.name == path.first }?.value(at: path)
    }
}
