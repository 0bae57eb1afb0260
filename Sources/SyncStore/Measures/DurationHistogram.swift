import Synchronization

/// A histogram that any thread may add to. Adding is a few comparisons under a lock that nothing else holds for longer.
package final class DurationHistogram: Sendable {
    private let state: Mutex<DurationCounts>

    package init(bounds: [Double]) { state = Mutex(DurationCounts(bounds: bounds)) }

    package var counts: DurationCounts { state.withLock(\.self) }

    package func record(seconds: Double) { state.withLock { $0.record(seconds: seconds) } }

    /// Records the time from `start` until now.
    package func record(since start: ContinuousClock.Instant) {
        record(seconds: (ContinuousClock.now - start) / .seconds(1))
    }

    /// Runs `body` and records how long it took, unless it throws.
    package func timing<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        let start = ContinuousClock.now
        let value = try body()
        record(since: start)
        return value
    }
}
