import ControlAPI
import Glibc
import LanyardClient

/// A profile of the agent's process, taken with perf (perf-record(1)): in which functions its processor time went.
package struct AgentProfile: Encodable {
    /// A function and its part of the samples.
    package struct Function: Encodable, Equatable {
        package let percent: Double
        /// The program or library.
        package let object: String
        /// The symbol as it stands in the program, or an address where the program has none.
        package let symbol: String
    }

    /// The functions that are shown.
    private static let mostFunctions = 30
    private static let samplesPerSecond = 199

    let process: Int
    let seconds: Double
    /// The functions with the most samples; empty if the agent was idle.
    let functions: [Function]

    /// Records for `length`, and reads the report.
    static func record(_ length: TimeLength, of location: SocketLocation) throws(ControlError) -> AgentProfile {
        let process = try process(of: location)
        guard let perf = program("perf") else {
            throw ControlError(
                .notFound, "perf is not installed.",
                hint: "Install it: apt install linux-perf (Ubuntu: linux-tools-generic). Then type this again.")
        }
        let directory = try temporaryDirectory()
        let names = ["perf.data", "perf.data.old", "output", "errors"]
        let remove: @Sendable () -> Void = {
            for name in names { unlink("\(directory)/\(name)") }
            rmdir(directory)
        }
        Interruption.willRemove(remove)
        defer {
            remove()
            Interruption.hasRemoved()
        }
        let data = "\(directory)/perf.data"
        let seconds = Double(length.milliseconds) / 1_000
        try run(
            [
                perf, "record", "-q", "-F", "\(samplesPerSecond)", "-p", "\(process)", "-o", data, "--", "sleep",
                "\(seconds)",
            ], in: directory)
        let report = try run(
            [
                perf, "report", "-q", "--stdio", "--sort", "dso,symbol", "-t", "\t", "--percent-limit", "0.5", "-i",
                data,
            ], in: directory)
        return AgentProfile(
            process: process, seconds: seconds, functions: Array(functions(in: report).prefix(mostFunctions)))
    }

    /// Reads the lines `12.34%<tab>object<tab>[.] symbol` of perf's report, which may have more columns; passes over all others.
    package static func functions(in report: String) -> [Function] {
        report.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t").map { trimmed($0) }
            guard fields.count >= 3, fields[0].hasSuffix("%"), let percent = Double(fields[0].dropLast()) else {
                return nil
            }
            return Function(percent: percent, object: fields[1], symbol: fields[2])
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        let start = text.drop { $0 == " " }
        return String(start.reversed().drop { $0 == " " }.reversed())
    }

    func text(_ style: Style) -> String {
        let length = TimeText.length(seconds: Int(seconds.rounded()))
        guard !functions.isEmpty else {
            return "The agent (process \(process)) was idle: no sample of it was taken in \(length).\n"
        }
        let width = functions.map { shown($0.object).count }.max() ?? 0
        let rows = functions.map { function in
            let tenths = Int((min(max(function.percent, 0), 100) * 10).rounded())
            let percent = "\(tenths / 10).\(tenths % 10)"
            return String(repeating: " ", count: max(0, 6 - percent.count)) + "\(percent) %  "
                + "\(shown(function.object).padded(to: width))  \(shown(function.symbol))\n"
        }
        return style.faint("processor time of the agent (process \(process)) in \(length), by function") + "\n"
            + rows.joined()
    }

    // MARK: perf

    private static func process(of location: SocketLocation) throws(ControlError) -> Int {
        switch LockProbe(path: "\(location.dataDirectory)/agent.lock").holder() {
        case .process(let id): return id
        case .nobody:
            throw ControlError(
                .agentNotRunning, "No agent runs on \(location.dataDirectory).",
                hint: "Say which one is meant with --data-dir, or start it: \(location.startCommand)")
        case .unknown:
            throw ControlError(
                .forbidden,
                "The agent's process cannot be found: the lock in \(location.dataDirectory) cannot be read.",
                hint: "Run the command as root or as the agent's user.")
        }
    }

    /// Returns the path of a program of `PATH`; nil if there is none.
    private static func program(_ name: String) -> String? {
        let path = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
        return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    private static func temporaryDirectory() throws(ControlError) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(base)/lanyard-profile-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else {
            throw ControlError(
                .forbidden, "No directory can be made in \(base): \(String(cString: strerror(errno))).",
                hint: "Set TMPDIR to one that can be written.")
        }
        return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Runs perf to its end, and returns what it printed.
    @discardableResult
    private static func run(_ words: [String], in directory: String) throws(ControlError) -> String {
        let (output, errors) = ("\(directory)/output", "\(directory)/errors")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        for (descriptor, path) in [(STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            posix_spawn_file_actions_addopen(&actions, descriptor, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
        let arguments = words.map { strdup($0) } + [nil]
        defer { for text in arguments { free(text) } }
        var (child, status) = (pid_t(), Int32(0))
        let code = posix_spawn(&child, words[0], &actions, nil, arguments, environ)
        guard code == 0 else {
            throw ControlError(
                .notFound, "\(words[0]) cannot be started: \(String(cString: strerror(code))).",
                hint: "Install it: apt install linux-perf.")
        }
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else { throw refusal(LockProbe.contents(of: errors) ?? "") }
        return LockProbe.contents(of: output) ?? ""
    }

    /// Returns the error for what perf complained of. It is refused to all but root as a rule: the agent keeps its memory from other
    /// processes, since its keys are there.
    private static func refusal(_ complaint: String) -> ControlError {
        // Behind the title "Error:".
        let said = complaint.split(separator: "\n").first { $0.contains { $0.isLetter } && !$0.hasSuffix(":") }
        let line = said.map { shown(String($0)) }
        return ControlError(
            .forbidden, "perf could not look at the agent: \(line ?? "it does not say why").",
            hint: geteuid() == 0
                ? "In a container it needs the capability PERFMON or SYS_ADMIN. Else see perf's own words: perf record -p PROCESS"
                : "Run the command as root: sudo lanyard doctor --profile 10s")
    }
}
