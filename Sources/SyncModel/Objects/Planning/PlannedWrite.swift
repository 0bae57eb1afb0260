/// The result of planning a write, against the object as it was at that moment.
package struct PlannedWrite: Sendable, Hashable {
    /// The operations in this order, from the planned origin on. Empty: nothing is to be written.
    package var operations: [Operation] = []
    /// All local fields as they are afterwards, sorted by name; nil: unchanged.
    package var localFields: [JSONValue.Member]?
    /// The list of edits that deletions dropped is not shown any more, on this node.
    package var dismisses = false
    /// True if the caller wants the version and not the object.
    package var isBrief = false

    package init() {}

    /// True if the write changes nothing at all.
    package var isEmpty: Bool { operations.isEmpty && localFields == nil && !dismisses }
}
