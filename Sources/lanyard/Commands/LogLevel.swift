public import ArgumentParser
public import ControlAPI

/// The weight of a line of the agent's log, least first.
enum LogLevel: String, CaseIterable, Comparable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical

    static func < (one: LogLevel, other: LogLevel) -> Bool { one.place < other.place }

    private var place: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    /// The level of a line in either format of the agent (`TIME LEVEL MESSAGE`, or an object with a `level`); `info` for
    /// a line that does not say one.
    init(line: some Collection<UInt8>) {
        let bytes = Array(line)
        if bytes.first == UInt8(ascii: "{"),
            let object = try? JSONDecoding.value(Line.self, from: bytes, unknownKeys: .ignore)
        {
            self = LogLevel(rawValue: object.level) ?? .info
            return
        }
        let words = bytes.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        self = words.count > 1 ? LogLevel(rawValue: String(decoding: words[1], as: UTF8.self)) ?? .info : .info
    }

    private struct Line: Decodable {
        let level: String
    }
}

extension LogComponent: ExpressibleByArgument {
    /// The component of a line in either format of the agent (` component=NAME` behind the message, or an object with a
    /// `component`); nil for a line of the agent as a whole.
    init?(line: some Collection<UInt8>) {
        let bytes = Array(line)
        if bytes.first == UInt8(ascii: "{"),
            let object = try? JSONDecoding.value(Line.self, from: bytes, unknownKeys: .ignore)
        {
            self.init(rawValue: object.component ?? "")
            return
        }
        // The message is constant: the first one is the agent's own.
        guard let place = bytes.firstRange(of: Array(" component=".utf8)) else { return nil }
        let name = bytes[place.upperBound...].prefix { $0 != UInt8(ascii: " ") }
        self.init(rawValue: String(decoding: name, as: UTF8.self))
    }

    private struct Line: Decodable {
        let component: String?
    }
}

/// The lines of the log that a person wants to see.
struct LogFilter {
    /// The least level; nil: any.
    let level: LogLevel?
    /// The component; nil: all, and the agent as a whole.
    let component: LogComponent?

    /// True if every line is taken.
    var isOpen: Bool { level == nil && component == nil }

    func takes(_ line: some Collection<UInt8>) -> Bool {
        if let level, LogLevel(line: line) < level { return false }
        return component == nil || LogComponent(line: line) == component
    }

    /// Returns the newest `count` lines that are taken, each with its line break.
    func newest(_ count: Int, of log: [UInt8]) -> [UInt8] {
        let lines = log.split(separator: 0x0A).filter { takes($0) }
        return lines.suffix(count).flatMap { $0 + [0x0A] }
    }
}
