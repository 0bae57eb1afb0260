import Foundation

/// A program that a test starts, by posix_spawn(3).
///
/// Foundation's `Process` lists the descriptors of this process, and writes beyond its list when the agents of other tests open
/// some meanwhile.
struct ChildProcess: Sendable {
    private let identifier: pid_t

    /// posix_spawn_file_actions_addclosefrom_np(3), which is not in the headers that Swift imports.
    private static let closeFrom = dlsym(nil, "posix_spawn_file_actions_addclosefrom_np").map {
        unsafeBitCast(
            $0, to: (@convention(c) (UnsafeMutablePointer<posix_spawn_file_actions_t>, CInt) -> CInt).self)
    }

    /// Held while a pipe is made, and while a program starts: in between a pipe would be inherited.
    private static let lock = NSLock()

    /// Makes a pipe that no program inherits, but for the ends that it is given.
    static func pipe() throws -> Pipe {
        try lock.withLock {
            let pipe = Pipe()
            for end in [pipe.fileHandleForReading, pipe.fileHandleForWriting] {
                guard fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw CocoaError(.fileWriteUnknown) }
            }
            return pipe
        }
    }

    /// Starts a program with these three descriptors and no others.
    init(
        _ path: String, _ arguments: [String], environment: [String: String], input: FileHandle, output: FileHandle,
        errors: FileHandle
    ) throws {
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, handle) in [input, output, errors].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, handle.fileDescriptor, Int32(number))
        }
        // Sockets of this process's agents are not closed by exec: their ports would stay taken while the program runs.
        guard let closeFrom = Self.closeFrom, closeFrom(&actions, 3) == 0 else { throw POSIXError(.ENOSYS) }
        // Threads of this process block signals, and the tests ignore SIGPIPE.
        var (none, all) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let words = ([path] + arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        var identifier: pid_t = 0
        let code = Self.lock.withLock { posix_spawn(&identifier, path, &actions, &attributes, words, variables) }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        self.identifier = identifier
    }

    /// Waits for the end, and returns the exit code, or the number of the signal as a negative one.
    func waitUntilExit() -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }
}
