import Glibc

/// Finds other agents on the local network and lets them find this one, through avahi-daemon.
///
/// Events go to a closure rather than a stream: the agent's loop hops to its event loop anyway, and a closure adds neither
/// a buffer nor a second hop. It is called on discovery's own thread, one event after the other; it must not block.
/// No method waits for Avahi but `stop`. All of Avahi's objects are confined to the one thread (`DiscoveryThread`).
package final class AvahiDiscovery: Sendable {
    private let configuration: DiscoveryConfiguration
    private let onEvent: @Sendable (DiscoveryEvent) -> Void
    private let mailbox = Mailbox()
    /// libdbus and ours together use less than 32 KiB of it.
    private static let stackSizeBytes = 512 * 1024

    package init(configuration: DiscoveryConfiguration, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void) {
        self.configuration = configuration
        self.onEvent = onEvent
    }

    deinit {
        mailbox.post(.stop)
    }

    /// Starts the thread; more calls do nothing. Avahi need not be there.
    package func start() {
        guard mailbox.markStarted() else { return }
        let seed = Unmanaged.passRetained(ThreadSeed(configuration: configuration, mailbox: mailbox, onEvent: onEvent))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, Self.stackSizeBytes)
        var thread = pthread_t()
        let result = pthread_create(&thread, &attributes, runThread, seed.toOpaque())
        guard result != 0 else { return }
        seed.release()
        mailbox.markEnded()
        onEvent(.state(.unavailable(.failed)))
    }

    /// Publishes the announcement from now on; nil publishes none. May be called before `start`; an unchanged one is not
    /// published again.
    package func publish(_ announcement: DiscoveryAnnouncement?) {
        mailbox.post(.announce(announcement))
    }

    /// Looks all records up again, each at most every 2 s: for when none of a record's addresses answers, and after
    /// midnight, when tags change.
    package func refresh() {
        mailbox.post(.refresh)
    }

    /// Takes our record off the network and ends the thread: the usual 2 ms, at most this long if avahi-daemon hangs
    /// (its goodbye then follows when the process ends). True if it ended. For good: there is no second `start`.
    @discardableResult
    package func stop(withinMilliseconds limit: Int32 = 500) -> Bool {
        guard !mailbox.markStarted() else {
            mailbox.markEnded()
            return true
        }
        mailbox.post(.stop)
        return mailbox.waitForEnd(milliseconds: limit)
    }
}

/// The arguments from which the thread builds everything else.
private final class ThreadSeed: Sendable {
    let configuration: DiscoveryConfiguration
    let mailbox: Mailbox
    let onEvent: @Sendable (DiscoveryEvent) -> Void

    init(
        configuration: DiscoveryConfiguration, mailbox: Mailbox, onEvent: @escaping @Sendable (DiscoveryEvent) -> Void
    ) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.onEvent = onEvent
    }
}

private let runThread: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
    guard let context else { return nil }
    let seed = Unmanaged<ThreadSeed>.fromOpaque(context).takeRetainedValue()
    let thread = DiscoveryThread(configuration: seed.configuration, mailbox: seed.mailbox, onEvent: seed.onEvent)
    if let thread { thread.run() } else { seed.onEvent(.state(.unavailable(.failed))) }
    seed.mailbox.markEnded()
    return nil
}
