import ArgumentParser
import ControlAPI
import LanyardClient

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write what lanyard export saved into a space, as changes of this device.",
        usage: "lanyard import FILE|- [--replace] [--lost-events] [--space NAME] [OPTIONS]",
        discussion: """
            Brings what is not here: objects under their ids, events in their order, files, schemas. What is here and different \
            stays as it is and is listed, unless --replace is given. What was deleted here stays deleted, and is listed. So it may \
            be done again, also after it was stopped: nothing is written twice.
            The whole file is checked before anything is written.
            To add a device to a space, use lanyard invite and lanyard join: two spaces that were imported into each other and \
            joined later have the events of both.
            """)
    @Argument(help: "The export; - for standard input.", completion: .file())
    var file: String
    @Flag(help: "Make objects, schemas and settings of streams that are here as they are in the file.")
    var replace = false
    @Flag(
        help: """
            Also write events of this space's own devices that have not come here: only if no device has them any more.
            """)
    var lostEvents = false
    @OptionGroup var global: GlobalOptions

    private var showsProgress: Bool { !global.quiet && !global.json }

    func run() async throws {
        let archive = try await open()
        let summary = ImportSummary()
        Interruption.explain(
            "It was stopped; what was imported stays.", hint: "Import it again to go on.", asJSON: global.json)
        do {
            try await Importing(global.client(), archive, global, summary, self).run()
        } catch {
            if summary.isStarted {
                summary.complete = false
                try global.print(summary) { _ in global.quiet ? "" : "It stopped before the end.\n" + summary.text }
            }
            throw error
        }
        try global.print(summary) { _ in global.quiet ? "" : summary.text }
        if let error = summary.error { throw error }
    }

    private func open() async throws -> ImportArchive {
        let input = try await input()
        let display = ProgressDisplay("Checking", of: input.size, isOn: showsProgress)
        defer { display.end() }
        let archive = try ImportArchive(input) { display.add($0) }
        try archive.check()
        return archive
    }

    private func input() async throws -> FileInput {
        guard file == "-" else { return try FileInput(path: RawArgument.bytes(of: file)) }
        let display = ProgressDisplay("Reading", of: nil, isOn: showsProgress)
        defer { display.end() }
        // It is read more than once.
        let kept = try TemporaryFile(in: TemporaryFile.directory)
        for try await bytes in StandardInput() {
            try kept.write(bytes)
            display.add(bytes.count)
        }
        return try FileInput(kept)
    }
}
