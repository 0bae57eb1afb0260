import ArgumentParser
import ControlAPI

/// The format of a file with rows.
enum RowFormat: String, CaseIterable, ExpressibleByArgument {
    case csv
    case tsv
    case jsonl

    init?(argument: String) {
        let word = argument.lowercased()
        self.init(rawValue: word == "ndjson" ? "jsonl" : word)
    }

    /// Reads the ending of a file's name; nil if it tells nothing.
    init?(fileName: String) {
        guard let dot = fileName.lastIndex(of: ".") else { return nil }
        self.init(argument: String(fileName[fileName.index(after: dot)...]))
    }
}

/// The options of an import of rows: tables and JSON lines that other programs wrote.
struct RowOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The collection for the rows of a table, or for JSON lines.", valueName: "collection"),
        completion: Completions.collections)
    var into: String?
    @Option(help: ArgumentHelp("The format, if the file's name does not say.", valueName: "csv|tsv|jsonl"))
    var format: RowFormat?
    @Option(
        help: ArgumentHelp(
            "The column whose cells are the ids, so that the import can be repeated; else a column called id, if there is one.",
            valueName: "column"))
    var id: String?
    @Option(
        help: ArgumentHelp(
            "The field that a column becomes, and how its cells are read: \(CellType.words). May be given several times.",
            valueName: "column=field[:type]"))
    var map: [String] = []
    @Option(help: ArgumentHelp("A column to leave out. May be given several times.", valueName: "column"))
    var skip: [String] = []
    @Flag(help: "Leave out every column that --map does not name.")
    var onlyMapped = false
    @Flag(help: "Let a later row with the same id be written over an earlier one.")
    var lastWins = false
    @Option(
        help: ArgumentHelp("What stands between the cells, if no comma; \"tab\" for a tab.", valueName: "character"))
    var delimiter: String?
    @Flag(help: "Read and check all rows, show the first three objects, and write nothing.")
    var dryRun = false

    /// True if one is given that says nothing without `--into`.
    var areGiven: Bool {
        format != nil || id != nil || !map.isEmpty || !skip.isEmpty || onlyMapped || lastWins || delimiter != nil
            || dryRun
    }

    func format(of file: String) throws(ControlError) -> RowFormat {
        if let known = format ?? RowFormat(fileName: file) { return known }
        guard !file.lowercased().hasSuffix(".json") else {
            throw ControlError(
                .invalidArgument, "A file with one JSON value has no rows.",
                hint: "Make lines of it: jq -c '.[]' FILE | lanyard import - --format jsonl --into COLLECTION")
        }
        throw ControlError(
            .invalidArgument, "The name does not say which format the file has.",
            hint: "Say it: --format csv, --format tsv or --format jsonl")
    }

    func mapping() throws(ControlError) -> RowMapping {
        try RowMapping(id: id, maps: map, skipped: skip, isOnlyMapped: onlyMapped)
    }

    /// - Parameter schema: that of the collection.
    func reader(_ format: RowFormat, _ schema: SchemaEntry) throws(ControlError) -> any RowReader {
        let mapping = try mapping()
        switch format {
        case .csv:
            return CSVObjects(
                mapping, schema: schema, delimiter: try delimiterByte() ?? UInt8(ascii: ","),
                isDelimiterGiven: delimiter != nil)
        case .tsv:
            return CSVObjects(
                mapping, schema: schema, delimiter: try delimiterByte() ?? 0x09, isDelimiterGiven: delimiter != nil)
        case .jsonl:
            guard delimiter == nil else {
                throw ControlError(
                    .invalidArgument, "JSON lines have no delimiter.",
                    hint: "Leave out --delimiter, or give --format csv.")
            }
            return try JSONLineObjects(mapping, collection: schema.collection)
        }
    }

    private func delimiterByte() throws(ControlError) -> UInt8? {
        guard let delimiter else { return nil }
        if delimiter == "tab" { return 0x09 }
        guard delimiter.utf8.count == 1, let byte = delimiter.utf8.first, byte < 0x7F, byte >= 0x20 || byte == 0x09,
            byte != UInt8(ascii: "\"")
        else {
            throw ControlError(
                .invalidArgument, "A delimiter is one ASCII character, and no quote.",
                hint: "For example: --delimiter ';' or --delimiter tab")
        }
        return byte
    }
}
