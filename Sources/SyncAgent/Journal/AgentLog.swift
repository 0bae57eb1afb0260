import Foundation
package import Logging
import SyncModel
import Synchronization

/// The sink of log lines: standard error, and `agent.log` in the data directory for `lanyard logs`.
///
/// The file is kept below 8 MiB: a full one becomes `agent.log.1`. A log that cannot be written never stops the agent.
package final class AgentLog: Sendable {
    private struct State {
        var file: FileHandle?
        var bytes: UInt64 = 0
    }

    private static let fileByteLimit: UInt64 = 8 << 20
    private let path: String
    private let isJSON: Atomic<Bool>
    private let echoes: Bool
    private let state = Mutex(State())
    /// The levels that were set while the agent runs, as `PackedLogLevels`.
    private let levelBits = Atomic<UInt64>(0)

    /// - Parameter echoes: whether lines also go to standard error.
    package init(directory: String, format: AgentConfiguration.LogFormat, echoes: Bool = true) {
        path = directory + "/agent.log"
        isJSON = Atomic(format == .json)
        self.echoes = echoes
        state.withLock { open(&$0) }
    }

    /// Writes lines in this format from now on.
    package func setFormat(_ format: AgentConfiguration.LogFormat) {
        isJSON.store(format == .json, ordering: .relaxed)
    }

    /// Returns a logger of this level, or of the one that was set for its component or for all while there is one. A copy that is
    /// given a level of its own keeps that.
    package func logger(level: AgentConfiguration.LogLevel, component: LogComponent? = nil) -> Logger {
        Logger(label: "lanyard") { _ in Handler(log: self, configured: Logger.Level(level), component: component) }
    }

    /// The level set for the component, else the one set for all, else that of the configuration that was read again; nil: none is
    /// set.
    fileprivate func level(of component: LogComponent?) -> Logger.Level? {
        let levels = PackedLogLevels(bits: levelBits.load(ordering: .relaxed))
        return component.flatMap { levels[$0] } ?? levels[nil] ?? levels.configured
    }

    /// Sets the level that counts for a component in place of every other one, or with nil for all that have none of their own; a nil
    /// level ends it.
    package func setTemporaryLevel(_ level: Logger.Level?, of component: LogComponent? = nil) {
        changeLevels { $0[component] = level }
    }

    /// Sets the level that counts in place of the one that each logger was made with.
    func setConfiguredLevel(_ level: Logger.Level) { changeLevels { $0.configured = level } }

    private func changeLevels(_ change: (inout PackedLogLevels) -> Void) {
        var before = levelBits.load(ordering: .relaxed)
        while true {
            var levels = PackedLogLevels(bits: before)
            change(&levels)
            let (isDone, found) = levelBits.compareExchange(
                expected: before, desired: levels.bits, ordering: .relaxed)
            if isDone { return }
            before = found
        }
    }

    /// The newest lines, oldest of them first.
    package func recentLines(limit: Int) -> [String] {
        guard let file = FileHandle(forReadingAtPath: path) else { return [] }
        defer { try? file.close() }
        // 512 bytes are a long line; more is read than asked for rather than less.
        let length = (try? file.seekToEnd()) ?? 0
        let wanted = UInt64(limit) * 512
        try? file.seek(toOffset: length > wanted ? length - wanted : 0)
        let data = (try? file.readToEnd()) ?? Data()
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
        return Array((length > wanted ? lines.dropFirst() : lines[...]).suffix(limit))
    }

    private func open(_ state: inout State) {
        let descriptor = Foundation.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        state.bytes = (try? file.seekToEnd()) ?? 0
        state.file = file
    }

    fileprivate func write(_ line: String) {
        let data = Data((line + "\n").utf8)
        if echoes { try? FileHandle.standardError.write(contentsOf: data) }
        state.withLock { state in
            if state.bytes > Self.fileByteLimit {
                state.file = nil
                rename(path, path + ".1")
                open(&state)
            }
            // At the first start of all the directory is made after the log.
            if state.file == nil { open(&state) }
            try? state.file?.write(contentsOf: data)
            state.bytes += UInt64(data.count)
        }
    }

    /// Peers choose names and messages: no line breaks, terminal escapes or hidden text of theirs get into a log.
    package static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.map { scalar -> Unicode.Scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned: "?"
            case _: scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    private struct Handler: LogHandler {
        let log: AgentLog
        let configured: Logger.Level
        let component: LogComponent?
        var metadata: Logger.Metadata = [:]
        private var own: Logger.Level?

        init(log: AgentLog, configured: Logger.Level, component: LogComponent?) {
            self.log = log
            self.configured = configured
            self.component = component
        }

        var logLevel: Logger.Level {
            get { own ?? log.level(of: component) ?? configured }
            set { own = newValue }
        }

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            // The component first, behind the constant message: nothing that a peer chose can stand for it.
            var fields = component.map { [("component", $0.rawValue)] } ?? []
            let others = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
            fields += others.map { ($0.key, "\($0.value)") }
            let time = Date(timeIntervalSince1970: Double(WallClock.milliseconds) / 1_000)
                .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            switch log.isJSON.load(ordering: .relaxed) {
            case false:
                let tail = fields.map { " \($0.0)=\(Self.plain($0.1))" }.joined()
                log.write("\(time) \(event.level.rawValue) \(Self.plain("\(event.message)"))\(tail)")
            case true:
                let pairs =
                    [("time", time), ("level", event.level.rawValue), ("message", "\(event.message)")]
                    + fields
                log.write("{" + pairs.map { Self.quoted($0.0) + ":" + Self.quoted($0.1) }.joined(separator: ",") + "}")
            }
        }

        private static func plain(_ text: String) -> String { AgentLog.plain(text) }

        private static func quoted(_ text: String) -> String {
            let data = try? JSONEncoder().encode(text)
            return data.map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
        }
    }
}

extension Logger.Level {
    init(_ level: AgentConfiguration.LogLevel) { self = Self(rawValue: level.rawValue) ?? .info }
}
