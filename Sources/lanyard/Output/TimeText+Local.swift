import ControlAPI
import Glibc

extension TimeText {
    /// Times by the clock and the zone of this machine (`TZ`, else /etc/localtime).
    static var local: TimeText { local(now: .now) }

    static func local(now: Timestamp) -> TimeText {
        TimeText(now: now) { time in
            var seconds = time_t(time.millisecondsSinceEpoch / 1_000)
            var parts = tm()
            localtime_r(&seconds, &parts)
            return Int64(parts.tm_gmtoff) * 1_000
        }
    }

    /// The age for a table: a dash where there is no time.
    func age(_ time: Timestamp?) -> String { time.map { age($0) } ?? "-" }
}

extension Timestamp {
    /// The wall clock of this machine.
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(millisecondsSinceEpoch: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
