import Foundation

/// What a command did.
struct Outcome {
    let status: Int32
    let output: String
    let errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
}

/// A command that could not be run, or did not do what the test needs before it can go on.
struct RigError: Error, CustomStringConvertible {
    let description: String
}

/// Runs commands. Everything goes through files, so a command may print as much as it likes and leave processes behind.
struct Shell {
    /// The folder that holds `Package.swift`.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// No command of a test may take longer; a hang is then a failure with a name.
    static let limitSeconds = 600

    /// Starts a command and returns it running. Its output goes to `output`, which exists from then on.
    static func start(
        _ arguments: [String], input: URL? = nil, output: URL, errors: URL, environment: [String: String],
        limitSeconds: Int? = Shell.limitSeconds
    ) throws -> Process {
        for file in [output, errors] { try Data().write(to: file) }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        // The threads of tests have signals blocked, which a command would inherit. Without a limit the process is the command
        // itself, for a caller that sends it a signal.
        let limit = limitSeconds.map { ["timeout", "--kill-after=5", "\($0)"] } ?? []
        process.arguments = ["--default-signal"] + limit + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.currentDirectoryURL = root
        process.standardInput = try input.map { try FileHandle(forReadingFrom: $0) } ?? FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try process.run()
        return process
    }

    /// Runs a command to its end.
    static func run(_ arguments: [String], input: String? = nil, environment: [String: String]) throws -> Outcome {
        let folder = try temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        var inputFile: URL?
        if let input {
            let file = folder.appending(path: "input")
            try Data(input.utf8).write(to: file)
            inputFile = file
        }
        let output = folder.appending(path: "output")
        let errors = folder.appending(path: "errors")
        let process = try start(arguments, input: inputFile, output: output, errors: errors, environment: environment)
        process.waitUntilExit()
        return Outcome(
            status: process.terminationStatus, output: try text(of: output), errors: try text(of: errors))
    }

    static func text(of file: URL) throws -> String {
        String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    static func temporaryFolder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appending(path: "lanyard-rig-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
