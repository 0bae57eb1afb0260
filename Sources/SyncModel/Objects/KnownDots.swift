/// The operations on one object, among those of one kind, that an author had seen: the last one per replica, since an author
/// that knows one knows those before it. So a thousand deletions of one object that each know the earlier ones cost a
/// thousand dots, not a million.
///
/// A vector would say too much: two nodes' vectors are equal only if they say nothing beyond these operations.
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

    /// True if an operation that was stored when this was made is covered. The answer does not hold for operations that
    /// arrived later.
    package func covers(_ dot: Dot) -> Bool {
        dots.contains { $0.replica == dot.replica && dot.counter <= $0.counter }
    }
}
