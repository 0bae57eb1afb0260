package import ControlAPI

/// The end of a membership as people type it.
package enum MembershipEnd {
    static let help =
        "When an admin's device revokes it by itself: 2027-01-31, 2027-01-31T18:00 or 30d. Never when left out."

    /// Reads a day (its end), a date and time by the clock of this machine or with a zone, or how long from now.
    ///
    /// - Parameter text: nil for a membership that does not end by itself.
    package static func parse(_ text: String?, now: Timestamp) throws(ControlError) -> Timestamp? {
        guard let text else { return nil }
        guard let end = moment(text, now) else {
            throw ControlError(
                .invalidArgument, "\"\(shown(text))\" is no date.",
                hint: "Type a day, a time or a length: --until 2027-01-31, --until 2027-01-31T18:00, --until 30d.")
        }
        guard end > now else {
            throw ControlError(
                .invalidArgument, "\(TimeText.local(now: now).exact(end)) is over.",
                hint: "Give a time that is still to come, such as --until 30d.")
        }
        return end
    }

    private static func moment(_ text: String, _ now: Timestamp) -> Timestamp? {
        // The length of a time that is to come, not of one that has passed.
        if let length = TimeLength(argument: text), text.last?.isLetter ?? false {
            let (end, overflows) = now.millisecondsSinceEpoch.addingReportingOverflow(Int64(length.milliseconds))
            let moment = Timestamp(millisecondsSinceEpoch: end)
            return overflows || moment.millisecondsSinceEpoch != end ? nil : moment
        }
        let isDay = String(text.map { $0.isASCII && $0.isNumber ? "0" : $0 }) == "0000-00-00"
        return PointInTime.parse(isDay ? text + "T23:59:59" : text, now: now)
    }
}
