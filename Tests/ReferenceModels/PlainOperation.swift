/// A dot as the reference models see it: replicas are numbers, in the order of their names.
package struct PlainDot: Hashable, Sendable, Comparable {
    package let replica: Int
    package let counter: UInt64

    package init(replica: Int, counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }

    package static func < (left: PlainDot, right: PlainDot) -> Bool {
        (left.replica, left.counter) < (right.replica, right.counter)
    }
}

/// A place in a sequence: the node named, on which side of it, and what followed when the author chose it.
package struct PlainPlace: Equatable, Sendable {
    package enum Follower: Equatable, Sendable {
        /// That of the node named.
        case inherited
        case end
        case node(PlainDot)
    }

    /// Nil: the beginning of the sequence.
    package let node: PlainDot?
    package let isBefore: Bool
    package let follower: Follower

    package init(before node: PlainDot) {
        self.node = node
        isBefore = true
        follower = .node(node)
    }

    package init(after node: PlainDot?, follower: Follower) {
        self.node = node
        isBefore = false
        self.follower = follower
    }
}

/// Scalars typed next to each other; nil is one that its author erased before anybody else saw it.
package struct PlainRun: Equatable, Sendable {
    package let place: PlainPlace
    package let scalars: [Unicode.Scalar?]

    package init(place: PlainPlace, scalars: [Unicode.Scalar?]) {
        self.place = place
        self.scalars = scalars
    }
}

/// Every operation of every replicated type, in one vocabulary.
package indirect enum PlainOperation: Equatable, Sendable {
    case create
    /// Of registers and constants.
    case set(PlainText)
    case increment(Int64)
    /// Of sets.
    case add(PlainText)
    case remove(PlainText)
    /// Of dictionaries, and of a struct's members.
    case update(PlainText, PlainOperation)
    case removeKey(PlainText)
    /// Of lists. Each value inserted owns the counters of its operation.
    case insert(PlainPlace, [PlainOperation])
    case edit(PlainDot, PlainOperation)
    case delete([PlainDot])
    case move(PlainDot, PlainPlace)
    /// Of ordered sets: one counter per value.
    case place([PlainText], PlainPlace)
    case takeOut([PlainText])
    case replace(PlainText, PlainPlace)
    /// Of text: one counter per scalar.
    case type(PlainPlace, [Unicode.Scalar])
    case erase([PlainDot])
    /// Both in one go: one counter per scalar of the runs.
    case revise([PlainRun], [PlainDot])
    /// Of a value that may have several types at once.
    case typed(Kind, PlainOperation)

    /// How many counters it owns.
    package var span: UInt64 {
        switch self {
        case .create, .set, .increment, .add, .remove, .removeKey, .move, .replace: 1
        case .place(let values, _), .takeOut(let values): UInt64(max(1, values.count))
        case .update(_, let nested), .edit(_, let nested), .typed(_, let nested): nested.span
        case .insert(_, let values): values.reduce(0) { $0 + $1.span }
        case .delete(let dots), .erase(let dots): UInt64(max(1, dots.count))
        case .type(_, let scalars): UInt64(scalars.count)
        case .revise(let runs, _): UInt64(runs.reduce(0) { $0 + $1.scalars.count })
        }
    }
}

extension PlainOperation {
    /// Whether it removes a key, here or further below.
    package var removesKeys: Bool {
        switch self {
        case .removeKey: true
        case .update(_, let nested), .edit(_, let nested), .typed(_, let nested): nested.removesKeys
        case .insert(_, let values): values.contains(where: \.removesKeys)
        case .create, .set, .increment, .add, .remove, .delete, .move, .place, .takeOut, .replace, .type, .erase,
            .revise:
            false
        }
    }
}

/// An operation with everything that decides about it.
package struct PlainEvent: Sendable {
    package let dot: PlainDot
    package let stamp: UInt64
    /// By replica: the next counter that the author held before the change, or knew when it first wrote what is written again.
    package let context: [UInt64]
    /// By replica: the next counter that the author held before the change.
    package let held: [UInt64]
    package let operation: PlainOperation
    /// Of a removal: by replica, the last increment that its author saw in a counter below. Nil if that is all that the author
    /// held; it is less where increments were void.
    package let seen: [Int: UInt64]?

    package init(
        dot: PlainDot, stamp: UInt64, context: [UInt64], held: [UInt64]? = nil, operation: PlainOperation,
        seen: [Int: UInt64]? = nil
    ) {
        self.dot = dot
        self.stamp = stamp
        self.context = context
        self.held = held ?? context
        self.operation = operation
        self.seen = seen
    }

    package func knows(_ other: PlainDot) -> Bool {
        other.replica == dot.replica ? other.counter < dot.counter : other.counter < context[other.replica]
    }

    /// Whether this removal takes the increment with this dot away.
    package func takesAway(_ increment: PlainDot) -> Bool {
        guard let seen else { return knows(increment) }
        return knows(increment) && seen[increment.replica].map { increment.counter <= $0 } ?? false
    }

    /// Whether it comes after `other` in canonical order: stamp, replica, counter.
    package func exceeds(_ other: PlainEvent) -> Bool { (stamp, dot) > (other.stamp, other.dot) }

    /// The same moment, seen from the inside: another operation, `count` counters further.
    package func nested(_ operation: PlainOperation, advancedBy count: UInt64 = 0) -> PlainEvent {
        let dot = PlainDot(replica: dot.replica, counter: dot.counter + count)
        return PlainEvent(dot: dot, stamp: stamp, context: context, held: held, operation: operation, seen: seen)
    }
}
