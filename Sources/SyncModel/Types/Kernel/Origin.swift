/// Where one operation stands in history: what names it, when it was made, and what its author knew.
///
/// Two operations are concurrent when neither knows the other's dot. Everything a replicated type decides, it decides
/// from origins alone; no clock, no order of arrival.
public struct Origin: Hashable, Sendable {
    /// The operation's first counter; an operation that spans n counters owns `dot.counter ..< dot.counter + n`.
    public let dot: Dot
    /// Of the change that holds the operation; greater than every stamp the author had seen.
    public let stamp: Stamp
    /// What the author held before the change. Its own earlier operations need not be in it: `knows` counts them in.
    public let context: VersionVector
    /// What its author held before the change that says it again, where `context` is what that had seen when it was said first.
    package private(set) var contextOfChange: VersionVector?
    /// Planted bugs; none outside simulations and tests.
    package var faults: ModelFaults = []

    /// Of an operation of a change with this stamp and context.
    public init(dot: Dot, stamp: Stamp, context: VersionVector) {
        self.dot = dot
        self.stamp = stamp
        self.context = context
    }

    /// Whether the author of this operation had seen the one `other` names, or made it before.
    public func knows(_ other: Dot) -> Bool {
        other.replica == dot.replica ? other.counter < dot.counter : context.covers(other)
    }

    /// Whether the change that holds the operation knows the one `other` names: so its author may be one that was let in since.
    func changeKnows(_ other: Dot) -> Bool {
        other.replica == dot.replica ? other.counter < dot.counter : (contextOfChange ?? context).covers(other)
    }

    /// Its place in the order that decides between concurrent operations.
    public var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }

    /// The same, `count` counters further: for the next operation of a change, or the next element of a run.
    public func advanced(by count: UInt64) -> Origin {
        var advanced = Origin(
            dot: Dot(replica: dot.replica, counter: dot.counter + count), stamp: stamp, context: context)
        (advanced.contextOfChange, advanced.faults) = (contextOfChange, faults)
        return advanced
    }

    /// The same of what is said again, by an author who had seen that when it said so first. Nobody can have seen what is not in
    /// its change's past.
    func again(knowing known: VersionVector) -> Origin {
        var again = Origin(dot: dot, stamp: stamp, context: known.meet(context))
        (again.contextOfChange, again.faults) = (context, faults)
        return again
    }

    /// The same with these bugs planted.
    package func planting(_ faults: ModelFaults) -> Origin {
        var planted = self
        planted.faults = faults
        return planted
    }
}
