import Foundation
import Testing

/// Holds the core to its transcripts, word by word: a change of behaviour is a change of these files, to be read as a diff.
///
/// `LANYARD_TRANSCRIPTS=write deploy/test --only unit --filter TranscriptTests` writes them anew from their commands.
@Suite struct TranscriptTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()

    static let names: [String] = {
        let files = try? FileManager.default.contentsOfDirectory(atPath: folder.path)
        return (files ?? []).filter { $0.hasSuffix(".txt") }.sorted()
    }()

    @Test func `there are at least fifteen transcripts`() { #expect(Self.names.count >= 15) }

    @Test(arguments: names) func `a scenario goes as it is written`(name: String) throws {
        let file = Self.folder.appendingPathComponent(name)
        let written = try String(contentsOf: file, encoding: .utf8)
        let actual = try Transcript.run(written)
        if ProcessInfo.processInfo.environment["LANYARD_TRANSCRIPTS"] == "write" {
            return try actual.write(to: file, atomically: true, encoding: .utf8)
        }
        let (expected, got) = (written.split(separator: "\n"), actual.split(separator: "\n"))
        let line = zip(expected, got).prefix { $0 == $1 }.count
        #expect(
            written == actual,
            """
            \(name) is different from its line "\(line < expected.count ? expected[line] : "(end)")" on; \
            now: "\(line < got.count ? got[line] : "(end)")"
            """)
    }
}
