/// The newest change of a space is dated ahead of this node's clock: a clock was, or this one is behind.
///
/// Stamps only grow, so until the time that the newest one names each new change follows the newest one seen, whenever it was made.
package struct ClockLead: Equatable, Sendable {
    /// The lead of the newest change; above `toleratedMilliseconds`.
    package let milliseconds: Int64
    private let end: Timestamp

    private static let toleratedMilliseconds: Int64 = 60_000

    /// Returns nil where the newest change is not ahead, or by less than clocks differ anyway.
    ///
    /// - Parameters:
    ///   - newest: the greatest stamp held, milliseconds since 1970.
    ///   - now: this node's clock, milliseconds since 1970.
    package init?(newest: Int64, now: Int64) {
        let lead = newest.subtractingReportingOverflow(now)
        guard !lead.overflow, lead.partialValue > Self.toleratedMilliseconds else { return nil }
        milliseconds = lead.partialValue
        end = Timestamp(millisecondsSinceEpoch: newest)
    }

    /// The finding as a sentence without its full stop.
    package var sentence: String { "The newest change here is dated \(length) ahead of this device's clock" }

    /// The meaning and what to do about it.
    package var hint: String {
        "Check this clock. If it is right, another one was wrong: of edits made apart, which counts as later is not decided by time "
            + "until \(end.description.prefix(10)). Nothing is lost."
    }

    private var length: String {
        let (minutes, days) = (milliseconds / 60_000, milliseconds / 86_400_000)
        if days > 1 { return "\(days) days" }
        return minutes >= 120 ? "\(minutes / 60) hours" : minutes == 1 ? "1 minute" : "\(minutes) minutes"
    }

    package var warning: StatusResponse.Warning { .init(code: "changes_ahead", message: sentence + ".", hint: hint) }

    /// The check of `lanyard doctor`.
    package static func check(_ lead: ClockLead?) -> DoctorCheck {
        guard let lead else {
            return DoctorCheck(
                check: "newest_change", state: .ok, detail: "no change is dated ahead of this device's clock")
        }
        let sentence = lead.sentence
        return DoctorCheck(
            check: "newest_change", state: .warning, detail: sentence.prefix(1).lowercased() + sentence.dropFirst(),
            hint: lead.hint)
    }
}
