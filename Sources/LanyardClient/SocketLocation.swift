public import ControlAPI
import Glibc

/// Where an agent's control socket and data are looked for, in the order design.md §12 gives.
public struct SocketLocation: Sendable, Equatable {
    /// Sockets to try, first that answers wins. Exactly one when somebody said which.
    public let candidates: [String]
    /// Where the agent keeps its data, as far as that follows from what was given.
    public let dataDirectory: String
    /// The flags that start an agent which answers there, for example ["--data-dir", "/tmp/a"].
    public let agentArguments: [String]
    /// Whether the machine's service is meant, which is started by systemd and not by hand.
    private let isService: Bool

    /// The name of the socket in a data directory.
    public static let socketName = "control.sock"

    // The machine's service, as its unit says: deploy/systemd/system/lanyard.service.
    private static let serviceSocket = "/run/lanyard/\(socketName)"
    private static let serviceDataDirectory = "/var/lib/lanyard"

    /// Looks at `socket` (`--socket`), LANYARD_SOCKET, `dataDirectory` (`--data-dir`), LANYARD_DATA_DIR,
    /// `$XDG_RUNTIME_DIR/lanyard`, the user's data directory, `/run/lanyard`.
    public init(
        socket: String? = nil, dataDirectory: String? = nil,
        environment: (String) -> String? = SocketLocation.processEnvironment
    ) {
        let userDirectory = Self.userDataDirectory(environment)
        let givenDirectory = dataDirectory ?? environment("LANYARD_DATA_DIR")
        if let socket = socket ?? environment("LANYARD_SOCKET") {
            candidates = [socket]
            isService =
                socket == Self.serviceSocket
                && (givenDirectory ?? Self.serviceDataDirectory) == Self.serviceDataDirectory
            self.dataDirectory =
                givenDirectory
                ?? (isService ? Self.serviceDataDirectory : Self.directory(of: socket) ?? userDirectory)
            let isImplied = socket == "\(self.dataDirectory)/\(Self.socketName)"
            agentArguments = ["--data-dir", self.dataDirectory] + (isImplied ? [] : ["--socket", socket])
        } else if let givenDirectory {
            candidates = ["\(givenDirectory)/\(Self.socketName)"]
            isService = false
            self.dataDirectory = givenDirectory
            agentArguments = ["--data-dir", givenDirectory]
        } else {
            let runtime = environment("XDG_RUNTIME_DIR").map { ["\($0)/lanyard/\(Self.socketName)"] } ?? []
            candidates = runtime + ["\(userDirectory)/\(Self.socketName)", Self.serviceSocket]
            isService = false
            self.dataDirectory = userDirectory
            agentArguments = []
        }
    }

    /// The user's data directory: `$XDG_DATA_HOME/lanyard` or `~/.local/share/lanyard`.
    public static func userDataDirectory(_ environment: (String) -> String? = processEnvironment) -> String {
        if let base = environment("XDG_DATA_HOME") { return "\(base)/lanyard" }
        return "\(environment("HOME") ?? homeDirectory(of: geteuid()))/.local/share/lanyard"
    }

    /// What the user database says, for a process without HOME (cron, a service). `/` for a user it does not know, as
    /// `login` does.
    package static func homeDirectory(of user: UInt32) -> String {
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        // POSIX names no bound for a record; 16 KiB is many times what any has.
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { text in
            guard getpwuid_r(user, &record, text.baseAddress!, text.count, &found) == 0, found != nil,
                let home = record.pw_dir, home.pointee != 0
            else { return "/" }
            return String(cString: home)
        }
    }

    /// A variable of this process that is set and not empty.
    public static func processEnvironment(_ name: String) -> String? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        return String(cString: value)
    }

    private static func directory(of socket: String) -> String? {
        guard let slash = socket.lastIndex(of: "/"), socket[slash...] == "/\(socketName)" else { return nil }
        return String(socket[..<slash])
    }

    /// The command that starts an agent there, to be pasted into a shell.
    public var startCommand: String {
        if isService { return "systemctl start lanyard" }
        return ([Self.agentProgram()] + agentArguments).map(ShellWord.quoted).joined(separator: " ")
    }

    /// `lanyardd` where the shell finds it, else the one beside this program.
    private static func agentProgram() -> String {
        for directory in (processEnvironment("PATH") ?? "").split(separator: ":")
        where access("\(directory)/lanyardd", X_OK) == 0 { return "lanyardd" }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { readlink("/proc/self/exe", $0.baseAddress!, $0.count) }
        guard count > 0 else { return "lanyardd" }
        let program = String(decoding: buffer[..<count], as: UTF8.self)
        guard let slash = program.lastIndex(of: "/") else { return "lanyardd" }
        let sibling = "\(program[..<slash])/lanyardd"
        return access(sibling, X_OK) == 0 ? sibling : "lanyardd"
    }

    /// What to say when nobody answers.
    public var notRunning: ControlError {
        ControlError(.agentNotRunning, "No agent is running.", hint: "Start one with: \(startCommand)")
    }
}
