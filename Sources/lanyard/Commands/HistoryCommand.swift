import ArgumentParser
import ControlAPI
import LanyardClient

struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show who changed what in an object, and when; or the object as it was.")
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"))
    var object: String
    @Option(help: ArgumentHelp("Show the object as it was at this version.", valueName: "version"))
    var at: String?
    @Option(help: ArgumentHelp("Only this field, or what is at FIELD/KEY.", valueName: "field"))
    var field: String?
    @OptionGroup var global: GlobalOptions

    func validate() throws {
        if at != nil, field != nil { throw ValidationError("Give --at or --field, not both.") }
    }

    func run() async throws {
        let name = try ObjectName(parsing: object)
        let path = try field.map { text throws(ControlError) in try FieldPath(parsing: text) }
        let version = try at.map { text throws(ControlError) in try DotText(parsing: text) }
        let client = try global.client()
        if let version {
            let entry = try await client.object(name, at: version, space: global.space)
            try global.print(entry) { ObjectText.text(entry, $0, isQuiet: global.quiet) }
        } else if global.json {
            var array = JSONArrayOutput()
            try await client.readHistory(of: name, field: path, space: global.space) { try array.add($0) }
            try array.end()
        } else {
            let text = HistoryText(names: await DeviceNames(client, space: global.space), style: global.style)
            var last: DotText?
            try await client.readHistory(of: name, field: path, space: global.space) { entries in
                for entry in entries {
                    if entry.version != last { try StandardOutput.write(text.head(entry)) }
                    last = entry.version
                    try StandardOutput.write(text.line(entry))
                }
            }
        }
    }
}

/// A change as one line, and a line below it for each field that it touched.
private struct HistoryText {
    let names: DeviceNames
    let style: Style

    func head(_ entry: HistoryEntry) -> String {
        let kind =
            switch entry.kind {
            case .created: style.good("created")
            case .edited: "edited"
            case .deleted: style.bad("deleted")
            case .kept: style.good("kept")
            }
        return "\(entry.time)  \(names[entry.device])  \(kind)  \(style.faint("version \(entry.version)"))\n"
    }

    func line(_ entry: HistoryEntry) -> String {
        guard let field = entry.field else { return "" }
        let name = "  \(style.faint(shown("\(field)")))  "
        let new = shown(ValueText.line(entry.new))
        switch (entry.old, entry.new) {
        case (nil, _): return name + new + "\n"
        case (let old?, nil): return "\(name)\(shown(ValueText.line(old))) \(style.bad("removed"))\n"
        case (let old?, _?): return "\(name)\(shown(ValueText.line(old))) → \(new)\n"
        }
    }
}

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print objects as they change, one JSON object per line.",
        discussion: """
            Begins with what changes from now on, or behind a position that was printed before; 0 begins with all objects. An \
            object that changed several times meanwhile comes once, as it is then. Ends when it is interrupted or the agent stops.
            """)
    @Argument(help: "Only of this collection.")
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
            try StandardOutput.write(block)
        }
    }
}
