/// An operation on an object, as the log has it.
package struct PastOperation: Hashable, Sendable {
    package let origin: Origin
    package let action: ObjectState.Action
    /// The author's clock, for display.
    package let wallMilliseconds: Int64

    package init(origin: Origin, action: ObjectState.Action, wallMilliseconds: Int64) {
        self.origin = origin
        self.action = action
        self.wallMilliseconds = wallMilliseconds
    }
}
