import CAvahi
import Glibc

/// A poll loop for Avahi's objects and ours, confined to the thread that makes it.
///
/// Avahi's own timeouts follow the wall clock, which people and NTP move; the deadline here is a monotonic timerfd.
final class PollLoop {
    private let simplePoll: OpaquePointer
    private let timer: Int32
    private let ready = Ready()
    private var watches: [OpaquePointer] = []

    /// The descriptors that the callbacks of our own watches marked as readable.
    private final class Ready {
        var descriptors: Set<Int32> = []
    }

    /// Nil when the process has no memory or descriptors left.
    init?() {
        let clock = timerfd_create(CLOCK_MONOTONIC, Int32(TFD_CLOEXEC | TFD_NONBLOCK))
        guard clock >= 0 else { return nil }
        guard let poll = avahi_simple_poll_new() else {
            close(clock)
            return nil
        }
        simplePoll = poll
        timer = clock
        watch(timer)
    }

    /// Every Avahi client on this loop must have been freed before.
    deinit {
        watches.forEach { api.pointee.watch_free($0) }
        avahi_simple_poll_free(simplePoll)
        close(timer)
    }

    var api: UnsafePointer<AvahiPoll> { avahi_simple_poll_get(simplePoll) }

    /// Makes `iterate` return when the descriptor is readable, and name it. The owner of the descriptor reads it.
    func watch(_ descriptor: Int32) {
        let callback: AvahiWatchCallback = { _, descriptor, _, context in
            guard let context else { return }
            Unmanaged<Ready>.fromOpaque(context).takeUnretainedValue().descriptors.insert(descriptor)
        }
        let context = Unmanaged.passUnretained(ready).toOpaque()
        if let watch = api.pointee.watch_new(api, descriptor, AVAHI_WATCH_IN, callback, context) {
            watches.append(watch)
        }
    }

    /// Waits for one event, lets its callback run and says which of our descriptors are readable; nil when polling
    /// itself failed.
    func iterate() -> Set<Int32>? {
        guard avahi_simple_poll_iterate(simplePoll, -1) == 0 else { return nil }
        defer { ready.descriptors = [] }
        if ready.descriptors.contains(timer) { readTimer() }
        return ready.descriptors
    }

    /// Wakes the loop at that time; nil: never.
    func wake(at nanoseconds: UInt64?) {
        // Zero would disarm, and a time that has passed fires at once.
        let when = nanoseconds.map { max($0, 1) } ?? 0
        var value = itimerspec()
        value.it_value.tv_sec = Int(when / 1_000_000_000)
        value.it_value.tv_nsec = Int(when % 1_000_000_000)
        timerfd_settime(timer, Int32(TFD_TIMER_ABSTIME), &value, nil)
    }

    private func readTimer() {
        var count: UInt64 = 0
        _ = read(timer, &count, MemoryLayout<UInt64>.size)
    }

    static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
