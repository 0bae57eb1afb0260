import ControlAPI
import Glibc
import Synchronization

/// The command of `lanyard run`: started once per event, with the event's JSON on its standard input.
///
/// It runs in a process group of its own, so that a command that hangs is ended with all that it started. Its output goes where
/// ours goes. Its input is a file without a name: a command that does not read it holds nothing up.
final class EventCommand: Sendable {
    enum Outcome: Equatable {
        case done
        /// `exit 3`, `signal 11`, `no end after 60 s`.
        case failed(String)
    }

    private struct State {
        var group: pid_t?
        var isOverdue = false
        var isStopped = false
    }

    /// After being asked to end, a command has this long before it is killed.
    private static let graceMilliseconds = 5_000

    private let words: [String]
    private let timeout: TimeLength
    private let state = Mutex(State())
    private let waiting = BlockingThread()

    init(_ words: [String], timeout: TimeLength) {
        self.words = words
        self.timeout = timeout
    }

    /// True while it runs.
    var isRunning: Bool { state.withLock { $0.group != nil } }

    /// Ends what runs now, with all that it started. It comes to a failure.
    func stop() { end(SIGKILL) { $0.isStopped = true } }

    /// Runs the command once.
    ///
    /// - Throws: `not_found` and the like if it cannot be started at all: that is no fault of the event.
    func run(_ input: [UInt8], _ variables: [(name: String, value: String)]) async throws(ControlError) -> Outcome {
        let group = try start(input, variables)
        let limit = timeout.milliseconds
        let timer = Task { [self] in
            try await Task.sleep(for: .milliseconds(limit))
            end(SIGTERM, only: group) { $0.isOverdue = true }
            try await Task.sleep(for: .milliseconds(Self.graceMilliseconds))
            end(SIGKILL, only: group) { _ in }
        }
        let (status, last) = await withCheckedContinuation { continuation in
            waiting.async { [self] in continuation.resume(returning: waitUntilExit(group)) }
        }
        timer.cancel()
        if last.isStopped { return .failed("stopped") }
        if last.isOverdue { return .failed("no end after \(TimeText.interval(seconds: limit / 1_000))") }
        if status & 0x7F != 0 { return .failed("signal \(status & 0x7F)") }
        let code = (status >> 8) & 0xFF
        return code == 0 ? .done : .failed("exit \(code)")
    }

    /// - Parameter meant: the group that is meant; nil for the one that runs now. A late timer does not meet the next command.
    private func end(_ signal: Int32, only meant: pid_t? = nil, _ change: (inout State) -> Void) {
        state.withLock { state in
            guard let group = state.group, meant == nil || meant == group else { return }
            change(&state)
            kill(-group, signal)
        }
    }

    /// Waits for the end of the command. Until it is reaped, under the lock, no other process can have its number.
    private func waitUntilExit(_ group: pid_t) -> (status: Int32, State) {
        var ended = siginfo_t()
        while waitid(P_PID, id_t(group), &ended, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            // What it started may live on, unless it was to end.
            if state.isOverdue || state.isStopped { kill(-group, SIGKILL) }
            var status: Int32 = 0
            while waitpid(group, &status, 0) < 0, errno == EINTR {}
            defer { state = State() }
            return (status, state)
        }
    }

    private func start(
        _ input: [UInt8], _ variables: [(name: String, value: String)]
    ) throws(ControlError) -> pid_t {
        let file = try Self.unnamedFile(of: input)
        defer { close(file) }
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, file, 0)
        // This program ignores SIGPIPE, and its threads may block signals; the command is to begin as a shell would start it.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        let arguments = words.map { strdup($0) } + [nil]
        let environment = try Self.environment(with: variables).map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        return try state.withLock { state throws(ControlError) in
            var group: pid_t = 0
            let code = posix_spawnp(&group, words[0], &actions, &attributes, arguments, environment)
            guard code == 0 else {
                throw ControlError(
                    code == ENOENT ? .notFound : .invalidArgument,
                    "The command \(shown(words[0])) cannot be started: \(String(cString: strerror(code))).",
                    hint: "Check the words after --; no event was taken as done.")
            }
            state.group = group
            return group
        }
    }

    /// The environment of this program, and the variables in place of any of the same name.
    private static func environment(
        with variables: [(name: String, value: String)]
    ) throws(ControlError) -> [String] {
        let inherited = try FileBytes.read("/proc/self/environ", limit: 8 << 20).split(separator: 0)
            .map { String(decoding: $0, as: UTF8.self) }
        let names = variables.map { $0.name + "=" }
        return inherited.filter { text in !names.contains { text.hasPrefix($0) } }
            + variables.map { "\($0.name)=\($0.value)" }
    }

    private static func unnamedFile(of bytes: [UInt8]) throws(ControlError) -> Int32 {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/lanyard-event-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        guard file >= 0 else {
            throw ControlError(
                .fileUnwritable, "No temporary file can be made in \(folder): \(String(cString: strerror(errno))).",
                hint: "Set TMPDIR to a folder in which you may write.")
        }
        unlink(name)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        guard Descriptor.write(bytes, to: file), lseek(file, 0, SEEK_SET) == 0 else {
            close(file)
            throw ControlError(.diskFull, "No space is left in \(folder).", hint: "Free some, or set TMPDIR.")
        }
        return file
    }
}
