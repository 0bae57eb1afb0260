import Foundation
import Testing

/// The proof from outside: a process that acknowledges n writes asks the kernel for at least n syncs.
@Suite("Durability: system calls")
struct SyncCountTests {
    private static let appendCount = 50

    @Test func `every acknowledged append is a sync of the write-ahead log`() throws {
        let result = try probe("append")
        #expect(result.synchronous == 2)
        #expect(result.acknowledged == Self.appendCount)
        #expect(result.syncs >= Self.appendCount, "fdatasync and fsync calls")
    }

    @Test func `the same count shows the planted bug of answering before the sync`() throws {
        let result = try probe("append-unsynced")
        #expect(result.acknowledged == Self.appendCount)
        #expect(result.syncs < Self.appendCount)
    }

    private struct Result {
        var synchronous = 0
        var acknowledged = 0
        var syncs = 0
    }

    private func probe(_ command: String) throws -> Result {
        let folder = ScratchFolder(inMemory: false)
        let trace = folder.path + "/trace"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/strace")
        process.arguments = [
            // A file for each thread: in one, what another thread does would cut the line of a sync that lasts.
            "-ff", "-y", "-o", trace, "-e", "trace=fsync,fdatasync", try probePath(), command, folder.path + "/data",
            "\(Self.appendCount)",
        ]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "strace is installed and may trace")
        var result = Result()
        for line in text.split(separator: "\n") {
            if line.hasPrefix("acknowledged ") { result.acknowledged += 1 }
            if line.hasPrefix("synchronous ") { result.synchronous = Int(line.dropFirst(12)) ?? 0 }
        }
        for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) where file.hasPrefix("trace.") {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder.path)/\(file)"))
            let calls = String(decoding: bytes, as: UTF8.self)
            result.syncs +=
                calls.split(separator: "\n").filter {
                    $0.contains("lanyard.sqlite-wal>) = 0") || $0.contains("lanyard.sqlite-wal>)        = 0")
                }.count
        }
        return result
    }

    /// Built beside the tests.
    private func probePath() throws -> String {
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        return URL(fileURLWithPath: tests).deletingLastPathComponent().path + "/StoreProbe"
    }
}
