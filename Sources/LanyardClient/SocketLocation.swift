public import ControlAPI
import Glibc

/// The agent to talk to, and the paths of its control socket and its data. Both the command and applications decide it here, in
/// this order: the named agent, the environment, the first agent that answers, else the machine's
/// service or the user's own agent.
public struct SocketLocation: Sendable, Equatable {
    /// The agent's control socket.
    public let socketPath: String
    /// The directory of the agent's data, as far as it follows from what was given.
    public let dataDirectory: String
    /// The flags that start an agent which answers there, for example ["--data-dir", "/tmp/a"].
    public let agentArguments: [String]
    /// False where nothing was named and no agent answers anywhere.
    package let isFound: Bool
    private let starter: Starter

    /// The program that starts the agent.
    private enum Starter {
        case command
        /// The machine's service, which systemd starts and not a hand: `lanyardd` would found another device.
        case service
        /// The same of a user's login.
        case userService
    }

    /// The name of the socket in a data directory.
    public static let socketName = "control.sock"

    // The machine's service, as its unit says: deploy/systemd/system/lanyard.service.
    private static let serviceSocket = "/run/lanyard/\(socketName)"
    private static let serviceDataDirectory = "/var/lib/lanyard"
    private static let serviceUnits = ["/etc", "/usr/local/lib", "/usr/lib"].map {
        "\($0)/systemd/system/lanyard.service"
    }

    /// The questions that the decision asks the machine.
    package struct Machine: Sendable {
        package var isRoot: Bool
        /// Returns true if an agent answers on a socket.
        package var answers: @Sendable (_ socket: String) -> Bool
        package var exists: @Sendable (_ path: String) -> Bool

        package init(
            isRoot: Bool, answers: @escaping @Sendable (String) -> Bool, exists: @escaping @Sendable (String) -> Bool
        ) {
            self.isRoot = isRoot
            self.answers = answers
            self.exists = exists
        }

        package static var current: Machine {
            Machine(isRoot: geteuid() == 0, answers: SocketProbe.answers, exists: { access($0, F_OK) == 0 })
        }
    }

    /// Looks at `socket` (`--socket`), LANYARD_SOCKET, `dataDirectory` (`--data-dir`), LANYARD_DATA_DIR; where none is given,
    /// for an agent that answers in `$XDG_RUNTIME_DIR/lanyard`, the user's data directory or `/run/lanyard`.
    ///
    /// Where no agent answers, the machine's service is meant if it is installed, unless the user has a device of their own
    /// and is not root. Else the user's data directory is meant.
    public init(
        socket: String? = nil, dataDirectory: String? = nil,
        environment: (String) -> String? = SocketLocation.processEnvironment
    ) {
        self.init(socket: socket, dataDirectory: dataDirectory, environment: environment, machine: .current)
    }

    package init(
        socket: String? = nil, dataDirectory: String? = nil, environment: (String) -> String?, machine: Machine
    ) {
        let userDirectory = Self.userDataDirectory(environment)
        let givenDirectory = dataDirectory ?? environment("LANYARD_DATA_DIR")
        if let socket = socket ?? environment("LANYARD_SOCKET") {
            let isService =
                socket == Self.serviceSocket
                && (givenDirectory ?? Self.serviceDataDirectory) == Self.serviceDataDirectory
            let directory =
                givenDirectory
                ?? (isService ? Self.serviceDataDirectory : Self.directory(of: socket) ?? userDirectory)
            self.init(
                socket: socket, directory: directory, isFound: true, starter: isService ? .service : .command)
        } else if let givenDirectory {
            let own = "\(givenDirectory)/\(Self.socketName)"
            let isService = givenDirectory == Self.serviceDataDirectory && !machine.answers(own)
            self.init(
                socket: isService ? Self.serviceSocket : own, directory: givenDirectory, isFound: true,
                starter: isService ? .service : .command)
        } else {
            self.init(userDirectory: userDirectory, runtimeDirectory: environment("XDG_RUNTIME_DIR"), machine: machine)
        }
    }

    /// Chooses an agent when none was named.
    private init(userDirectory: String, runtimeDirectory: String?, machine: Machine) {
        let share = userDirectory.dropLast("/lanyard".count)
        let starter: Starter = machine.exists("\(share)/systemd/user/lanyard.service") ? .userService : .command
        let userSockets =
            (runtimeDirectory.map { ["\($0)/lanyard/\(Self.socketName)"] } ?? [])
            + ["\(userDirectory)/\(Self.socketName)"]
        if let answering = userSockets.first(where: machine.answers) {
            self.init(
                socket: answering, directory: userDirectory, isFound: true, starter: starter,
                isDefault: answering == userSockets.last)
        } else if machine.answers(Self.serviceSocket) {
            self.init(
                socket: Self.serviceSocket, directory: Self.serviceDataDirectory, isFound: true, starter: .service)
        } else if Self.serviceIsInstalled(machine), machine.isRoot || !machine.exists("\(userDirectory)/identity.pem") {
            self.init(
                socket: Self.serviceSocket, directory: Self.serviceDataDirectory, isFound: false, starter: .service)
        } else {
            self.init(
                socket: "\(userDirectory)/\(Self.socketName)", directory: userDirectory, isFound: false,
                starter: starter, isDefault: true)
        }
    }

    private init(
        socket: String, directory: String, isFound: Bool, starter: Starter, isDefault: Bool = false
    ) {
        socketPath = socket
        dataDirectory = directory
        self.isFound = isFound
        self.starter = starter
        let isImplied = socket == "\(directory)/\(Self.socketName)"
        agentArguments = isDefault ? [] : ["--data-dir", directory] + (isImplied ? [] : ["--socket", socket])
    }

    private static func serviceIsInstalled(_ machine: Machine) -> Bool {
        ([serviceDataDirectory] + serviceUnits).contains(where: machine.exists)
    }

    /// The user's data directory: `$XDG_DATA_HOME/lanyard` or `~/.local/share/lanyard`.
    public static func userDataDirectory(_ environment: (String) -> String? = processEnvironment) -> String {
        if let base = environment("XDG_DATA_HOME") { return "\(base)/lanyard" }
        return "\(environment("HOME") ?? homeDirectory(of: geteuid()))/.local/share/lanyard"
    }

    /// Returns the home directory in the user database, for a process without HOME (cron, a service). `/` for a user it does
    /// not know, as `login` does.
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

    /// The command that starts the agent, to be pasted into a shell.
    public var startCommand: String {
        switch starter {
        case .service: "systemctl start lanyard"
        case .userService: "systemctl --user start lanyard"
        case .command: ([Self.agentProgram()] + agentArguments).map(ShellWord.quoted).joined(separator: " ")
        }
    }

    /// The command that restarts the agent, to be pasted into a shell; nil where no service manager runs it.
    public var restartCommand: String? {
        switch starter {
        case .service: "systemctl restart lanyard"
        case .userService: "systemctl --user restart lanyard"
        case .command: nil
        }
    }

    /// The node for messages: the directory of its data, or its socket if that is elsewhere.
    public var node: String {
        switch starter {
        case .service: "this device's service (\(dataDirectory))"
        case .userService, .command: socketPath == "\(dataDirectory)/\(Self.socketName)" ? dataDirectory : socketPath
        }
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

    /// The error when no agent answers.
    public var notRunning: ControlError {
        ControlError(.agentNotRunning, "No agent is running for \(node).", hint: "Start it with: \(startCommand)")
    }
}
