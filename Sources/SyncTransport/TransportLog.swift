import Logging
import NIOCore

/// Keys of the transport's log metadata.
enum LogKey: String {
    case code = "reason.code"
    case address = "peer.address"
    case device = "peer.device"
    case direction = "connection.direction"
    case unlogged = "refusals.unlogged"
}

extension Logger.Metadata {
    init(_ pairs: KeyValuePairs<LogKey, String>) {
        self.init(uniqueKeysWithValues: pairs.map { ($0.key.rawValue, .string($0.value)) })
    }
}

/// Keeps a flood of refusals from filling the disk: a bounded number of lines a minute for each reason.
struct RefusalLog {
    static let linesPerMinute = 60

    private struct Window {
        var began: NIODeadline
        var lineCount = 0
        var unloggedCount = 0
    }

    private var windows: [EndReason: Window] = [:]

    /// Nil when this refusal gets no line; else how many before it got none.
    mutating func admit(_ reason: EndReason, now: NIODeadline) -> Int? {
        var window = windows[reason] ?? Window(began: now)
        defer { windows[reason] = window }
        let unlogged = window.unloggedCount
        if now - window.began >= .minutes(1) { window = Window(began: now, unloggedCount: unlogged) }
        guard window.lineCount < Self.linesPerMinute else {
            window.unloggedCount += 1
            return nil
        }
        window.lineCount += 1
        window.unloggedCount = 0
        return unlogged
    }
}
