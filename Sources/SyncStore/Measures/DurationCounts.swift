/// The counts of a histogram of durations: how often something took at most so long.
///
/// Invariant: `counts` has one place more than `bounds`, for what took longer than the last bound.
package struct DurationCounts: Sendable, Equatable {
    /// The greatest duration of each bucket in seconds, increasing.
    package let bounds: [Double]
    /// The number of durations in each bucket alone.
    package private(set) var counts: [UInt64]
    /// The sum of all durations in seconds.
    package private(set) var sumSeconds: Double = 0

    package init(bounds: [Double]) {
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// The number of all durations.
    package var count: UInt64 { counts.reduce(0, &+) }

    /// Counts a duration; one below zero counts as zero.
    package mutating func record(seconds: Double) {
        let seconds = max(0, seconds)
        // From the least on: most work is fast, and a bucket is a comparison.
        var bucket = 0
        while bucket < bounds.count, seconds > bounds[bucket] { bucket += 1 }
        counts[bucket] &+= 1
        sumSeconds += seconds
    }

    /// The number of durations of at most each bound, then of all: what an exposition writes.
    package var cumulative: [UInt64] {
        var sum: UInt64 = 0
        return counts.map { count in
            sum &+= count
            return sum
        }
    }

    /// From a tenth of a millisecond to ten seconds: a write to a disk, from the fast one to the one that is about to
    /// fail.
    package static let diskBounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
    ]
    /// From a millisecond to a day: the way of a change to other devices, which may be away.
    package static let networkBounds = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600, 3_600, 86_400,
    ]
}
