import ArgumentParser
import ControlAPI
import LanyardClient

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the objects of a collection.",
        discussion: """
            --where keeps the objects for which a condition holds:
              done=true                     the field has this value
              'prio >= 2 and prio < 5'      also != < <= >
              'status in [open, new]'       one of these values
              'name prefix Mi'              a text that begins so
              'tags contains home'          a set or list with it, or a text with it inside
              'not (a=1 or b=2)'            not, and, or, parentheses
            Given several times, all must hold. FIELD/KEY is what is inside a field; a field with blanks or operators in its \
            name stands in double quotes. VALUE is JSON if it parses, else the text itself. A field that an object does not \
            have compares like null. Fields that the schema names as indexed are looked up, or give the first objects of an \
            order without the others; --explain says whether one does.
            The objects come by id, or with --sort by a field, by when they were created, or changed last; nothing and null \
            first, then false, true, numbers and texts. --sort 'prio desc' --sort title sorts by the greatest prio, then by \
            title. --after goes on behind the last object of a list that was printed.
            --watch goes on when the list was printed: + before an object that is new in it, ~ before one that changed or \
            moved, - before one that left. With --json it prints a line for each, and "complete" with a position; --after begins \
            behind that. Ends when it is interrupted or the agent stops.
            """, aliases: ["ls"])
    @Argument(help: "The collection.", completion: Completions.collections)
    var collection: String
    @Option(name: .customLong("where"), help: ArgumentHelp("Only these.", valueName: "condition"))
    var conditions: [String] = []
    @Option(help: ArgumentHelp("In the order of a field, or created, or changed.", valueName: "field"))
    var sort: [String] = []
    @Flag(help: "From the last to the first.")
    var reverse = false
    @Option(name: [.long, .customShort("n")], help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?
    @Option(help: ArgumentHelp("Begin behind this object of the list; with --watch, this position.", valueName: "id"))
    var after: String?
    @Flag(name: .customLong("string"), help: "Take VALUE as text even if it is JSON.")
    var asText = false
    @Flag(help: "Print only how many there are.")
    var count = false
    @Flag(help: "Say how they are found, and how many objects are read for it.")
    var explain = false
    @Flag(help: "Go on with what changes in the list.")
    var watch = false
    @OptionGroup var columns: ColumnOptions
    @OptionGroup var global: GlobalOptions

    private static let sampleRows = 500

    func validate() throws {
        if columns.isGiven, watch || count || explain {
            throw ValidationError("--format and --no-headers are for a list: leave out --watch, --count and --explain.")
        }
        if watch, count || explain {
            throw ValidationError("--watch lists objects: leave out --count and --explain.")
        }
        if watch, after != nil, !global.json {
            throw ValidationError("Without --json a watch begins with the whole list: leave out --after.")
        }
        if count, !sort.isEmpty || reverse || limit != nil || after != nil || explain {
            throw ValidationError("--count looks at all objects: give it only --where.")
        }
        if explain, after != nil || limit != nil && sort.isEmpty {
            throw ValidationError("--explain takes --limit only with --sort, and no --after.")
        }
        if let limit, !ControlLimits.pageEntries.contains(limit) {
            throw ValidationError("The limit is 1 to \(ControlLimits.pageEntries.upperBound).")
        }
    }

    func run() async throws {
        try NameRule.check(collection, is: .collection)
        var parsed: [ObjectCondition] = []
        for text in conditions { parsed.append(try ObjectCondition(parsing: text, valuesAsText: asText)) }
        let condition = ObjectCondition.joining(parsed)
        let client = try global.client()
        if watch {
            try await follow(client, condition)
        } else if count || explain {
            let order = try ListOrder(parsing: sort, reverse: reverse)
            let found = try await client.countObjects(
                collection, where: condition, order: order, limit: limit, space: global.space)
            try global.print(found) { _ in explain ? explanation(of: found) : "\(found.count)\n" }
        } else if global.json {
            var array = JSONArrayOutput()
            try await read(client, condition) { try array.add($0) }
            try array.end()
        } else {
            try await table(client, condition)
        }
    }

    private func follow(_ client: LanyardClient, _ condition: ObjectCondition?) async throws {
        let order = try ListOrder(parsing: sort, reverse: reverse)
        guard !global.json else {
            try await client.followObjectLines(
                collection, where: condition, order: order, limit: limit, after: after, space: global.space
            ) { try StandardOutput.write(json: $0) }
            return
        }
        var printed = ListPrinter(global)
        try await client.followObjects(
            collection, where: condition, order: order, limit: limit, space: global.space
        ) { try printed.print($0) }
    }

    private func explanation(of found: ObjectCount) -> String {
        let objects = Amounts.count(found.examined, "object")
        let way =
            if let order = found.order {
                found.examined == 0
                    ? "Order by index \(shown(order)), which alone says so; no object was read."
                    : "Order by index \(shown(order)); \(objects) read."
            } else if let index = found.index {
                found.examined == 0
                    ? "The index of \(shown(index)) alone says so; no object was read."
                    : "The index of \(shown(index)) was looked up; \(objects) read."
            } else if found.examined == 0 {
                "They were counted without reading them."
            } else {
                "No index helps: \(objects) read. A field named under \"indexed\" in the schema is looked up: "
                    + "lanyard schema show \(ShellWord.quoted(collection))"
            }
        let sorting = sort.isEmpty || found.order != nil ? "" : " The objects were sorted."
        return "\(Amounts.count(found.count, "object")) found. \(way)\(sorting)\n"
    }

    private func read(
        _ client: LanyardClient, _ condition: ObjectCondition?, _ body: ([ObjectEntry]) async throws -> Void
    ) async throws {
        let order = try ListOrder(parsing: sort, reverse: reverse)
        let behind = try after.map { id throws(ControlError) in try ObjectName(collection: collection, id: id).id }
        try await client.listObjects(
            collection, where: condition, order: order, after: behind, limit: limit, space: global.space, body)
    }

    private func table(_ client: LanyardClient, _ condition: ObjectCondition?) async throws {
        var waiting: [ObjectEntry] = []
        var table: ObjectTable?
        func begin() throws -> ObjectTable {
            let format = columns.table
            let begun = ObjectTable(waiting, limit: TerminalWidth.current, columns: format.columns)
            let hasHead = format.hasHeaders && !global.quiet
            try StandardOutput.write(
                (hasHead ? begun.head(global.style) : "") + waiting.map(begun.row).joined())
            return begun
        }
        try await read(client, condition) { objects in
            if let table {
                try StandardOutput.write(objects.map(table.row).joined())
            } else {
                waiting += objects
                if waiting.count >= Self.sampleRows { table = try begin() }
            }
        }
        guard table == nil else { return }
        if waiting.isEmpty { global.note("No objects.") } else { _ = try begin() }
    }
}

