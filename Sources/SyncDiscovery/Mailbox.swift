import CAvahi
import Glibc
import Synchronization

/// The one door into the discovery thread: commands go into a list under a lock, and a descriptor wakes the thread. The
/// lock is never held while anything is called, so a caller on an event loop does not wait for D-Bus.
final class Mailbox: Sendable {
    enum Command: Sendable {
        case announce(DiscoveryAnnouncement?)
        case refresh
        case stop
    }

    private struct Content {
        var commands: [Command] = []
        var hasStarted = false
    }

    /// Readable when commands wait.
    let wakeDescriptor: Int32
    /// Readable when the thread has ended.
    private let endDescriptor: Int32
    private let content = Mutex(Content())

    init() {
        wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        endDescriptor = eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK))
        precondition(wakeDescriptor >= 0 && endDescriptor >= 0, "no descriptors left for discovery: errno \(errno)")
    }

    deinit {
        close(wakeDescriptor)
        close(endDescriptor)
    }

    func post(_ command: Command) {
        content.withLock { $0.commands.append(command) }
        eventfd_write(wakeDescriptor, 1)
    }

    func takeAll() -> [Command] {
        var value: eventfd_t = 0
        eventfd_read(wakeDescriptor, &value)
        return content.withLock { content in
            defer { content.commands = [] }
            return content.commands
        }
    }

    /// True the first time only.
    func markStarted() -> Bool {
        content.withLock { content in
            defer { content.hasStarted = true }
            return !content.hasStarted
        }
    }

    var hasStarted: Bool { content.withLock { $0.hasStarted } }

    func markEnded() {
        eventfd_write(endDescriptor, 1)
    }

    func waitForEnd(milliseconds: Int32) -> Bool {
        var poll = pollfd(fd: endDescriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, milliseconds) == 1
    }
}
