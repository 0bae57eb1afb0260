import ControlAPI
import Glibc

extension Amounts {
    private static let weekdays = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]

    /// Since when, by the local clock: "since 14:05" of the same day, "since Monday" within six days, else "since 2026-11-02".
    static func since(_ time: Timestamp, now: Timestamp = .now) -> String {
        let (then, today) = (local(time), local(now))
        let age = now.millisecondsSinceEpoch - time.millisecondsSinceEpoch
        if then.tm_year == today.tm_year, then.tm_yday == today.tm_yday {
            return "since \(digits(then.tm_hour)):\(digits(then.tm_min))"
        }
        if (0..<6 * 86_400_000).contains(age), weekdays.indices.contains(Int(then.tm_wday)) {
            return "since \(weekdays[Int(then.tm_wday)])"
        }
        return "since \(Int(then.tm_year) + 1_900)-\(digits(then.tm_mon + 1))-\(digits(then.tm_mday))"
    }

    private static func local(_ time: Timestamp) -> tm {
        var seconds = time_t(time.millisecondsSinceEpoch / 1_000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return parts
    }

    private static func digits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
