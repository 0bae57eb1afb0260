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
