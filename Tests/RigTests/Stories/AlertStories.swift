import Foundation
import Testing

extension RigSuites {
    /// The alerts of `deploy/monitoring`. The stories are in Python, beside a real Prometheus; they take some minutes.
    @Suite struct AlertStories {
        @Test(.enabled(if: Rig.isLong, "takes seven minutes: LANYARD_LONG_TESTS=1"))
        func `each alert fires while its fault lasts, and clears after it`() throws {
            try Rig.with(3) { _ in
                let folder = try Shell.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
                let stories = try Shell.start(
                    ["Tests/monitoring/alerts.py"], output: output, errors: errors, environment: Rig.environment,
                    limitSeconds: 1_200)
                stories.waitUntilExit()
                let told = try Shell.text(of: output)
                for line in told.split(separator: "\n") { print("    \(line)") }
                let said = try Shell.text(of: errors)
                #expect(
                    stories.terminationStatus == 0, "\(told.split(separator: "\n").last ?? "") \(said.suffix(2_000))")
            }
        }
    }
}
