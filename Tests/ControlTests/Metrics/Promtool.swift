import Foundation

/// Debian's `promtool`, which reads configurations, alerts and metrics as Prometheus does.
enum Promtool {
    /// Returns its status, and what it printed.
    static func run(_ arguments: [String], input: String) throws -> (Int32, String) {
        let directory = try TemporaryDirectory()
        let (inputPath, outputPath) = (directory.path + "/input", directory.path + "/output")
        try Data(input.utf8).write(to: URL(filePath: inputPath))
        try Data().write(to: URL(filePath: outputPath))
        let source = try FileHandle(forReadingFrom: URL(filePath: inputPath))
        let output = try FileHandle(forWritingTo: URL(filePath: outputPath))
        let child = try ChildProcess(
            "/usr/bin/promtool", arguments, environment: [:], input: source, output: output, errors: output)
        let status = child.waitUntilExit()
        return (status, try String(contentsOfFile: outputPath, encoding: .utf8))
    }
}
