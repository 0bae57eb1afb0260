import ArgumentParser
import ControlAPI

/// The columns of a table, as a person wants them.
struct TableFormat {
    /// Titles in the order in which they are shown; nil for all.
    var columns: [String]?
    var hasHeaders = true

    static let usual = TableFormat()
}

/// The options of a table's form.
struct ColumnOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only these columns, in this order: titles, with commas between them, such as name,last-sync.",
            valueName: "columns"))
    var format: String?
    @Flag(name: .customLong("no-headers"), help: "Without the line of titles.")
    var hasNoHeaders = false

    func validate() throws {
        if let format, format.split(separator: ",", omittingEmptySubsequences: false).contains(where: \.isEmpty) {
            throw ValidationError("--format takes titles with commas between them, such as name,state.")
        }
    }

    /// True if a person chose the form: what stands around the table is left out then.
    var isGiven: Bool { format != nil || hasNoHeaders }

    var table: TableFormat {
        TableFormat(columns: format.map { $0.split(separator: ",").map(String.init) }, hasHeaders: !hasNoHeaders)
    }
}

/// The options of every listing: which rows, and which columns.
struct ListingOptions: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: ArgumentHelp(
            "Only rows for which this holds, by the keys of --json: 'state = connected and rttMilliseconds > 5'.",
            valueName: "condition"))
    var conditions: [String] = []
    @OptionGroup var columns: ColumnOptions

    var isGiven: Bool { !conditions.isEmpty || columns.isGiven }

    var table: TableFormat { columns.table }

    /// Returns the rows for which all conditions hold.
    ///
    /// - Parameter keys: keys of rows that not every row has.
    /// - Throws: `unknown_field` for a key that no row has, so that a misspelt one does not pass for an empty list.
    func rows<Row: Encodable>(_ rows: [Row], keys: [String] = []) throws(ControlError) -> [Row] {
        try self.rows(rows, keys: keys) { try? JSONDocument(JSONEncoding.bytes($0)) }
    }

    /// Returns the same of rows whose JSON this is. One without JSON is kept: it is no row, and says something of those around it.
    func rows<Row>(
        _ rows: [Row], keys: [String] = [], json: (Row) -> JSONDocument?
    ) throws(ControlError) -> [Row] {
        var parsed: [ObjectCondition] = []
        for text in conditions { parsed.append(try ObjectCondition(parsing: text, valuesAsText: false)) }
        guard let condition = ObjectCondition.joining(parsed) else { return rows }
        let filter = RowFilter(condition: condition)
        var kept: [Row] = []
        var known: [String] = []
        for row in rows {
            guard let document = json(row) else {
                kept.append(row)
                continue
            }
            if case .object(let members) = document.root.kind {
                for member in members where !known.contains(member.key) { known.append(member.key) }
            }
            if filter.holds(document) { kept.append(row) }
        }
        guard !known.isEmpty else { return kept }
        for key in keys where !known.contains(key) { known.append(key) }
        guard filter.keys.allSatisfy(known.contains) else {
            throw ControlError(
                .unknownField, "No row has one of the keys that --where names.",
                hint: "Keys: \(known.joined(separator: ", "))")
        }
        return kept
    }
}
