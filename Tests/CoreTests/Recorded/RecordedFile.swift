import SyncModel

/// A conversation of two agents as text: what was done at each node, and the bytes of every frame that followed.
///
/// Lines that begin with `#` are prose, those with `>` commands. `at` is a time, in nanoseconds since the start. `1 > 2 have` is a
/// frame of node 1 to node 2 with a name for people; the indented lines below are its bytes in hexadecimal, `(61*300)` being
/// the byte 61 three hundred times. `=` says what a node has in the end.
struct RecordedFile: Equatable {
    enum Line: Equatable {
        case prose(String)
        case command([String])
        case time(Int64)
        case frame(RecordedFrame)
        case outcome(String)
    }

    struct Unreadable: Error { let line: String }

    var lines: [Line] = []

    var frames: [RecordedFrame] {
        lines.compactMap { line in if case .frame(let frame) = line { frame } else { nil } }
    }

    /// The nodes that speak, from 0.
    var speakers: [Int] { Set(frames.map(\.sender)).sorted() }

    /// Returns the outcomes of a node.
    func outcomes(of node: Int) -> [String] {
        lines.compactMap { line in
            if case .outcome(let text) = line, text.hasPrefix("\(node + 1) ") { text } else { nil }
        }
    }
}

/// A frame of a recording.
struct RecordedFrame: Equatable {
    let sender: Int
    let node: Int
    /// The name of its kind, and perhaps what decides in it.
    let name: String
    var bytes: [UInt8]
}

extension RecordedFile {
    init(_ text: String) throws {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            if line.hasPrefix("  ") {
                guard words.count == 1, case .frame(var frame)? = lines.popLast(), let bytes = Self.bytes(words[0])
                else { throw Unreadable(line: String(line)) }
                frame.bytes += bytes
                lines.append(.frame(frame))
            } else {
                guard let read = Self.line(String(line), words) else { throw Unreadable(line: String(line)) }
                lines.append(read)
            }
        }
    }

    private static func line(_ line: String, _ words: [String]) -> Line? {
        if line.hasPrefix("#") { return .prose(line) }
        guard words.count > 1 else { return nil }
        switch words[0] {
        case ">": return .command(Array(words.dropFirst()))
        case "at": return Int64(words[1]).map { .time($0) }
        case "=": return .outcome(words.dropFirst().joined(separator: " "))
        case let sender:
            guard words.count > 3, words[1] == ">", let sender = Int(sender), let node = Int(words[2]) else {
                return nil
            }
            let name = words.dropFirst(3).joined(separator: " ")
            return .frame(RecordedFrame(sender: sender - 1, node: node - 1, name: name, bytes: []))
        }
    }

    var text: String {
        lines.map { line in
            switch line {
            case .prose(let text): text
            case .command(let words): "\n> " + words.joined(separator: " ")
            case .time(let nanoseconds): "at \(nanoseconds)"
            case .frame(let frame):
                ("\(frame.sender + 1) > \(frame.node + 1) \(frame.name)\n" + Self.hexadecimal(frame.bytes))
            case .outcome(let text): "= " + text
            }
        }.joined(separator: "\n") + "\n"
    }

    // MARK: Bytes

    /// Shorter runs of one byte stand as they are.
    private static let leastRun = 32
    private static let columns = 118

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        var (lines, line, index) = ([String](), "  ", 0)
        while index < bytes.count {
            let run = bytes[index...].prefix { $0 == bytes[index] }.count
            let isRun = run >= leastRun
            let digits = [bytes[index]].hexadecimal
            let token = isRun ? "(\(digits)*\(run))" : digits
            if line.utf8.count + token.utf8.count > columns {
                lines.append(line)
                line = "  "
            }
            line += token
            index += isRun ? run : 1
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// Nil for what `hexadecimal` does not write.
    private static func bytes(_ text: String) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix("(") {
                guard let end = rest.firstIndex(of: ")") else { return nil }
                let run = rest[..<end].dropFirst().split(separator: "*")
                guard run.count == 2, let byte = UInt8(run[0], radix: 16), let count = Int(run[1]) else { return nil }
                bytes += [UInt8](repeating: byte, count: count)
                rest = rest[end...].dropFirst()
            } else {
                guard rest.utf8.count > 1, let byte = UInt8(rest.prefix(2), radix: 16) else { return nil }
                bytes.append(byte)
                rest = rest.dropFirst(2)
            }
        }
        return bytes
    }
}

/// The lines of a recording while it is made, or what a replay found.
final class RecordedLines {
    var lines: [RecordedFile.Line] = []
    private var nanoseconds: Int64?
    /// Refusals, and other things that a conversation without a mistake does not have.
    var faults: [String] = []

    func markTime(_ nanoseconds: Int64) {
        if self.nanoseconds != nanoseconds { lines.append(.time(nanoseconds)) }
        self.nanoseconds = nanoseconds
    }

    func add(_ line: RecordedFile.Line, at nanoseconds: Int64) {
        markTime(nanoseconds)
        lines.append(line)
    }
}

/// A node of today among recorded ones, at the end.
struct Replay {
    /// As in the recording.
    let outcomes: [String]
    /// See `RecordedLines`.
    let faults: [String]
}
