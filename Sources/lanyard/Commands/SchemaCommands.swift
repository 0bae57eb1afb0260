import ArgumentParser
import ControlAPI
import LanyardClient

struct Schema: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or set the types of a collection's fields, and its rules.",
        subcommands: [Set.self, Show.self], defaultSubcommand: Show.self)

    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set types and rules, on all devices.",
            usage: "lanyard schema set COLLECTION FIELD=TYPE…|FILE|- [OPTIONS]",
            discussion: """
                For example: lanyard schema set task tags=set plays=counter
                Values that are there in another type are converted, as ordinary changes, once you have said yes.
                A file is JSON: {"fields":{"title":"register","plays":"counter","tags":{"type":"set","refers":"tag"}}, \
                "deletePolicy":"deleteWins","indexed":["title"],"upsert":true}. What it does not name stays as it is.
                Types: register constant counter set addOnlySet list orderedSet text dictionary local.
                Policies: deleteWins updateWins lastWriterWins ask.
                """)
        @Argument(help: "The collection.", completion: Completions.collections)
        var collection: String
        @Argument(
            help: ArgumentHelp("Types of fields; or a file, or - for standard input.", valueName: "field=type"))
        var words: [String]
        @OptionGroup var confirmation: Confirmation
        @OptionGroup var global: GlobalOptions

        func run() async throws {
            try NameRule.check(collection, is: .collection)
            let wish = try await wish()
            let client = try global.client()
            let schema: SchemaEntry
            do throws(ControlError) { schema = try await client.setSchema(wish, space: global.space) } catch {
                guard error.code == .schemaWouldLoseData else { throw error }
                let rows = try await client.conversions(for: wish, space: global.space)
                guard !rows.isEmpty else { throw error }
                for row in rows { global.note(ConversionText.line(row)) }
                // Nothing is destroyed: to a program this is the refusal that it is without a conversion.
                guard confirmation.yes || confirmation.canAsk else {
                    throw ControlError(
                        error.code, error.message, hint: "To convert these values, as ordinary changes: add --yes.")
                }
                try confirmation.ask("Convert these values, as ordinary changes?")
                schema = try await client.setSchema(wish, converting: true, space: global.space)
            }
            try global.print(schema) { global.quiet ? "" : SchemaText.text([schema], $0) }
        }

        private func wish() async throws(ControlError) -> SchemaEntry {
            if let fields = try SchemaWords.fields(words) { return SchemaEntry(collection: collection, fields: fields) }
            let bytes =
                try words[0] == "-"
                ? await StandardInput.bytes(limit: ControlLimits.valueBytes, ObjectInput.tooLarge)
                : FileBytes.read(words[0], limit: ControlLimits.valueBytes)
            let text: JSONText
            do throws(JSONSyntaxError) { text = try JSONText(bytes) } catch { throw ControlError(malformed: error) }
            return try SchemaEntry(setting: text, of: collection)
        }
    }

    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show one schema, or all.")
        @Argument(help: "Only of this collection.", completion: Completions.collections)
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

/// `tags=set plays=counter`.
enum SchemaWords {
    /// Nil for a single word that names a file.
    static func fields(_ words: [String]) throws(ControlError) -> [SchemaEntry.Field]? {
        if words.count == 1, !words[0].utf8.contains(UInt8(ascii: "=")) { return nil }
        var fields: [SchemaEntry.Field] = []
        for word in words {
            guard let equals = word.utf8.lastIndex(of: UInt8(ascii: "=")), equals != word.startIndex else {
                throw ControlError(
                    .invalidArgument, "A type is given as FIELD=TYPE, or all of them in one file.",
                    hint: "For example: lanyard schema set task tags=set")
            }
            let type = SchemaEntry.FieldType(rawValue: String(word[word.utf8.index(after: equals)...]))
            guard SchemaEntry.FieldType.known.contains(type) else {
                throw ControlError(
                    .schemaInvalid, "There is no such type of a field.",
                    hint: "Types: \(SchemaEntry.FieldType.known.map(\.rawValue).joined(separator: ", ")).")
            }
            fields.append(SchemaEntry.Field(name: String(word[..<equals]), type: type))
        }
        return fields
    }
}

/// The text of a schema's conversions, for people.
enum ConversionText {
    static func line(_ row: SchemaConversion) -> String {
        let count = row.objects == 1 ? "1 object" : "\(row.objects) objects"
        let repeating = row.repeating == 0 ? "" : " In \(row.repeating) of them an element stands twice; it stays once."
        return "\(shown(row.field)): \(row.from.rawValue) → \(row.to.rawValue) in \(count), such as "
            + "\(shown(row.example)).\(repeating)"
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
