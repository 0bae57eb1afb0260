/// A dot as an operation names it: the author's own go without the replica, which saves 40 bytes on every keystroke.
public enum DotReference: Hashable, Sendable, Codable {
    /// The counter of an operation of the same replica.
    case own(UInt64)
    case other(Dot)

    /// Creates the reference by which an operation of `author` names `dot`.
    public init(_ dot: Dot, by author: ReplicaID) {
        self = dot.replica == author ? .own(dot.counter) : .other(dot)
    }

    /// The dot that an operation of `author` means.
    public func dot(by author: ReplicaID) -> Dot {
        switch self {
        case .own(let counter): Dot(replica: author, counter: counter)
        case .other(let dot): dot
        }
    }
}

/// Dots with consecutive counters: what one operation deletes of one run.
public struct DotRange: Hashable, Sendable, Codable {
    /// The one with the least counter.
    public let first: DotReference
    /// The number of dots; at least 1.
    public let count: UInt64

    /// The dots from `first` on, `count` of them.
    public init(first: DotReference, count: UInt64) {
        self.first = first
        self.count = count
    }

    /// The fewest ranges that name these dots, in the order given.
    package static func ranges(of dots: some Sequence<Dot>, by author: ReplicaID) -> [DotRange] {
        var ranges: [DotRange] = []
        var last: Dot?
        for dot in dots {
            if let last, let range = ranges.last, last.replica == dot.replica, last.counter + 1 == dot.counter {
                ranges[ranges.count - 1] = DotRange(first: range.first, count: range.count + 1)
            } else {
                ranges.append(DotRange(first: DotReference(dot, by: author), count: 1))
            }
            last = dot
        }
        return ranges
    }

    /// The counters owned by an operation that deletes these, at least 1; never overflows.
    static func span(of ranges: [DotRange]) -> UInt64 {
        ranges.reduce(0) { sum, range in
            let (total, overflow) = sum.addingReportingOverflow(max(1, range.count))
            return overflow ? .max : total
        }
    }
}

/// The place in a sequence where an operation puts an inserted or moved element: a place in the tree of positions.
///
/// It names nodes of that tree by their dots, never an index, so it means the same place on every replica.
public enum Placement: Hashable, Sendable, Codable {
    /// Directly before a node, as its left child.
    case before(DotReference)
    /// Directly after a node (nil: at the beginning), as its right child.
    case after(DotReference?, RightOrigin)

    /// The node that followed when the author chose the place. It orders what others put after the same node.
    public enum RightOrigin: Hashable, Sendable, Codable {
        /// The right origin of the node it goes after: the usual case while a user types on.
        case inherited
        /// The place was at the end.
        case end
        case node(DotReference)
    }
}
