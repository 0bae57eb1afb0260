extension ReplicatedValue {
    /// The dots of explicit creations: of a container that may hold nothing.
    package func creations(as type: FieldType) -> DotSet {
        switch type {
        case .register, .constant, .counter: []
        case .set: set.creations
        case .addOnlySet: addOnlySet.creations
        case .list: list.presence
        case .orderedSet: orderedSet.presence
        case .text: text.presence
        case .dictionary: dictionary.presence
        }
    }
}
