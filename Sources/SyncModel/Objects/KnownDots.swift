/// Which of some operations on one object an author had seen: per replica the last of them, for who knows one knows those
/// before it. So a thousand deletions of one object that each know the earlier ones cost a thousand dots, not a million.
///
/// A vector would say more than it should: equal on two nodes only if it says nothing beyond these operations.
package struct KnownDots: Hashable, Sendable {
    /// Sorted by replica, each once.
    package private(set) var dots: [Dot] = []

    package init() {}

    /// - Parameter operations: sorted.
    init(of operations: some Sequence<Dot>, at origin: Origin) {
        for dot in operations where origin.knows(dot) {
            if let last = dots.last, last.replica == dot.replica { dots.removeLast() }
            dots.append(dot)
        }
    }

    /// Nil unless sorted by replica, each once.
    init?(_ dots: [Dot]) {
        for (one, next) in zip(dots, dots.dropFirst()) where one.replica >= next.replica { return nil }
        self.dots = dots
    }

    /// Whether it covers an operation that was here when this was made. One that came later it does not cover.
    package func covers(_ dot: Dot) -> Bool {
        dots.contains { $0.replica == dot.replica && dot.counter <= $0.counter }
    }
}
