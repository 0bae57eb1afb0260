import Foundation
import Glibc

/// The wall clock: for stamps and display, never for timers.
package enum WallClock {
    /// The milliseconds since 1970.
    package static var milliseconds: Int64 {
        Int64(Date().timeIntervalSince1970 * 1_000)
    }

    /// Returns the milliseconds since 1970 of a moment that a fact names, which may lie beyond all times.
    package static func milliseconds(atSeconds seconds: UInt64) -> Int64 {
        Int64(min(seconds, UInt64(Int64.max / 1_000))) * 1_000
    }

    /// Milliseconds by which the clock is ahead of the time since the machine's start, sleep included: a clock that is set shows.
    static var aheadOfUptime: Int64 {
        var uptime = timespec()
        clock_gettime(CLOCK_BOOTTIME, &uptime)
        return milliseconds - (Int64(uptime.tv_sec) * 1_000 + Int64(uptime.tv_nsec) / 1_000_000)
    }

    /// Days since 1970, UTC: what daily tags count in.
    package static var day: Int64 { milliseconds / 86_400_000 }
}
