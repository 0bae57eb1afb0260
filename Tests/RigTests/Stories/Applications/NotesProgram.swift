import Foundation
import Testing

extension RigSuites.ApplicationStories {
    /// The stories are in Python, which drives the browsers; they take longer than a command may otherwise.
    @Test func `three browsers show the notes that two people write in at once`() throws {
        try Rig.with(3) { _ in
            let folder = try Shell.temporaryFolder()
            defer { try? FileManager.default.removeItem(at: folder) }
            let (output, errors) = (folder.appending(path: "output"), folder.appending(path: "errors"))
            let stories = try Shell.start(
                ["Tests/browser/notes.py"], output: output, errors: errors, environment: Rig.environment,
                limitSeconds: 1_800)
            stories.waitUntilExit()
            let told = try Shell.text(of: output)
            for line in told.split(separator: "\n") { print("    \(line)") }
            let said = try Shell.text(of: errors)
            #expect(stories.terminationStatus == 0, "\(told.split(separator: "\n").last ?? "") \(said.suffix(2_000))")
        }
    }
}
