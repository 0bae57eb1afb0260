import ControlAPI
import Glibc
import Synchronization

/// Ctrl-C, and being told to end, while something is under way: the line of progress goes, the unfinished file goes, and the
/// command says that it was stopped. Then it dies of the signal, so that a script which runs it stops too.
///
/// A signal handler may do next to nothing (signal-safety(7)): it writes the signal's number into a pipe, and a thread that
/// waits at its other end does the rest.
enum Interruption {
    /// The action that removes unfinished files.
    private static let cleanup = Mutex<(@Sendable () -> Void)?>(nil)
    /// The descriptor to which the handler writes. Set before there is a handler, and never again.
    nonisolated(unsafe) private static var pipeEnd: Int32 = -1
    private static let watching = BlockingThread()

    /// Sets the sentence with which a signal ends the command from now on.
    static func explain(_ message: String, hint: String, asJSON: Bool) {
        handle { number in
            StandardError.progress("")
            cleanup.withLock { $0?() }
            Failure.say(ControlError(.cancelled, message, hint: hint), asJSON: asJSON)
            die(of: number)
        }
    }

    /// Ends the program by the signal that it was sent.
    static func die(of number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }

    /// Calls `action` from now on for each signal that is to end the command, one after the other, on a thread of its own. Only
    /// the first call in a program counts.
    static func handle(_ action: @escaping @Sendable (Int32) -> Void) {
        var ends: [Int32] = [-1, -1]
        guard pipeEnd < 0, pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        pipeEnd = ends[1]
        let readEnd = ends[0]
        watching.async {
            var number: UInt8 = 0
            while true {
                let count = read(readEnd, &number, 1)
                if count == 1 { action(Int32(number)) } else if count == 0 || errno != EINTR { return }
            }
        }
        for number in [SIGINT, SIGTERM, SIGHUP] where !isIgnored(number) {
            signal(number) { number in
                var byte = UInt8(truncatingIfNeeded: number)
                _ = write(Interruption.pipeEnd, &byte, 1)
            }
        }
    }

    /// Returns true if the signal is ignored: the starter of the command wants it to go on (nohup).
    private static func isIgnored(_ number: Int32) -> Bool {
        var current = sigaction()
        guard sigaction(number, nil, &current) == 0 else { return false }
        return unsafeBitCast(current.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Sets the file that is removed if the command is interrupted.
    static func willRemove(_ name: String, in directory: Int32) {
        // A duplicate, so that the directory cannot be closed meanwhile.
        let copy = fcntl(directory, F_DUPFD_CLOEXEC, 0)
        willRemove({ unlinkat(copy, name, 0) }, afterwards: { close(copy) })
    }

    /// Sets the action that is done if the command is interrupted; `afterwards` is done in any case.
    static func willRemove(
        _ remove: @escaping @Sendable () -> Void, afterwards: @escaping @Sendable () -> Void = {}
    ) {
        let guarded = Guarded(afterwards)
        cleanup.withLock { $0 = { withExtendedLifetime(guarded) { remove() } } }
    }

    /// Ends `willRemove`: the file is gone, or has its own name.
    static func hasRemoved() { cleanup.withLock { $0 = nil } }

    private final class Guarded: Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }
}
