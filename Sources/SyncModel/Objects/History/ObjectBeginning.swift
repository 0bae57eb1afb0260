/// The object's state at the beginning of its stored history. Changes before it were dropped, or never came.
package struct ObjectBeginning: Hashable, Sendable {
    package var state = ObjectState()
    /// The operation applied last by then.
    package var version: Dot?
    /// Clock of its author, milliseconds since 1970.
    package var changedMilliseconds: Int64 = 0

    package init() {}

    /// Applies these operations too, which come in causal order.
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
