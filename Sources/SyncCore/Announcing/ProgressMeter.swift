/// The rate at which a number grows, from its last few readings: users see it for a peer that is behind.
///
/// At most 21 readings, a quarter of a second apart, none older than five seconds when the next one comes.
package struct ProgressMeter: Sendable, Equatable {
    private static let window = Tick.Span.seconds(5)
    private static let spacing = Tick.Span.milliseconds(250)

    private struct Reading: Sendable, Equatable {
        let at: Tick
        let total: UInt64
    }

    private var readings: [Reading] = []
    private var last: Reading?

    package init() {}

    package mutating func record(_ total: UInt64, at now: Tick) {
        last = Reading(at: now, total: total)
        if let newest = readings.last, now - newest.at < Self.spacing { return }
        readings.append(Reading(at: now, total: total))
        readings.removeAll { now - $0.at > Self.window }
    }

    /// The rate over the last five seconds at most; 0 when nothing came in them.
    package func perSecond(at now: Tick) -> UInt64 {
        guard let last, let first = readings.first(where: { now - $0.at <= Self.window }), last.total > first.total
        else {
            return 0
        }
        let nanoseconds = UInt64(max((now - first.at).nanoseconds, 1))
        let (product, overflow) = (last.total - first.total).multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? (last.total - first.total) / max(nanoseconds / 1_000_000_000, 1) : product / nanoseconds
    }
}
