import Glibc

/// Tells the service manager how the agent is, over the datagram socket in `NOTIFY_SOCKET` (sd_notify(3)).
package struct SystemdNotifier: Sendable {
    private let path: String
    /// The pause between two signals to the watchdog, half its time, in nanoseconds; nil without a watchdog for this process.
    package let watchdogIntervalNanoseconds: Int64?

    /// Nil when no service manager listens.
    package init?(environment: [String: String]) {
        guard let path = environment["NOTIFY_SOCKET"], path.hasPrefix("/") || path.hasPrefix("@"),
            path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path)
        else { return nil }
        self.path = path
        let isForUs = environment["WATCHDOG_PID"].map { Int32($0) == getpid() } ?? true
        let microseconds = environment["WATCHDOG_USEC"].flatMap(Int64.init)
        watchdogIntervalNanoseconds = isForUs ? microseconds.map { $0 * 1_000 / 2 } : nil
    }

    package enum Message: String, Sendable {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        case watchdog = "WATCHDOG=1"
    }

    /// Sends a message; never blocks, and ignores errors: the agent runs on without its manager.
    package func send(_ message: Message) { send(text: message.rawValue) }

    /// Asks for more time to start, and shows how far the upgrade of the store is. Five minutes from now on, so one that has hung
    /// is ended.
    package func send(upgraded share: Double) {
        send(text: "EXTEND_TIMEOUT_USEC=300000000\nSTATUS=Upgrading the store: \(Int(share * 100)) %")
    }

    private func send(text message: String) {
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        withUnsafeMutableBytes(of: &address.sun_path) { target in
            target.copyBytes(from: bytes)
            // A leading @ stands for the abstract namespace.
            if bytes.first == UInt8(ascii: "@") { target[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let text = Array(message.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { target in
                sendto(descriptor, text, text.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), target, length)
            }
        }
    }
}
