import ArgumentParser
import ControlAPI
import LanyardClient

struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or set the types of a collection's fields, and its rules.",
        subcommands: [Set.self, Show.self], defaultSubcommand: Show.self)

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set types and rules, on all nodes.",
            discussion: """
                The file is JSON: {"fields":{"title":"register","plays":"counter","tags":{"type":"set","refers":"tag"}}, \
                "deletePolicy":"deleteWins","indexed":["title"],"upsert":true}. What it does not name stays as it is.
                Types: register constant counter set addOnlySet list orderedSet text dictionary local.
                Policies: deleteWins updateWins lastWriterWins ask.
                """)
        @Argument(help: "The collection.")
        var collection: String
        @Argument(help: "The file, or - for standard input.")
        var file: String
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try NameRule.check(collection, is: .collection)
            let bytes =
                try file == "-"
                ? await StandardInput.bytes(limit: ControlLimits.valueBytes, ObjectInput.tooLarge)
                : FileBytes.read(file, limit: ControlLimits.valueBytes)
            let text: JSONText
            do throws(JSONSyntaxError) { text = try JSONText(bytes) } catch { throw ControlError(malformed: error) }
            let schema = try await global.client().setSchema(
                try SchemaEntry(setting: text, of: collection), space: global.space)
            try global.print(schema) { global.quiet ? "" : SchemaText.text([schema], $0) }
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one schema, or all.")
        @Argument(help: "Only of this collection.")
        var collection: String?
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            if let collection {
                try NameRule.check(collection, is: .collection)
                let schema = try await global.client().schema(of: collection, space: global.space)
                try global.print(schema) { SchemaText.text([schema], $0) }
            } else {
                let schemas = try await global.client().schemas(space: global.space)
                try global.print(schemas) { SchemaText.text(schemas, $0) }
                if schemas.isEmpty {
                    global.note("No schemas yet; fields take what is put. Set one: lanyard schema set COLLECTION FILE")
                }
            }
        }
    }
}

/// Schemas for people: a table of fields under each collection's rules.
private enum SchemaText {
    static func text(_ schemas: [SchemaEntry], _ style: Style) -> String {
        schemas.map { text($0, style) }.joined(separator: "\n")
    }

    private static func text(_ schema: SchemaEntry, _ style: Style) -> String {
        let policy = (schema.deletePolicy ?? .deleteWins).rawValue
        let creation = schema.upsert ?? true ? "put creates" : "put creates only with --if-absent"
        let head = "\(style.strong(shown(schema.collection)))  \(shown(policy)), \(creation)\n"
        guard !schema.fields.isEmpty else { return head }
        var table = Table("FIELD", "TYPE", "REFERS", "INDEXED")
        for field in schema.fields {
            let isIndexed = (schema.indexed ?? []).contains { $0.utf8.elementsEqual(field.name.utf8) }
            table.add(
                Table.Cell(field.name), Table.Cell(field.type.rawValue), Table.Cell(field.refers),
                Table.Cell(isIndexed ? "yes" : ""))
        }
        return head + table.text(style)
    }
}
