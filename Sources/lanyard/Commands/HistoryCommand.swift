import ArgumentParser
import ControlAPI
import LanyardClient

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who changed what in an object, and when; the object as it was; or who wrote which part.",
        discussion: """
            Without options: every change, oldest first, as it was applied here. Of a text only what was deleted and inserted. \
            --where keeps some of it; --format and --no-headers print it as a table.
            With --at: the object as the author of that version left it, the same on every device.
            With --blame: who wrote each part of what the field shows now, or showed with --at.
            With --from: what changed from that version until now, or until --at.
            """)
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String
    @Option(help: ArgumentHelp("Show the object as it was at this version.", valueName: "version"))
    var at: String?
    @Option(help: ArgumentHelp("Show what changed since this version.", valueName: "version"))
    var from: String?
    @Option(help: ArgumentHelp("Only this field, or what is at FIELD/KEY.", valueName: "field"))
    var field: String?
    @Flag(help: "Show who wrote which part of the field, and when.")
    var blame = false
    @OptionGroup var listing: ListingOptions
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if listing.isGiven, blame || at != nil || from != nil {
            throw ValidationError(
                "--where, --format and --no-headers are for the list of changes: leave out --at, --from and --blame.")
        }
        if blame, field == nil { throw ValidationError("--blame needs to know of what: give --field.") }
        if blame, from != nil { throw ValidationError("Give --blame or --from, not both.") }
        if at != nil, field != nil, !blame, from == nil {
            throw ValidationError("--at with --field needs --blame or --from.")
        }
    }

    func run() async throws {
        let name = try ObjectName(parsing: object)
        let path = try field.map { text throws(ControlError) in try FieldPath(parsing: text) }
        let version = try at.map { text throws(ControlError) in try DotText(parsing: text) }
        let start = try from.map { text throws(ControlError) in try DotText(parsing: text) }
        let client = try global.client()
        if blame, let path {
            try await showBlame(of: path, in: name, at: version, client)
        } else if let start {
            let entries = try await client.difference(
                of: name, from: start, at: version, field: path, space: global.space)
            try global.print(entries) { DifferenceText(style: $0).text(entries) }
            if entries.isEmpty { global.note("No difference.") }
        } else if let version {
            let entry = try await client.object(name, at: version, space: global.space)
            try global.print(entry) { ObjectText.text(entry, $0, isQuiet: global.quiet) }
        } else {
            try await showChanges(of: path, in: name, client)
        }
    }

    /// The keys of steps, of which none has all.
    private static let keys = [
        "version", "time", "device", "kind", "field", "old", "new", "edits", "attachment",
    ]

    private func showChanges(of path: FieldPath?, in name: ObjectName, _ client: LanyardClient) async throws {
        if global.json {
            var array = JSONArrayOutput()
            try await client.readHistory(of: name, field: path, space: global.space) {
                try array.add(try listing.rows($0, keys: Self.keys))
            }
            try array.end()
            return
        }
        let names = await DeviceNames(client, space: global.space)
        if listing.columns.isGiven { return try await showTable(of: path, in: name, names, client) }
        let text = HistoryText(names: names, style: global.style)
        var last: DotText?
        try await client.readHistory(of: name, field: path, space: global.space) { entries in
            for entry in try listing.rows(entries, keys: Self.keys) {
                if entry.version != last { try StandardOutput.write(text.head(entry)) }
                last = entry.version
                try StandardOutput.write(text.lines(entry))
            }
        }
    }

    private func showTable(
        of path: FieldPath?, in name: ObjectName, _ names: DeviceNames, _ client: LanyardClient
    ) async throws {
        let titles = Table(
            "TIME", "DEVICE", "DID", "FIELD", "VERSION", "CHANGE", leastImportant: ["VERSION", "DEVICE"])
        var table = try Table.Growing(titles, global.style, listing.table)
        // Colours would count as characters of a cell.
        let text = HistoryText(names: names, style: Style(usesColor: false))
        try await client.readHistory(of: name, field: path, space: global.space) { entries in
            for entry in try listing.rows(entries, keys: Self.keys) {
                table.add(
                    Table.Cell(TimeText.local.exact(entry.time)), Table.Cell(names[entry.device]),
                    Table.Cell(entry.kind.rawValue), Table.Cell(entry.field), Table.Cell(entry.version),
                    Table.Cell(text.change(entry)))
            }
            try StandardOutput.write(try table.lines(now: false))
        }
        try StandardOutput.write(try table.lines(now: true))
    }

    private func showBlame(
        of path: FieldPath, in name: ObjectName, at version: DotText?, _ client: LanyardClient
    ) async throws {
        if global.json {
            var array = JSONArrayOutput()
            try await client.readBlame(of: name, field: path, at: version, space: global.space) { try array.add($0) }
            try array.end()
            return
        }
        var entries: [BlameEntry] = []
        try await client.readBlame(of: name, field: path, at: version, space: global.space) { entries += $0 }
        let text = BlameText(
            field: path, names: await DeviceNames(client, space: global.space), style: global.style)
        try StandardOutput.write(text.text(entries))
        if entries.isEmpty { global.note("There is nothing in it.") }
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print objects as they change, one JSON object per line.",
        discussion: """
            Begins with what changes from now on, or behind a position that was printed before; 0 begins with all objects. An \
            object that changed several times meanwhile comes once, as it is then. Ends when it is interrupted or the agent stops.
            """)
    @Argument(help: "Only of this collection.", completion: Completions.collections)
    var collection: String?
    @Option(help: ArgumentHelp("Begin behind this position.", valueName: "position"))
    var after: String?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        if let collection { try NameRule.check(collection, is: .collection) }
        var start: UInt64?
        if let after {
            guard case .arrival(let number) = try EventPosition(parsing: after) else {
                throw ControlError(
                    .invalidArgument, "The position of a watch is a whole number.",
                    hint: "Give the \"position\" of a line that was printed before, or 0 for all objects.")
            }
            start = number
        }
        try await global.client().watchObjectLines(collection, after: start, space: global.space) { position in
            global.note("Watching, behind position \(position).")
        } _: { block in
            try StandardOutput.write(json: block)
        }
    }
}
