import DiscoveryProbe
import Foundation
import Synchronization
import Testing

/// Two machines on one wire (the script `lan`), each with its own avahi-daemon and a probe. Lines they say are kept in
/// order; a wait looks at those not yet looked at by that waiter's position.
final class TwoMachines: Sendable {
    typealias Line = ProbeLine

    enum Failure: Error, CustomStringConvertible {
        case notStarted(String)
        case waitedInVain(String, heard: [String])

        var description: String {
            switch self {
            case .notStarted(let why): "the two machines did not start (root or user namespaces are needed): \(why)"
            case .waitedInVain(let what, let heard):
                "waited in vain for \(what); heard since:\n" + heard.joined(separator: "\n")
            }
        }
    }

    private struct Heard {
        var lines: [String] = []
        var hasEnded = false
    }

    private let process: Process
    private let input: FileHandle
    private let heard = Mutex(Heard())

    /// Returns when both machines stand. Fails, never skips, where namespaces are not allowed at all.
    init() async throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process = Process()
        process.executableURL = folder.appendingPathComponent("lan")
        process.arguments = [products.appendingPathComponent("DiscoveryProbe").path]
        let (toScript, fromScript) = (Pipe(), Pipe())
        process.standardInput = toScript
        process.standardOutput = fromScript
        process.standardError = FileHandle.standardError
        input = toScript.fileHandleForWriting
        try process.run()
        let output = fromScript.fileHandleForReading
        Thread.detachNewThread { [self] in read(output) }
        try await waitFor("both machines") { $0 == "= ready" }
    }

    /// Ends everything: the script goes with its input, and all processes with the script.
    deinit {
        try? input.close()
        process.terminate()
    }

    private func read(_ output: FileHandle) {
        var rest = Data()
        while case let chunk = output.availableData, !chunk.isEmpty {
            rest.append(chunk)
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: rest[rest.startIndex..<end], as: UTF8.self)
                rest.removeSubrange(rest.startIndex...end)
                heard.withLock { $0.lines.append(line) }
            }
        }
        heard.withLock { $0.hasEnded = true }
    }

    // MARK: Commands

    /// Sends a command and waits until it took effect. Returns the position in what was heard, for `expect(after:)`.
    @discardableResult
    func command(_ text: String) async throws -> Int {
        let position = now
        try input.write(contentsOf: Data((text + "\n").utf8))
        try await waitFor(text, after: position) { $0 == "= \(text)" }
        return position
    }

    func startEverything() async throws {
        for node in 1...2 {
            for verb in ["bus start", "avahi start", "probe start", "tell publish 500\(node) 00112233445566\(node)0"] {
                try await command("\(node) \(verb)")
            }
        }
    }

    // MARK: Waiting

    /// Where we are in what was heard.
    var now: Int { heard.withLock { $0.lines.count } }

    @discardableResult
    func expect(
        _ what: String, from node: Int, after position: Int = 0, within limit: Duration = .seconds(20),
        where condition: @escaping @Sendable (Line) -> Bool
    ) async throws -> Line {
        let text = try await waitFor("\(what) from machine \(node)", after: position, within: limit) { text in
            Self.decode(text).map { $0.node == node && condition($0) } ?? false
        }
        return try #require(Self.decode(text))
    }

    func expectState(
        _ state: String, code: String? = nil, from node: Int, after position: Int = 0,
        within limit: Duration = .seconds(20)
    ) async throws {
        try await expect("state \(state)", from: node, after: position, within: limit) {
            $0.event == "state" && $0.state == state && $0.code == code
        }
    }

    /// Everything heard from a machine after a position.
    func lines(from node: Int, after position: Int = 0) -> [Line] {
        heard.withLock { $0.lines.dropFirst(position) }.compactMap(Self.decode).filter { $0.node == node }
    }

    private static func decode(_ text: String) -> Line? {
        text.hasPrefix("{") ? try? JSONDecoder().decode(Line.self, from: Data(text.utf8)) : nil
    }

    @discardableResult
    private func waitFor(
        _ what: String, after position: Int = 0, within limit: Duration = .seconds(20),
        where condition: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
        let deadline = ContinuousClock.now + limit
        while true {
            let (lines, hasEnded) = heard.withLock { (Array($0.lines.dropFirst(position)), $0.hasEnded) }
            if let line = lines.first(where: condition) { return line }
            if hasEnded && position == 0 { throw Failure.notStarted(lines.joined(separator: "\n")) }
            if hasEnded || ContinuousClock.now > deadline { throw Failure.waitedInVain(what, heard: lines) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
