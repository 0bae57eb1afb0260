import Foundation
import LawHistories
import Testing

/// Hash seeds differ from process to process, so a digest that depends on the order of a `Dictionary` does too. In one
/// process nobody would ever see it.
@Suite struct ProcessTests {
    @Test func `two processes print, code and show the same`() throws {
        let first = try digests()
        let second = try digests()
        #expect(first.seed != second.seed, "without hash seeds that differ nothing is shown")
        #expect(first.digests == second.digests)
        #expect(first.digests.count == LawSubject.all.count)
    }

    private func digests() throws -> (seed: String, digests: [String]) {
        let process = Process()
        process.executableURL = try probe()
        process.arguments = ["digest", "--histories", "60"]
        process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "SWIFT_DETERMINISTIC_HASHING" }
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let lines = text.split(separator: "\n").map(String.init)
        return (lines.first ?? "", Array(lines.dropFirst()))
    }

    /// Built beside the tests.
    private func probe() throws -> URL {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().appending(path: "LawProbe")
    }
}
