/// A limit in bytes a second. Tokens are bytes; what is taken beyond the level is waited for afterwards. A quarter of a
/// second's worth may be taken at once, but always a whole chunk.
package struct TokenBucket: Sendable, Equatable {
    package static let leastBurst: Int64 = 256 << 10

    /// The inflow in bytes a second; at least 1.
    private let perSecond: UInt64
    private let burst: Int64
    /// The tokens in the bucket; below zero: owed.
    package private(set) var level: Int64
    /// The time up to which the inflow is counted.
    private var countedTo: Tick

    package init(perSecond: UInt64, at now: Tick) {
        self.perSecond = max(1, min(perSecond, 1 << 40))
        burst = max(Self.leastBurst, Int64(self.perSecond / 4))
        level = burst
        countedTo = now
    }

    package mutating func refill(at now: Tick) {
        let elapsed = UInt64(clamping: (now - countedTo).nanoseconds)
        // 2^40 bytes a second over ten seconds of nanoseconds would not fit into 64 bits.
        let flown = perSecond.multipliedFullWidth(by: elapsed)
        guard flown.high < 1_000_000_000 else {
            (level, countedTo) = (burst, now)
            return
        }
        let bytes = UInt64(1_000_000_000).dividingFullWidth(flown).quotient
        guard bytes < UInt64(clamping: burst - level) else {
            (level, countedTo) = (burst, now)
            return
        }
        level += Int64(bytes)
        // Only the time that made whole bytes is counted, so that little gets lost between two steps, and none is made.
        let spent = bytes.multipliedFullWidth(by: 1_000_000_000)
        let (whole, rest) = perSecond.dividingFullWidth(spent)
        countedTo = countedTo + Tick.Span(nanoseconds: Int64(clamping: whole) + (rest > 0 ? 1 : 0))
    }

    /// True if the bytes may be taken, at the level as refilled last.
    package func holds(_ bytes: Int) -> Bool { level >= min(Int64(bytes), burst) }

    package mutating func take(_ bytes: Int) { level -= Int64(bytes) }

    /// Returns tokens of bytes that were not moved.
    package mutating func giveBack(_ bytes: Int) { level = min(burst, level + Int64(bytes)) }

    /// The time at which the bucket will hold these bytes.
    package func time(of bytes: Int) -> Tick {
        let lacking = UInt64(clamping: min(Int64(bytes), burst) - level)
        let product = lacking.multipliedFullWidth(by: 1_000_000_000)
        guard product.high < perSecond else { return countedTo + .seconds(3_600) }
        let nanoseconds = perSecond.dividingFullWidth(product).quotient
        return countedTo + Tick.Span(nanoseconds: Int64(clamping: nanoseconds) + 1)
    }
}
