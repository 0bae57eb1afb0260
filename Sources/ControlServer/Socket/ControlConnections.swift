import Glibc
import NIOCore
import Synchronization

/// The open connections of the control socket, or of the dashboard. They are bounded, so that commands and programs that stay connected leave
/// descriptors for the store and for peers, and so that the next command always gets an answer.
///
/// A connection without a request under way is idle: it is closed after `idleTime`, and earlier where a new one needs its place.
final class ControlConnections: Sendable {
    private struct Entry {
        let channel: any Channel
        /// Nil while a request is answered.
        var idleSince: NIODeadline?
    }

    private static let idleTime = TimeAmount.minutes(5)

    private let limit: Int
    private let entries = Mutex<[ObjectIdentifier: Entry]>([:])

    /// - Parameter limit: nil for a quarter of the descriptors this process may have, 256 at most.
    init(limit: Int?) { self.limit = limit ?? Self.share }

    private static var share: Int {
        var bound = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bound) == 0 else { return 64 }
        return max(8, Int(clamping: min(bound.rlim_cur / 4, 256)))
    }

    /// Takes a connection in, in place of the one that is idle longest where there are as many as may be.
    /// - Returns: false where all others are busy: it is to be told so, and nothing else.
    func enter(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let (hasPlace, closing) = entries.withLock { entries -> (Bool, (any Channel)?) in
            let isFull = entries.count >= limit
            let idle = entries.filter { $0.value.idleSince != nil }
            let longest = idle.min { ($0.value.idleSince ?? .now()) < ($1.value.idleSince ?? .now()) }
            if isFull, let longest { entries[longest.key] = nil }
            entries[id] = Entry(channel: channel, idleSince: .now())
            return (!isFull || longest != nil, isFull ? longest?.value.channel : nil)
        }
        closing?.close(promise: nil)
        channel.closeFuture.whenComplete { [self] _ in entries.withLock { $0[id] = nil } }
        watch(id, on: channel.eventLoop, in: Self.idleTime)
        return hasPlace
    }

    var count: Int { entries.withLock(\.count) }

    /// Closes all of them, also those whose request is being answered.
    func closeAll() {
        for entry in entries.withLock({ Array($0.values) }) { entry.channel.close(promise: nil) }
    }

    func beginRequest(_ channel: any Channel) { setIdle(channel, since: nil) }

    func endRequest(_ channel: any Channel) { setIdle(channel, since: .now()) }

    private func setIdle(_ channel: any Channel, since: NIODeadline?) {
        entries.withLock { $0[ObjectIdentifier(channel)]?.idleSince = since }
    }

    private func watch(_ id: ObjectIdentifier, on eventLoop: any EventLoop, in amount: TimeAmount) {
        eventLoop.scheduleTask(in: amount) { [weak self] in self?.look(id, eventLoop) }
    }

    private func look(_ id: ObjectIdentifier, _ eventLoop: any EventLoop) {
        guard let entry = entries.withLock({ $0[id] }) else { return }
        let idle = entry.idleSince.map { NIODeadline.now() - $0 } ?? .zero
        if idle >= Self.idleTime {
            entry.channel.close(promise: nil)
        } else {
            watch(id, on: eventLoop, in: Self.idleTime - idle)
        }
    }
}
