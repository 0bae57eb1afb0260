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

    /// The name of the socket in a data directory.
    public static let socketName = "control.sock"

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
            self.dataDirectory = givenDirectory ?? Self.directory(of: socket) ?? userDirectory
            let isImplied = socket == "\(self.dataDirectory)/\(Self.socketName)"
            agentArguments = ["--data-dir", self.dataDirectory] + (isImplied ? [] : ["--socket", socket])
        } else if let givenDirectory {
            candidates = ["\(givenDirectory)/\(Self.socketName)"]
            self.dataDirectory = givenDirectory
            agentArguments = ["--data-dir", givenDirectory]
        } else {
            let runtime = environment("XDG_RUNTIME_DIR").map { ["\($0)/lanyard/\(Self.socketName)"] } ?? []
            candidates = runtime + ["\(userDirectory)/\(Self.socketName)", "/run/lanyard/\(Self.socketName)"]
            self.dataDirectory = userDirectory
            agentArguments = []
        }
    }

    /// The user's data directory: `$XDG_DATA_HOME/lanyard` or `~/.local/share/lanyard`.
    public static func userDataDirectory(_ environment: (String) -> String? = processEnvironment) -> String {
        if let base = environment("XDG_DATA_HOME") { return "\(base)/lanyard" }
        return "\(environment("HOME") ?? "/root")/.local/share/lanyard"
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
        ([Self.agentProgram()] + agentArguments).map(ShellWord.quoted).joined(separator: " ")
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
