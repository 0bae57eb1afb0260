/// The place of one operation in history: its dot, its stamp, and what its author knew.
///
/// Two operations are concurrent when neither knows the other's dot. Everything a replicated type decides, it decides from
/// origins alone; no clock, no order of arrival.
public struct Origin: Hashable, Sendable {
    /// The operation's first counter; an operation that spans n counters owns `dot.counter ..< dot.counter + n`.
    public let dot: Dot
    /// The stamp of the change that holds the operation; greater than every stamp the author had seen.
    public let stamp: Stamp
    /// The vector that the author held before the change. Its own earlier operations need not be in it: `knows` counts them
    /// in.
    public let context: VersionVector
    /// The vector that the author held before the change that rewrites the operation. Then `context` is what the author had
    /// seen at the first writing.
    package private(set) var contextOfChange: VersionVector?
    /// Planted bugs; none outside simulations and tests.
    @usableFromInline package var faults: ModelFaults = []

    /// Creates the origin of an operation of a change with this stamp and context.
    public init(dot: Dot, stamp: Stamp, context: VersionVector) {
        self.dot = dot
        self.stamp = stamp
        self.context = context
    }

    /// True if the author of this operation had seen the operation at `other`, or made it before.
    public func knows(_ other: Dot) -> Bool {
        other.replica == dot.replica ? other.counter < dot.counter : context.covers(other)
    }

    /// True if the change that holds the operation knows the operation at `other`.
    ///
    /// This differs from `knows` where the operation is written again: its author may be a device that was admitted after the
    /// first writing.
    package func changeKnows(_ other: Dot) -> Bool {
        other.replica == dot.replica ? other.counter < dot.counter : (contextOfChange ?? context).covers(other)
    }

    /// The operation's key in the order that decides between concurrent operations.
    public var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }

    /// The same, `count` counters further: for the next operation of a change, or the next element of a run.
    public func advanced(by count: UInt64) -> Origin {
        var advanced = Origin(
            dot: Dot(replica: dot.replica, counter: dot.counter + count), stamp: stamp, context: context)
        (advanced.contextOfChange, advanced.faults) = (contextOfChange, faults)
        return advanced
    }

    /// Returns the origin of the operation when it is rewritten by an author that had seen `known` at the first writing. No
    /// author can have seen what is not in its change's past.
    package func again(knowing known: VersionVector) -> Origin {
        var again = Origin(dot: dot, stamp: stamp, context: known.meet(context))
        (again.contextOfChange, again.faults) = (context, faults)
        return again
    }

    /// Returns the origin of the operation if it had this stamp, and its author, and that of its change, had seen `more` as well.
    package func knowing(_ more: VersionVector, stamp: Stamp) -> Origin {
        func joined(_ context: VersionVector) -> VersionVector {
            var context = context
            context.join(more)
            return context
        }
        var wider = Origin(dot: dot, stamp: stamp, context: joined(context))
        (wider.contextOfChange, wider.faults) = (contextOfChange.map(joined), faults)
        return wider
    }

    /// The same with these bugs planted.
    package func planting(_ faults: ModelFaults) -> Origin {
        var planted = self
        planted.faults = faults
        return planted
    }
}
