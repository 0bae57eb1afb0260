import LawHistories
import ReferenceModels
import SyncModel

/// A removal takes everything that it finds, seen by its author or not.
struct ForgetfulSet: Disguise {
    var inner = ReplicatedSet<ExactString>()

    mutating func apply(_ operation: Inner.Operation, at origin: Origin) {
        switch operation {
        case .create, .add: inner.apply(operation, at: origin)
        case .remove(let element): inner.apply(operation, at: origin.pretending(toKnow: inner.dots(of: element)))
        }
    }
}

/// Removing a key drops what was edited apart below it.
struct DroppingDictionary: Disguise {
    var inner = ReplicatedDictionary<ExactString, ReplicatedSet<ExactString>>()

    mutating func apply(_ operation: Inner.Operation, at origin: Origin) {
        switch operation {
        case .create, .update: inner.apply(operation, at: origin)
        case .remove(let key, _):
            let value = inner.state(of: key)
            inner.apply(operation, at: origin.pretending(toKnow: value.flatMap { value.dots(of: $0) }))
        }
    }
}

/// A move deletes here and inserts there, as it must not: of an element that was moved apart there are two.
struct DuplicatingList: Disguise {
    var inner = ReplicatedList<ReplicatedRegister<ExactString>>()

    mutating func apply(_ operation: Inner.Operation, at origin: Origin) {
        switch operation {
        case .create, .insert, .edit, .delete: inner.apply(operation, at: origin)
        case .move(let element, let placement):
            let identity = element.dot(by: origin.dot.replica)
            guard origin.knows(identity), let text = inner.value(ofElement: identity)?.value else { return }
            inner.apply(.delete([DotRange(first: element, count: 1)]), at: origin)
            inner.apply(.insert(placement, [.set(text)]), at: origin)
        }
    }
}
