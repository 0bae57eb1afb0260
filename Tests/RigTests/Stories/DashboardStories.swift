import Foundation
import Testing

extension RigSuites {
    /// The stories are in Python, which drives the browsers.
    @Suite struct DashboardStories {
        @Test func `three browsers show their devices, and a person decides in them`() throws {
            try tell("Tests/browser/dashboard.py")
        }

        @Test func `three browsers show what ends badly, what is gone and how fast things go, also by keyboard`() throws
        {
            try tell("Tests/browser/dashboard_details.py")
        }

        private func tell(_ stories: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            try Rig.with(3) { _ in
                let folder = try Shell.temporaryFolder()
                defer { try? FileManager.default.removeItem(at: folder) }
                let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
                let process = try Shell.start(
                    [stories], output: output, errors: errors, environment: Rig.environment, limitSeconds: 1_800)
                process.waitUntilExit()
                let told = try Shell.text(of: output)
                for line in told.split(separator: "\n") { print("    \(line)") }
                let said = try Shell.text(of: errors)
                let last = told.split(separator: "\n").last ?? ""
                #expect(
                    process.terminationStatus == 0, "\(last) \(said.suffix(2_000))", sourceLocation: sourceLocation)
            }
        }
    }
}
