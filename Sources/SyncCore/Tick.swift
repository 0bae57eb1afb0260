/// A moment on a monotonic clock, in nanoseconds since some start. The core never asks for the time: it is told.
package struct Tick: Hashable, Sendable, Comparable {
    package let nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func milliseconds(_ value: Int64) -> Tick { Tick(nanoseconds: value * 1_000_000) }

    package static func < (left: Tick, right: Tick) -> Bool { left.nanoseconds < right.nanoseconds }

    package static func + (tick: Tick, span: Span) -> Tick { Tick(nanoseconds: tick.nanoseconds + span.nanoseconds) }

    package static func - (left: Tick, right: Tick) -> Span { Span(nanoseconds: left.nanoseconds - right.nanoseconds) }

    /// A stretch of monotonic time.
    package struct Span: Hashable, Sendable, Comparable {
        package let nanoseconds: Int64

        package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

        package static func milliseconds(_ value: Int64) -> Span { Span(nanoseconds: value * 1_000_000) }
        package static func seconds(_ value: Int64) -> Span { Span(nanoseconds: value * 1_000_000_000) }

        package static func < (left: Span, right: Span) -> Bool { left.nanoseconds < right.nanoseconds }
    }
}

extension Tick? {
    /// Takes the earlier of the two; nil is never.
    mutating func bringForward(to other: Tick?) {
        guard let other else { return }
        self = self.map { Swift.min($0, other) } ?? other
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the core's only source of chance, seeded by its configuration.
package struct SplitMix64: RandomNumberGenerator, Hashable, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return value ^ (value >> 31)
    }
}
