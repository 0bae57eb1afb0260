#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The wall clock: for stamps and display, never for timers.
package enum WallClock {
    /// Since 1970.
    package static var milliseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    /// Days since 1970, UTC: what daily tags count in.
    package static var day: Int64 { milliseconds / 86_400_000 }
}
