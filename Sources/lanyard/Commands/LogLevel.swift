import ArgumentParser
import ControlAPI

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

    /// True for a line of this level, or of one that weighs more.
    func takes(_ line: some Collection<UInt8>) -> Bool { LogLevel(line: line) >= self }

    /// Returns the newest `count` lines that `takes` says yes to, each with its line break.
    func newest(_ count: Int, of log: [UInt8]) -> [UInt8] {
        let lines = log.split(separator: 0x0A).filter { takes($0) }
        return lines.suffix(count).flatMap { $0 + [0x0A] }
    }
}
