import ControlAPI
import Glibc

extension TimeText {
    /// Returns times by the zone of this machine (`TZ`, else /etc/localtime). `localtime_r` alone reads the zone once, and an
    /// agent runs on while a laptop travels.
    static func local(now: Timestamp) -> TimeText {
        tzset()
        return TimeText(now: now) { time in
            var seconds = time_t(time.millisecondsSinceEpoch / 1_000)
            var parts = tm()
            localtime_r(&seconds, &parts)
            return Int64(parts.tm_gmtoff) * 1_000
        }
    }
}
