/// What a write comes to, against the object as it was when it was planned.
package struct PlannedWrite: Sendable, Hashable {
    /// In this order, from the origin on that it was planned for. Empty: nothing is to be written.
    package var operations: [Operation] = []
    /// All local fields as they are afterwards, sorted by name; nil: unchanged.
    package var localFields: [JSONValue.Member]?
    /// The list of edits that deletions dropped is not shown any more, on this node.
    package var dismisses = false
    /// Whoever asked wants to know the version, and not to be shown the object.
    package var isBrief = false

    package init() {}

    /// Whether the write changes nothing at all.
    package var isEmpty: Bool { operations.isEmpty && localFields == nil && !dismisses }
}
