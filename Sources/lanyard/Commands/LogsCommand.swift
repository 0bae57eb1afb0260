import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the agent's log; works without the agent.",
        discussion: """
            With --set-level, the running agent logs from another level on, for some time; after that, and after a restart, the \
            level of its configuration counts again. `debug` adds connections, dials, requests and commits, `trace` each frame. \
            --component sets it for one part of the agent, and shows only the lines of that part. With --follow the lines are shown \
            as they come.

            discovery: mDNS. transport: dials, connections, refusals. pairing: tickets and codes. sync: sessions with other devices, \
            and what they send each other. store: commits, dropped history, backups. attachments: their bytes. control: requests of \
            commands and applications, the dashboard.
            """)
    @Flag(name: .shortAndLong, help: "Go on with lines that come later.")
    var follow = false
    @Option(
        name: [.long, .customShort("n")],
        help: ArgumentHelp("Begin with so many of the newest lines.", valueName: "n"))
    var lines = 200
    @Option(help: ArgumentHelp("Only lines of this level, and of those that weigh more.", valueName: "level"))
    var level: LogLevel?
    @Option(help: ArgumentHelp("Only this part of the agent.", valueName: "name"))
    var component: LogComponent?
    @Option(help: ArgumentHelp("Have the running agent log from this level on.", valueName: "level"))
    var setLevel: LogLevel?
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp("With --set-level: the time until the level ends.", valueName: "time"))
    var length: TimeLength?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if setLevel == .critical { throw ValidationError("--set-level goes up to error.") }
        if setLevel != nil, level != nil, !follow {
            throw ValidationError("--set-level shows lines only with --follow; --level goes with that.")
        }
        guard let length else { return }
        guard setLevel != nil else { throw ValidationError("--for goes with --set-level.") }
        guard LogLevelRequest.milliseconds.contains(length.milliseconds) else {
            throw ValidationError("A level is set for 1s to 1d. To keep it: log-level in the agent's configuration.")
        }
    }

    func run() async throws {
        if let setLevel {
            let set = try await global.client().setLogLevel(
                setLevel.rawValue, forMilliseconds: length?.milliseconds, of: component)
            guard follow else { return try global.print(set) { _ in text(set) + "\n" } }
            global.note(text(set))
        }
        let location = global.location
        let directory = location.dataDirectory
        guard var log = LogFile(directory: directory) else {
            throw Self.unreadable(location)
        }
        let filter = LogFilter(level: level, component: component)
        var output = LogOutput(asJSON: global.json, filter: filter)
        let most = max(0, lines)
        try output.write(filter.isOpen ? log.newest(lines: most) : filter.newest(most, of: log.newest(lines: .max)))
        guard follow else { return try output.end() }
        let changes = try DirectoryChanges(directory: directory)
        while true {
            try output.write(log.readOn())
            changes.waitForOne()
        }
    }

    private func text(_ set: LogLevelResponse) -> String {
        if let component {
            let other = shown(set.level)
            guard let own = set.components?.first(where: { $0.component == component.rawValue }) else {
                return "The agent logs \(component.rawValue) from \(other) on, like all else."
            }
            let time = TimeText.local.exact(own.until)
            return "The agent logs \(component.rawValue) from \(shown(own.level)) on until \(time), "
                + "all else from \(other) on."
        }
        guard let until = set.until else {
            return "The agent logs from \(shown(set.configured)) on, as configured."
        }
        let time = TimeText.local.exact(until)
        return "The agent logs from \(shown(set.level)) on until \(time); then, and after a restart, "
            + "from \(shown(set.configured)) on."
    }

    /// Returns the error for the file that could not be opened just now.
    private static func unreadable(_ location: SocketLocation) -> ControlError {
        let reason = errno
        let path = "\(location.dataDirectory)/\(LogFile.name)"
        guard reason == ENOENT else {
            return ControlError(
                .forbidden, "The log \(path) cannot be read: \(String(cString: strerror(reason))).",
                hint: "Run the command as root or as the agent's user.")
        }
        return ControlError(
            .notFound, "There is no log at \(path).",
            hint: "Say where the agent's data is with --data-dir, or start it: \(location.startCommand)")
    }
}

/// Lines of the log on their way to standard output; with JSON, each becomes an object unless the agent wrote it as one.
private struct LogOutput {
    let asJSON: Bool
    let filter: LogFilter
    /// A line whose end has not come yet.
    private var rest: [UInt8] = []

    init(asJSON: Bool, filter: LogFilter) {
        self.asJSON = asJSON
        self.filter = filter
    }

    mutating func write(_ bytes: [UInt8]) throws(ControlError) {
        rest += bytes
        guard let end = rest.lastIndex(of: 0x0A) else { return }
        let lines = rest[...end]
        rest.removeFirst(end + 1)
        guard asJSON || !filter.isOpen else { return try StandardOutput.write(String(decoding: lines, as: UTF8.self)) }
        for line in lines.split(separator: 0x0A) where filter.takes(line) {
            try asJSON ? write(line: Array(line)) : StandardOutput.write(String(decoding: line, as: UTF8.self) + "\n")
        }
    }

    /// The last line too, where the agent was stopped in the middle of it.
    mutating func end() throws(ControlError) {
        if !rest.isEmpty { try write([0x0A]) }
    }

    private func write(line: [UInt8]) throws(ControlError) {
        let isObject = line.first == UInt8(ascii: "{") && (try? JSONText(line)) != nil
        let json = isObject ? line : JSONEncoding.bytes(LogLine(String(decoding: line, as: UTF8.self)))
        try StandardOutput.write(json: json + [0x0A])
    }
}

/// A line that the agent wrote as text: `TIME LEVEL MESSAGE`.
private struct LogLine: Encodable {
    /// Nulls where the line has another form.
    let time: String?
    let level: String?
    let message: String

    init(_ line: String) {
        let words = line.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        if words.count == 3, Timestamp(words[0]) != nil {
            (time, level, message) = (words[0], words[1], words[2])
        } else {
            (time, level, message) = (nil, nil, line)
        }
    }
}
