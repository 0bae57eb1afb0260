/// The types a field can have, in the order in which a value of several types shows the first.
package enum Kind: Int, CaseIterable, Comparable, Sendable {
    case register, constant, counter, set, addOnlySet, list, orderedSet, text, dictionary

    package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
}

/// Of which replicated types a value is made.
package indirect enum Shape: Sendable {
    case register
    case constant
    case counter
    case set
    case addOnlySet
    case list(Shape)
    case orderedSet
    case text
    /// What is attached, under its dot, until somebody who has seen it detaches it.
    case attachments
    case dictionary(Shape)
    /// A struct: its members and their shapes.
    case members([(name: PlainText, shape: Shape)])
    /// A value that can be all kinds at once, what it contains too.
    case any

    /// The shape of `kind` inside `any`.
    package static func of(_ kind: Kind) -> Shape {
        switch kind {
        case .register: .register
        case .constant: .constant
        case .counter: .counter
        case .set: .set
        case .addOnlySet: .addOnlySet
        case .list: .list(.any)
        case .orderedSet: .orderedSet
        case .text: .text
        case .dictionary: .dictionary(.any)
        }
    }
}
