/// What an object was when the part of its history began that is held: changes before it were dropped, or never came.
package struct ObjectBeginning: Hashable, Sendable {
    package var state = ObjectState()
    /// The operation applied last by then.
    package var version: Dot?
    /// Clock of its author, milliseconds since 1970.
    package var changedMilliseconds: Int64 = 0

    package init() {}

    /// As it is once these are applied too, which come in causal order.
    package mutating func apply(_ operations: [PastOperation], members: MemberFacts) {
        for operation in operations {
            let outcome = state.apply(
                operation.action, at: operation.origin, wallMilliseconds: operation.wallMilliseconds, members: members,
                earlier: { [] })
            guard case .applied = outcome else { continue }
            version = operation.origin.dot
            changedMilliseconds = operation.wallMilliseconds
        }
    }
}
