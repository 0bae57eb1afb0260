import ArgumentParser
import ControlAPI
import LanyardClient

struct Get: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show an object.")
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let entry = try await global.client().object(try ObjectName(parsing: object), space: global.space)
        try global.print(entry) { ObjectText.text(entry, $0, isQuiet: global.quiet) }
    }
}

/// `lanyard get` for people.
enum ObjectText {
    static func text(_ object: ObjectEntry, _ style: Style, isQuiet: Bool) -> String {
        let fields = ValueText.members(object.fields)
        let width = fields.map { shown($0.name).count }.max() ?? 0
        var lines = fields.map { name, value in
            style.faint(shown(name).padded(to: width)) + "  " + block(ValueText.text(value), indent: width + 2)
        }
        if !isQuiet {
            let title = "\(shown(object.collection))/\(shown(object.id))"
            lines.insert("\(style.strong(title))  \(style.faint("version \(object.version)"))", at: 0)
        }
        for attachment in object.attachments ?? [] { lines.append(AttachmentText.line(attachment, style)) }
        return lines.map { $0 + "\n" }.joined()
    }

    /// Further lines of a text stand under its first.
    private static func block(_ text: String, indent: Int) -> String {
        text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { shown(String($0)) }
            .joined(separator: "\n" + String(repeating: " ", count: indent))
    }
}

struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the objects of a collection.",
        discussion: """
            --where FIELD=VALUE keeps those whose field reads as VALUE, --where FIELD.contains=VALUE those whose set or list \
            has it; given several times, all must hold. VALUE is JSON if \
            it parses, else the text itself. Fields that the schema names as indexed are found without looking at every object, \
            except by .contains.
            They come by id, or with --sort by a field, by when they were created, or changed last; nothing and null first, \
            then false, true, numbers and texts. --after goes on behind the last object of a list that was printed.
            """, aliases: ["ls"])
    @Argument(help: "The collection.", completion: Completions.collections)
    var collection: String
    @Option(name: .customLong("where"), help: ArgumentHelp("Only these.", valueName: "field=value"))
    var conditions: [String] = []
    @Option(help: ArgumentHelp("In the order of a field, or created, or changed.", valueName: "field"))
    var sort: String?
    @Flag(help: "From the last to the first.")
    var reverse = false
    @Option(name: [.long, .customShort("n")], help: ArgumentHelp("At most so many.", valueName: "n"))
    var limit: Int?
    @Option(help: ArgumentHelp("Begin behind this object of the list.", valueName: "id"))
    var after: String?
    @Flag(name: .customLong("string"), help: "Take VALUE as text even if it is JSON.")
    var asText = false
    @OptionGroup var global: GlobalOptions

    private static let sampleRows = 500

    func validate() throws {
        if let limit, !ControlLimits.pageEntries.contains(limit) {
            throw ValidationError("The limit is 1 to \(ControlLimits.pageEntries.upperBound).")
        }
    }

    func run() async throws {
        try NameRule.check(collection, is: .collection)
        var parsed: [FieldCondition] = []
        for text in conditions { parsed.append(try FieldCondition(parsing: text, valueAsText: asText)) }
        let client = try global.client()
        if global.json {
            var array = JSONArrayOutput()
            try await read(client, parsed) { try array.add($0) }
            try array.end()
        } else {
            try await table(client, parsed)
        }
    }

    private func read(
        _ client: LanyardClient, _ conditions: [FieldCondition], _ body: ([ObjectEntry]) async throws -> Void
    ) async throws {
        let order = try ListOrder(parsing: sort, reverse: reverse)
        let behind = try after.map { id throws(ControlError) in try ObjectName(collection: collection, id: id).id }
        try await client.listObjects(
            collection, where: conditions, order: order, after: behind, limit: limit, space: global.space, body)
    }

    private func table(_ client: LanyardClient, _ conditions: [FieldCondition]) async throws {
        var waiting: [ObjectEntry] = []
        var table: ObjectTable?
        func begin() throws -> ObjectTable {
            let begun = ObjectTable(waiting, limit: TerminalWidth.current)
            try StandardOutput.write(
                (global.quiet ? "" : begun.head(global.style)) + waiting.map(begun.row).joined())
            return begun
        }
        try await read(client, conditions) { objects in
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

/// A JSON array printed while its elements come.
struct JSONArrayOutput {
    private var isEmpty = true

    mutating func add(_ elements: [some Encodable]) throws(ControlError) {
        var bytes: [UInt8] = []
        for element in elements {
            bytes.append(isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
            bytes += JSONEncoding.bytes(element)
            isEmpty = false
        }
        try StandardOutput.write(json: bytes)
    }

    func end() throws(ControlError) { try StandardOutput.write(isEmpty ? "[]\n" : "]\n") }
}

struct Edit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Edit parts of an object.",
        usage: "lanyard edit COLLECTION/ID OP…|- [OPTIONS]",
        discussion: """
            All operations are done as one change, in their order:
              PATH=VALUE             set a value; null is one
              PATH+=N  PATH-=N       count up or down
              PATH.unset             remove a field or key
              PATH.add=VALUE         add to a set
              PATH.remove=VALUE      remove from a set
              PATH.insert@N=VALUE    insert into a list or text, before element or Unicode scalar N
              PATH.delete@N:COUNT    delete COUNT elements or Unicode scalars from N on
              PATH.move@FROM:TO      move an element of a list
            PATH is a field, or FIELD/KEY for what is inside; in a key ~1 is a slash and ~0 a tilde. A field with a dot in its \
            name is set by PATH.set=VALUE. VALUE is JSON if it parses, else the text itself.
            What people see as one character may be several scalars, like a flag. An edit that would cut one in two is \
            refused, and says where it begins and ends.
            With - standard input is a JSON list of operations, as these texts or as objects: \
            [{"op":"set","path":"title","value":"Milk"},{"op":"increment","path":"plays","by":1},"tags.add=food"]
            """)
    @Argument(help: ArgumentHelp("The object.", valueName: "collection/id"), completion: Completions.objects)
    var object: String
    @Argument(help: ArgumentHelp("What to do, or - for standard input.", valueName: "op"))
    var operations: [String]
    @Flag(help: "Create the object if it is not there.")
    var create = false
    @Flag(name: .customLong("string"), help: "Take VALUE as text even if it is JSON.")
    var asText = false
    @Flag(help: "Let edits of a text cut characters that are made of several scalars.")
    var splitCharacters = false
    @Option(help: ArgumentHelp("Only if the object has this version.", valueName: "version"))
    var ifVersion: String?
    @OptionGroup var global: GlobalOptions

    func run() async throws {
        let name = try ObjectName(parsing: object)
        let condition = try ifVersion.map { text throws(ControlError) in
            WriteCondition.version(try DotText(parsing: text))
        }
        let edit = try ObjectEdit(
            name, try await parsed(), create: create, wholeCharacters: !splitCharacters, condition: condition ?? .none)
        if global.quiet, !global.json {
            _ = try await global.client().editBriefly(edit, space: global.space)
            return
        }
        let entry = try await global.client().edit(edit, space: global.space)
        try global.print(entry) { ObjectText.text(entry, $0, isQuiet: false) }
    }

    private func parsed() async throws(ControlError) -> [EditOperation] {
        if operations == ["-"] {
            let bytes = try await StandardInput.bytes(limit: ControlLimits.bodyBytes, ObjectInput.tooLarge)
            return try EditOperation.list(parsing: bytes)
        }
        var parsed: [EditOperation] = []
        for (index, text) in operations.enumerated() {
            do throws(ControlError) { parsed.append(try EditOperation(parsing: text, valuesAsText: asText)) } catch {
                throw operations.count == 1 ? error : error.concerning("Operation \(index + 1)")
            }
        }
        return parsed
    }
}
