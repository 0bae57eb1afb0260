/// An edit of a value in an object: an operation of `lanyard edit`.
public struct EditOperation: Hashable, Sendable {
    /// The action at the path.
    public enum Action: Hashable, Sendable {
        /// Makes the value this one, with the least edits; `null` is a value.
        case set(JSONText)
        /// A counter goes up, or with a negative number down.
        case increment(by: Int64)
        /// The field or key is removed.
        case unset
        /// A set holds this element afterwards.
        case add(JSONText)
        /// A set or ordered set does not hold this element afterwards.
        case remove(JSONText)
        /// Inserts into a list, before the element with this number; into a text, before the scalar with this number.
        case insert(at: Int, JSONText)
        /// Deletes `count` elements or scalars, beginning with number `at`.
        case delete(at: Int, count: Int)
        /// The element with the first number stands at the second afterwards, counted without it.
        case move(from: Int, to: Int)
    }

    /// The place of the edit.
    public let path: FieldPath
    /// The action at that place.
    public let action: Action

    /// Checks bounds: values as `ValueRule` says, numbers of elements ≥ 0, at least one element deleted. Throws
    /// `too_large`, `too_deep`, `number_out_of_range`, `index_out_of_range`.
    public init(_ path: FieldPath, _ action: Action) throws(ControlError) {
        switch action {
        case .set(let value), .add(let value), .remove(let value): try ValueRule.check(value, level: path.keys.count)
        case .insert(let index, let value):
            try Self.check(index)
            try ValueRule.check(value, level: path.keys.count + 1)
        case .delete(let index, let count):
            try Self.check(index)
            guard count >= 1, !index.addingReportingOverflow(count).overflow else {
                throw ControlError(
                    .indexOutOfRange, "At least one element is deleted, and no more than there are.",
                    hint: "Write PATH.delete@N:COUNT, with COUNT from 1.")
            }
        case .move(let origin, let target):
            try Self.check(origin)
            try Self.check(target)
        case .increment, .unset: break
        }
        self.path = path
        self.action = action
    }

    private static func check(_ index: Int) throws(ControlError) {
        guard index >= 0 else {
            throw ControlError(
                .indexOutOfRange, "Elements and scalars are counted from 0; there are no negative numbers.",
                hint: "The first is 0.")
        }
    }
}
