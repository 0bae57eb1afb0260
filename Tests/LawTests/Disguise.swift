import LawHistories
import ReferenceModels
import SyncModel

/// A shipped type with one thing done wrong: whatever a conforming type does not write down itself is done as it should be.
protocol Disguise: Lawful where Operation == Inner.Operation, Delta == Inner.Delta {
    associatedtype Inner: Lawful
    var inner: Inner { get set }
}

extension Disguise {
    static var shape: Shape { Inner.shape }
    static func span(of operation: Inner.Operation) -> UInt64 { Inner.span(of: operation) }
    static func plain(_ operation: Inner.Operation, by author: ReplicaID, in cast: Cast) -> PlainOperation {
        Inner.plain(operation, by: author, in: cast)
    }

    var isLive: Bool { inner.isLive }
    var reading: Reading { inner.reading }
    var removal: Removal { inner.removal }

    func operations(for intent: Intent, by author: ReplicaID) -> [Inner.Operation] {
        inner.operations(for: intent, by: author)
    }

    mutating func apply(_ operation: Inner.Operation, at origin: Origin) { inner.apply(operation, at: origin) }
    mutating func remove(_ removal: Removal, at origin: Origin) { inner.remove(removal, at: origin) }
    func delta(since vector: VersionVector) -> Delta { inner.delta(since: vector) }
    mutating func join(_ delta: Delta, held: VersionVector, theirs: VersionVector) {
        inner.join(delta, held: held, theirs: theirs)
    }
}

extension Origin {
    /// The same, as if its author had seen these too.
    func pretending(toKnow dots: some Sequence<Dot>) -> Origin {
        var context = context
        for dot in dots { context.advance(dot.replica, to: dot.counter + 1) }
        return Origin(dot: self.dot, stamp: stamp, context: context)
    }
}