/// Prints a list, and then what changes in it.
private struct ListPrinter {
    private let global: GlobalOptions
    private var objects: [ObjectEntry] = []
    private var table: ObjectTable?

    init(_ global: GlobalOptions) { self.global = global }

    mutating func print(_ difference: QueryDifference) throws {
        let before = objects
        difference.apply(to: &objects)
        guard !difference.isReset else {
            if table != nil { global.note("The list begins anew.") }
            let table = ObjectTable(objects, limit: TerminalWidth.current.map { max($0 - Self.markWidth, 1) })
            self.table = table
            if objects.isEmpty { global.note("No objects.") }
            let head = global.quiet || objects.isEmpty ? "" : Self.line(" ", table.head(global.style))
            try StandardOutput.write(head + objects.map { Self.line(" ", table.row($0)) }.joined())
            return
        }
        var lines: [String] = []
        // Columns follow what is shown first.
        if table?.isEmpty ?? true { table = ObjectTable(objects, limit: TerminalWidth.current) }
        guard let table else { return }
        for id in difference.removed {
            guard let object = before.first(where: { $0.id.utf8.elementsEqual(id.utf8) }) else { continue }
            lines.append(Self.line("-", table.row(object)))
        }
        for placed in difference.placed {
            lines.append(Self.line(placed.kind == .inserted ? "+" : "~", table.row(placed.object)))
        }
        try StandardOutput.write(lines.joined())
    }

    private static let markWidth = 2

    private static func line(_ mark: String, _ row: String) -> String { "\(mark) \(row)" }
}
