import ControlAPI
import Foundation
import LanyardClient
import Testing

/// What another device wrote cannot speak to the terminal of whoever reads it.
@Suite(.serialized, .timeLimit(.minutes(20))) struct TerminalTextTests {
    /// One of each kind: C0, DEL, C1, separators, bidirectional overrides and isolates, noncharacters. Line breaks are not
    /// among them, since JSON escapes those by itself.
    private static let unsafe: [Unicode.Scalar] = [
        0x1B, 0x07, 0x7F, 0x80, 0x9B, 0x9D, 0x2028, 0x202A, 0x202E, 0x2066, 0x2069, 0xFDD0, 0xFDEF, 0xFFFE, 0x1FFFF,
        0x10FFFE,
    ].map { Unicode.Scalar($0 as UInt32)! }
    private static let hostile = String(String.UnicodeScalarView(unsafe))
    private static let harmless = "é ünï 漢字 👩‍👩‍👧 \u{200E}עברית\u{200F} \u{FEFF}\u{FFFD}"

    private func isSafe(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0 != "\n" && Self.unsafe.contains($0) }
    }

    @Test func `only what a terminal or a reader can be fooled with is replaced`() {
        for scalar in Self.unsafe {
            #expect(TerminalText.line("a\(scalar)b") == "a\u{FFFD}b")
            #expect(TerminalText.page("a\n\(scalar)\tb\n") == "a\n\u{FFFD}\tb\n")
        }
        #expect(TerminalText.line("a\nb\tc") == "a\u{FFFD}b\u{FFFD}c")
        #expect(TerminalText.line(Self.harmless) == Self.harmless)
        #expect(TerminalText.page("\u{1B}[31mred\u{1B}[0m\u{1B}[2J") == "\u{1B}[31mred\u{1B}[0m\u{FFFD}[2J")
        #expect(TerminalText.page("\u{1B}") == "\u{FFFD}")
        #expect(TerminalText.page("\u{1B}[") == "\u{FFFD}[")
    }

    @Test func `JSON means the same afterwards`() throws {
        let value = ["\(Self.hostile)key": [Self.hostile, Self.harmless, "\"\\\(Self.hostile)\\\""]]
        let plain = Array(try JSONEncoder().encode(value))
        let safe = TerminalText.json(plain)
        #expect(isSafe(String(decoding: safe, as: UTF8.self)))
        #expect(try JSONDecoder().decode([String: [String]].self, from: Data(safe)) == value)
        let harmless = Array("[\"\(Self.harmless)\"]".utf8)
        #expect(TerminalText.json(harmless) == harmless)
        // Cut off in the middle of a character: not ours to judge, and no reason to stop.
        #expect(TerminalText.json([0x22, 0xE2, 0x80]) == [0x22, 0xE2, 0x80])
    }

    @Test func `commands show nothing that a terminal obeys, and JSON stays equal`() async throws {
        try await LiveServer.with { server async throws in
            let text = try JSONText(Array(try JSONEncoder().encode(Self.hostile)))
            let fields = try JSONText(
                "{\"t\":\(text),\"\(Self.hostile.filter { $0 != "\u{1B}" && $0 != "\u{7}" })\":1}")
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n\u{202E}", fields: fields))
            _ = try await server.client.emit(text, to: "s")
            for arguments in [
                ["list", "note"], ["get", "note/n\u{202E}"], ["history", "note/n\u{202E}"], ["events", "s"],
                ["put", "note/n\u{202E}", "{}"],
            ] {
                for flags in [[], ["--json"]] {
                    let run = try await CommandRun.lanyard(arguments + flags, socket: server.socketPath)
                    #expect(run.exitCode == 0, "\(arguments)")
                    #expect(isSafe(run.output) && isSafe(run.errors), "\(arguments + flags)")
                }
            }
            let event = try #require(
                try await CommandRun.lanyard(["events", "s"], socket: server.socketPath).json() as? [String: Any])
            #expect(event["payload"] as? String == Self.hostile)
            let object = try #require(
                try await CommandRun.lanyard(["get", "note/n\u{202E}", "--json"], socket: server.socketPath).json()
                    as? [String: Any])
            #expect((object["fields"] as? [String: Any])?["t"] as? String == Self.hostile)
        }
    }

    @Test(arguments: [
        ["get", "a/\u{9B}2J\u{202E}"], ["\u{9B}2J"], ["status", "--\u{202E}x"], ["wait", "--timeout", "\u{9B}"],
    ])
    func `what was typed wrongly is not obeyed either`(arguments: [String]) async throws {
        try await LiveServer.with { server async throws in
            for flags in [[], ["--json"]] {
                let run = try await CommandRun.lanyard(arguments + flags, socket: server.socketPath)
                #expect(run.exitCode == 2 || run.exitCode == 3)
                #expect(isSafe(run.errors) && !run.errors.isEmpty)
            }
        }
    }

    @Test func `a log is shown safely, and as objects`() async throws {
        let temporary = try TemporaryDirectory()
        let text = """
            2025-11-21T04:28:31.123Z notice A device \u{9B}2J\u{202E} joined. device.name=x
            {"time":"2025-11-21T04:28:32.000Z","level":"info","message":"\u{9B}"}
            no line of ours

            """
        _ = FileManager.default.createFile(atPath: "\(temporary.path)/agent.log", contents: Data(text.utf8))
        let plain = try await CommandRun.lanyard(["logs", "--data-dir", temporary.path])
        #expect(isSafe(plain.output) && plain.lines.count == 3)
        let json = try await CommandRun.lanyard(["logs", "--json", "--data-dir", temporary.path])
        #expect(isSafe(json.output))
        let lines = try json.lines.map { try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
        #expect(lines.map { $0?["level"] as? String } == ["notice", "info", nil])
        #expect(lines[0]?["message"] as? String == "A device \u{9B}2J\u{202E} joined. device.name=x")
        #expect(lines[2]?["message"] as? String == "no line of ours")
    }
}
