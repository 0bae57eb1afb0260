import Logging

/// A log handler that keeps the lines.
struct LogLines: LogHandler {
    struct Line: Sendable {
        let level: Logger.Level
        let message: String
        let metadata: [String: String]
    }

    let lines: History<Line>
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level = .trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let pairs = (event.metadata ?? [:]).mapValues(\.description)
        lines.append(Line(level: event.level, message: "\(event.message)", metadata: pairs))
    }
}
