package import ReferenceModels
package import SyncModel

extension ReplicatedRegister: Lawful where Value: LawElement {
    package static var shape: Shape { .register }

    package var reading: Reading { isLive ? .values(values.plain) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        if case .set(let value) = intent { setting(Value(value)).map { [$0] } ?? [] } else { [] }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .set(let value): .set(value.plain)
        }
    }
}

extension Constant: Lawful where Value: LawElement {
    package static var shape: Shape { .constant }

    package var reading: Reading { isLive ? .values(values.plain) : .nothing }

    /// Whoever sees a value does not write another one; here somebody does, for it must not matter.
    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        if case .set(let value) = intent { [.set(Value(value))] } else { [] }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .set(let value): .set(value.plain)
        }
    }
}

extension ReplicatedCounter: Lawful {
    package static var shape: Shape { .counter }

    package var reading: Reading { isLive ? .total(value) : .nothing }

    package func operations(for intent: Intent, by author: ReplicaID) -> [Operation] {
        if case .increment(let amount) = intent { [.increment(by: amount)] } else { [] }
    }

    package static func plain(_ operation: Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        switch operation {
        case .increment(let amount): .increment(amount)
        }
    }
}
