/// Hybrid logical time of a change: 48 bits of milliseconds since 1970, 16 bits of counter; a full counter carries.
///
/// A stamp is greater than every stamp in its context, so stamp order respects causality. It decides between *concurrent*
/// things only; no timer, horizon or display reads it. (Kulkarni et al., "Logical Physical Clocks", 2014.)
public struct Stamp: Hashable, Sendable, Comparable {
    /// Milliseconds in the upper 48 bits, the counter in the lower 16.
    public let rawValue: UInt64

    /// Before every stamp of a change.
    public static let zero = Stamp(rawValue: 0)

    /// Any 64 bits are a stamp.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The milliseconds since 1970.
    public var milliseconds: Int64 { Int64(rawValue >> 16) }

    /// The stamp of the next change of an author that holds nothing greater than `greatestHeld`.
    ///
    /// A wall clock before 1970 or beyond `wallLimitMilliseconds` is clamped: a broken clock costs order among concurrent
    /// changes, never progress. Nil when the 64 bits are used up: out of reach while everybody asks `isReachable`.
    public static func next(after greatestHeld: Stamp, wallMilliseconds: Int64) -> Stamp? {
        let wall = UInt64(min(max(wallMilliseconds, 0), wallLimitMilliseconds - 1)) << 16
        if wall > greatestHeld.rawValue { return Stamp(rawValue: wall) }
        return greatestHeld.rawValue == .max ? nil : Stamp(rawValue: greatestHeld.rawValue + 1)
    }

    /// The year 6429. No clock leads beyond; from here stamps only go on one by one.
    public static let wallLimitMilliseconds: Int64 = 1 << 47

    /// Returns true if an author that follows the rules, and holds no stamp greater than `greatestHeld`, can have written
    /// this stamp.
    ///
    /// Without this rule one forged stamp at the end of time would stop every writer for ever. A node that holds a change's
    /// context holds at least its author's greatest stamp, so an honest change passes everywhere. A forged one waits like an
    /// early one, which takes 2^63 honest changes.
    public func isReachable(from greatestHeld: Stamp) -> Bool {
        milliseconds < Self.wallLimitMilliseconds || rawValue <= greatestHeld.rawValue
            || rawValue - 1 == greatestHeld.rawValue
    }

    /// Earlier is less.
    public static func < (left: Stamp, right: Stamp) -> Bool { left.rawValue < right.rawValue }
}
