/// An edit of a field, or of something inside one, in the words of `lanyard edit`.
package struct FieldEdit: Sendable, Hashable {
    package enum Action: Sendable, Hashable {
        /// Sets the value to this; present content that is not named is removed.
        case set(JSONValue)
        case increment(Int64)
        /// Removes the value; an absent value stays absent.
        case unset
        /// Adds an element to a set, or at the end of an ordered set.
        case add(JSONValue)
        case remove(JSONValue)
        /// Text: a string goes in front of the scalar at the offset. Lists and ordered sets: one element.
        case insert(at: Int, JSONValue)
        case delete(at: Int, count: Int)
        /// The element at the first index is at the second afterwards.
        case move(from: Int, to: Int)
    }

    /// The field, then keys of dictionaries or indices of list elements; never empty.
    package let path: [ExactString]
    package let action: Action
    /// With `set`: what contradicts the value goes too, be it of another type or from another life.
    var resolves = false
    /// With `insert` and `delete` in a text: refused inside a `Character`.
    var keepsCharacters = false

    package init(path: [ExactString], action: Action) {
        precondition(!path.isEmpty, "an edit names a field")
        self.path = path
        self.action = action
    }

    /// True if the edit can begin a value that is absent.
    var canBegin: Bool {
        switch action {
        case .set, .increment, .add, .insert: true
        case .unset, .remove, .delete, .move: false
        }
    }
}

extension FieldEdit.Action {
    /// The type that the edit begins where neither a schema nor a present value gives one; nil if it begins nothing.
    var naturalType: FieldType? {
        switch self {
        case .set(let value): FieldType(natural: value)
        case .increment: .counter
        case .add: .set
        case .insert: .list
        case .unset, .remove, .delete, .move: nil
        }
    }
}
