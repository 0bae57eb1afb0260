import ArgumentParser
import ControlAPI
import Glibc
import LanyardClient

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the agent's log; works without the agent.")
    @Flag(name: .shortAndLong, help: "Go on with lines that come later.")
    var follow = false
    @Option(
        name: [.long, .customShort("n")],
        help: ArgumentHelp("Begin with so many of the newest lines.", valueName: "n"))
    var lines = 200
    @Option(help: ArgumentHelp("Only lines of this level, and of those that weigh more.", valueName: "level"))
    var level: LogLevel?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let location = global.location
        let directory = location.dataDirectory
        guard var log = LogFile(directory: directory) else {
            throw Self.unreadable(location)
        }
        var output = LogOutput(asJSON: global.json, least: level)
        let most = max(0, lines)
        try output.write(level?.newest(most, of: log.newest(lines: .max)) ?? log.newest(lines: most))
        guard follow else { return try output.end() }
        let changes = try DirectoryChanges(directory: directory)
        while true {
            try output.write(log.readOn())
            changes.waitForOne()
        }
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
    /// Lines below this level are left out; nil: none.
    let least: LogLevel?
    /// A line whose end has not come yet.
    private var rest: [UInt8] = []

    init(asJSON: Bool, least: LogLevel?) {
        self.asJSON = asJSON
        self.least = least
    }

    mutating func write(_ bytes: [UInt8]) throws(ControlError) {
        rest += bytes
        guard let end = rest.lastIndex(of: 0x0A) else { return }
        let lines = rest[...end]
        rest.removeFirst(end + 1)
        guard asJSON || least != nil else { return try StandardOutput.write(String(decoding: lines, as: UTF8.self)) }
        for line in lines.split(separator: 0x0A) where least?.takes(line) != false {
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
