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

    /// Its place in the order that decides between concurrent operations.
    public var key: CanonicalKey { CanonicalKey(stamp: stamp, dot: dot) }

    /// The same, `count` counters further: for the next operation of a change, or the next element of a run.
    public func advanced(by count: UInt64) -> Origin {
        Origin(dot: Dot(replica: dot.replica, counter: dot.counter + count), stamp: stamp, context: context)
            .planting(faults)
    }

    /// The same with these bugs planted.
    package func planting(_ faults: ModelFaults) -> Origin {
        var planted = self
        planted.faults = faults
        return planted
    }
}
