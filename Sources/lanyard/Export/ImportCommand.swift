import ArgumentParser
import ControlAPI
import LanyardClient

struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Write what lanyard export saved, or rows of a table or of JSON lines, into a space.",
        usage: """
            lanyard import FILE|- [--replace] [--lost-events] [--space NAME] [OPTIONS]
            lanyard import FILE|- --into COLLECTION [--id COLUMN] [--map COLUMN=FIELD[:TYPE]] [--dry-run] [OPTIONS]
            """,
        discussion: """
            Brings what is not here: objects under their ids, events in their order, files, schemas. What is here and different \
            stays as it is and is listed, unless --replace is given. What was deleted here stays deleted, and is listed. So it may \
            be done again, also after it was stopped: nothing is written twice.
            The whole file is checked before anything is written.
            To add a device to a space, use lanyard invite and lanyard join: two spaces that were imported into each other and \
            joined later have the events of both.
            With --into, each row of a CSV or TSV file, whose first row names the columns, is put as an object, and each line of JSON \
            lines. A cell is text unless --map gives its type or the schema says that the field is a counter; an empty cell is no \
            field. In JSON lines a column is a key, or a path of keys: artist.name (for keys with a dot: /artist/first.name). It \
            stops at the first bad row; those before it stay. For example:
            lanyard import people.csv --into people --id email --map 'Full name=name' --map 'Tags=tags:list(;)' --skip Internal
            """)
    @Argument(help: "The export, or the file with rows; - for standard input.", completion: .file())
    var file: String
    @Flag(
        help: """
            Make objects, schemas and settings of streams that are here as they are in the file; with --into, remove fields of \
            the objects that their rows do not have.
            """)
    var replace = false
    @Flag(
        help: """
            Also write events of this space's own devices that have not come here: only if no device has them any more.
            """)
    var lostEvents = false
    @OptionGroup(title: "Rows") var rows: RowOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if rows.into == nil, rows.areGiven {
            throw ValidationError("These options are for rows: say with --into COLLECTION where they go.")
        }
        if rows.into != nil, lostEvents {
            throw ValidationError("Rows have no events: leave out --lost-events or --into.")
        }
    }

    private var showsProgress: Bool { !global.quiet && !global.json }

    func run() async throws {
        if let collection = rows.into {
            return try await RowImport(
                file: file, collection: collection, options: rows, replace: replace, global: global
            ).run()
        }
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
        let archive: ImportArchive
        do throws(ControlError) { archive = try ImportArchive(input) { display.add($0) } } catch {
            guard [.notAnArchive, .truncated].contains(error.code), RowFormat(fileName: file) != nil else {
                throw error
            }
            throw ControlError(
                .notAnArchive, "This is no export.", hint: "To import its rows, say where they go: --into COLLECTION")
        }
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
