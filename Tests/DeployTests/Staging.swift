import Foundation
import Testing

/// A folder that stands for a machine or for somebody's home, and goes with the test.
final class Staging: Sendable {
    let folder: String

    struct Outcome: Sendable {
        var status: Int32
        var output: String
    }

    init() throws {
        folder = NSTemporaryDirectory() + "lanyard-staging-" + UUID().uuidString
        for name in ["home", "home/run", "machine"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    var machine: String { folder + "/machine" }
    var home: String { folder + "/home" }

    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// `deploy/install` for the staged machine, or with `--user` for the staged home. Builds nothing: `swift test` holds
    /// the build folder.
    func install(_ arguments: String...) async throws -> Outcome {
        var environment = ["DESTDIR": machine]
        if arguments.contains("--user") { environment = [:] }
        return try await run([Self.repository + "/deploy/install"] + arguments, environment)
    }

    /// Runs a program with the staged home, without input.
    func run(_ command: [String], _ extra: [String: String] = [:]) async throws -> Outcome {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        var environment = ProcessInfo.processInfo.environment
        for name in ["XDG_DATA_HOME", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS", "DESTDIR"] {
            environment[name] = nil
        }
        environment.merge(["HOME": home, "XDG_RUNTIME_DIR": home + "/run"]) { $1 }
        environment.merge(extra) { $1 }
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let output = folder + "/output-" + UUID().uuidString
        try #require(FileManager.default.createFile(atPath: output, contents: nil))
        let file = try #require(FileHandle(forWritingAtPath: output))
        process.standardOutput = file
        process.standardError = file
        try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in done.resume() }
            do { try process.run() } catch { done.resume(throwing: error) }
        }
        let text = String(decoding: FileManager.default.contents(atPath: output) ?? Data(), as: UTF8.self)
        return Outcome(status: process.terminationStatus, output: text)
    }

    /// Files and links below a folder, sorted; folders do not count.
    func files(below path: String) -> [String] {
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return all.filter { name in
            let type = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.type] as? FileAttributeType
            return type != .typeDirectory
        }.sorted()
    }
}
