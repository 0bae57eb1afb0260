/// The pause before another attempt: 250 ms, doubling to 5 s. A restarted service is found soon, and one that is not installed
/// costs little.
package struct BackOff: Sendable {
    package static let leastNanoseconds: UInt64 = 250_000_000
    package static let mostNanoseconds: UInt64 = 5_000_000_000

    private var delay = leastNanoseconds

    package init() {}

    package mutating func next() -> UInt64 {
        defer { delay = min(2 * delay, Self.mostNanoseconds) }
        return delay
    }

    package mutating func reset() {
        delay = Self.leastNanoseconds
    }
}
