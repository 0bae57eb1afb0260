/// Times as people read them; JSON and logs have the RFC 3339 text of `Timestamp` instead.
///
/// Up to six days back a time is told by its age, before that by its day. Pure: the caller brings the clock and the zone.
package struct TimeText {
    private let now: Timestamp
    /// The offset of the reader's time zone from UTC at a moment, in milliseconds; positive is ahead.
    private let zoneOffset: (Timestamp) -> Int64

    private static let weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let dayMilliseconds: Int64 = 86_400_000
    private static let agedMilliseconds = 6 * dayMilliseconds
    /// Clocks of devices differ by less; a time further ahead is shown as it is.
    private static let aheadMilliseconds: Int64 = 60_000

    /// - Parameter zoneOffset: UTC where it is left out.
    package init(now: Timestamp, zoneOffset: @escaping (Timestamp) -> Int64 = { _ in 0 }) {
        self.now = now
        self.zoneOffset = zoneOffset
    }

    /// Date and time to the second: `2025-11-21 05:28:31`.
    package func exact(_ time: Timestamp) -> String {
        let text = local(time).description
        return "\(text.prefix(10)) \(text.dropFirst(11).prefix(8))"
    }

    /// `now`, `5 min ago`, then `2025-11-21`.
    package func age(_ time: Timestamp) -> String {
        let milliseconds = age(of: time)
        switch milliseconds {
        case ..<(-Self.aheadMilliseconds): return exact(time)
        case ..<2_000: return "now"
        case ..<Self.agedMilliseconds: return "\(Self.length(seconds: Int(milliseconds / 1_000))) ago"
        case _: return day(time)
        }
    }

    /// `since 14:05` of the same day, then `since Monday`, then `since 2025-11-02`.
    package func since(_ time: Timestamp) -> String {
        if day(time) == day(now) { return "since \(exact(time).dropFirst(11).prefix(5))" }
        guard (0..<Self.agedMilliseconds).contains(age(of: time)) else { return "since \(day(time))" }
        // 1970-01-01 was a Thursday; years before that are shown by their day.
        let days = local(time).millisecondsSinceEpoch / Self.dayMilliseconds
        return "since \(Self.weekdays[Int(max(0, days) % 7)])"
    }

    /// Returns the time left, in whole seconds, rounded up.
    package func until(_ time: Timestamp) -> String {
        let rest = -age(of: time)
        return rest <= 0 ? "now" : "within \(Self.length(seconds: Int((rest + 999) / 1_000)))"
    }

    /// `59 s`, `59 min`, `23 h 59 min`, `2 d 3 h`.
    package static func length(seconds: Int) -> String {
        switch seconds {
        case ..<60: "\(seconds) s"
        case ..<3_600: "\(seconds / 60) min"
        case ..<86_400: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
        case _: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
        }
    }

    /// A length of time that a person chose, in the greatest unit that loses nothing: `45 s`, `90 min`, `12 h`, `1 d`.
    package static func interval(seconds: Int) -> String {
        if seconds.isMultiple(of: 86_400) { return "\(seconds / 86_400) d" }
        if seconds.isMultiple(of: 3_600) { return "\(seconds / 3_600) h" }
        return seconds.isMultiple(of: 60) ? "\(seconds / 60) min" : "\(seconds) s"
    }

    private func age(of time: Timestamp) -> Int64 { now.millisecondsSinceEpoch - time.millisecondsSinceEpoch }

    private func day(_ time: Timestamp) -> String { String(local(time).description.prefix(10)) }

    /// Returns the moment at which a clock in UTC reads as the reader's clock does at `time`.
    private func local(_ time: Timestamp) -> Timestamp {
        Timestamp(millisecondsSinceEpoch: time.millisecondsSinceEpoch + zoneOffset(time))
    }
}
