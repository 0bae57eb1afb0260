import ArgumentParser
import ControlAPI
import LanyardClient

struct Logs: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the agent's log; works without the agent.")
    @Flag(help: "Go on with lines that come later.")
    var follow = false
    @Option(help: ArgumentHelp("Begin with so many of the newest lines.", valueName: "n"))
    var lines = 200
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let directory = global.location.dataDirectory
        guard var log = LogFile(directory: directory) else {
            throw ControlError(
                .notFound, "There is no log at \(directory)/\(LogFile.name).",
                hint: "Say where the agent's data is with --data-dir, or start it: \(global.location.startCommand)")
        }
        try StandardOutput.write(log.newest(lines: max(0, lines)))
        guard follow else { return }
        let changes = try DirectoryChanges(directory: directory)
        while true {
            try StandardOutput.write(log.readOn())
            changes.waitForOne()
        }
    }
}
