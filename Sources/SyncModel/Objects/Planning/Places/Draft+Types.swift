/// The parts of a value by type. What is written to one leaves the others as they are.
extension Draft where Value == ReplicatedValue {
    var register: Draft<ReplicatedRegister<JSONValue>> { nested({ $0.register }, { .register($0) }) }
    var constant: Draft<Constant<JSONValue>> { nested({ $0.constant }, { .constant($0) }) }
    var counter: Draft<ReplicatedCounter> { nested({ $0.counter }, { .counter($0) }) }
    var set: Draft<ReplicatedSet<JSONValue>> { nested({ $0.set }, { .set($0) }) }
    var addOnlySet: Draft<AddOnlySet<JSONValue>> { nested({ $0.addOnlySet }, { .addOnlySet($0) }) }
    var list: Draft<ReplicatedList<ReplicatedValue>> { nested({ $0.list }, { .list($0) }) }
    var orderedSet: Draft<ReplicatedOrderedSet<JSONValue>> { nested({ $0.orderedSet }, { .orderedSet($0) }) }
    var text: Draft<ReplicatedText> { nested({ $0.text }, { .text($0) }) }
    var dictionary: Draft<ObjectFields> { nested({ $0.dictionary }, { .dictionary($0) }) }
}

extension Draft where Value == ReplicatedList<ReplicatedValue> {
    /// The value of an element, for as long as the element lives.
    func element(_ identity: Dot) -> Draft<ReplicatedValue> {
        let reference = DotReference(identity, by: origin.dot.replica)
        return nested({ $0.state(ofElement: identity) }, { .edit(reference, $0) })
    }
}
