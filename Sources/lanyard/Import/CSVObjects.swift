package import ControlAPI

/// Objects of a table in text: the first row names the columns, each further one is an object.
package struct CSVObjects: RowReader {
    private let mapping: RowMapping
    private let schema: SchemaEntry
    private let delimiter: UInt8
    private let isDelimiterGiven: Bool
    private var reader: CSVReader
    /// Nil before the first row.
    private var columns: CSVColumns?

    /// - Parameters:
    ///   - schema: that of the collection; without fields where none was set.
    ///   - isDelimiterGiven: whether a person chose it; a table of one column is doubted otherwise.
    package init(_ mapping: RowMapping, schema: SchemaEntry, delimiter: UInt8, isDelimiterGiven: Bool) {
        self.mapping = mapping
        self.schema = schema
        self.delimiter = delimiter
        self.isDelimiterGiven = isDelimiterGiven
        reader = CSVReader(delimiter: delimiter, rowBytes: RowLimits.rowBytes)
    }

    package mutating func append(_ piece: [UInt8], to objects: inout [NumberedObject]) throws(ControlError) {
        var rows: [CSVReader.Row] = []
        let fault: CSVReader.Fault?
        do throws(CSVReader.Fault) {
            try reader.append(piece, to: &rows)
            fault = nil
        } catch {
            fault = error
        }
        try take(rows, &objects)
        if let fault { throw refusal(fault) }
    }

    package mutating func finish(to objects: inout [NumberedObject]) throws(ControlError) {
        var rows: [CSVReader.Row] = []
        do throws(CSVReader.Fault) { try reader.finish(to: &rows) } catch { throw refusal(error) }
        try take(rows, &objects)
        guard columns != nil else {
            throw ControlError(
                .malformedCSV, "The file is empty.", hint: "Its first row must name the columns, like: name,age")
        }
    }

    private mutating func take(_ rows: [CSVReader.Row], _ objects: inout [NumberedObject]) throws(ControlError) {
        for row in rows {
            if let columns {
                if let put = try columns.object(row) { objects.append(NumberedObject(line: row.line, put: put)) }
            } else {
                columns = try head(row)
            }
        }
    }

    private func head(_ row: CSVReader.Row) throws(ControlError) -> CSVColumns {
        if row.count == 1, !isDelimiterGiven,
            let other = [UInt8(ascii: ";"), 0x09, UInt8(ascii: ","), UInt8(ascii: "|")].first(where: row[0].contains)
        {
            let name = other == 0x09 ? "tab" : String(Character(Unicode.Scalar(other)))
            throw ControlError(
                .malformedCSV, "Line \(row.line): The first row names one column only.",
                hint: "If another character stands between the cells, say so: --delimiter '\(name)'", line: row.line)
        }
        return try CSVColumns(row, mapping, schema)
    }

    private func refusal(_ fault: CSVReader.Fault) -> ControlError {
        let (message, hint) =
            switch fault.reason {
            case .strayQuote:
                (
                    "A quote stands inside of a cell that does not begin with one.",
                    "Put the whole cell into quotes, and write each quote in it twice."
                )
            case .textAfterQuote:
                (
                    "Something stands behind the quote that ends a cell.",
                    "Write a quote inside of a cell twice, and nothing between a cell's last quote and the delimiter."
                )
            case .loneCarriageReturn:
                (
                    "A carriage return stands there that no line feed follows.",
                    "Put the cell into quotes, or convert the line breaks of the file first: tr '\\r' '\\n'"
                )
            case .openQuote: ("A quote is opened here and never closed.", "Close it, or write it twice if it is text.")
            case .tooLong:
                (
                    "The row that begins here is longer than \(RowLimits.rowBytes) bytes.",
                    "Look for a quote that is not closed. Larger things are attached as files: lanyard attach"
                )
            }
        let code: ErrorCode = fault.reason == .tooLong ? .tooLarge : .malformedCSV
        let error = ControlError(code, message, hint: hint)
        guard let columns, columns.names.indices.contains(fault.cell), fault.reason != .tooLong else {
            return error.inLine(fault.line)
        }
        return error.inLine(fault.line, column: columns.names[fault.cell])
    }
}

/// The columns of a table, and what becomes of each.
struct CSVColumns: Sendable {
    private struct Field: Sendable {
        let column: Int
        let name: String
        let type: CellType
    }

    let names: [String]
    private let collection: String
    /// The column of the ids; nil where each row is an object with a fresh one.
    private let id: Int?
    /// In the order of the columns.
    private let fields: [Field]

    /// - Throws: `malformed_csv` for columns without a name, or with that of another, that are not left out; `invalid_argument` for
    ///   a wish about a column that is not there, and where a type is needed to read one.
    init(_ row: CSVReader.Row, _ mapping: RowMapping, _ schema: SchemaEntry) throws(ControlError) {
        var names: [String] = []
        for place in 0..<row.count {
            names.append(try Self.text(row, place, name: "\(place + 1)"))
        }
        self.names = names
        collection = schema.collection
        func column(_ name: String) throws(ControlError) -> Int { try Self.place(of: name, in: names, row.line) }

        var isTaken = names.map { _ in mapping.isOnlyMapped }
        for name in mapping.skipped {
            guard names.contains(where: { $0.bytewise == name.bytewise }) else { throw Self.noColumn(name, names) }
            for place in names.indices where names[place].bytewise == name.bytewise { isTaken[place] = true }
        }
        var mapped: [Field] = []
        for pair in mapping.pairs {
            let place = try column(pair.source)
            isTaken[place] = true
            mapped.append(
                Field(column: place, name: pair.field, type: try Self.type(pair.type, pair.field, pair.source, schema)))
        }
        if let wanted = mapping.id {
            id = try column(wanted)
        } else if let place = names.firstIndex(of: RowMapping.idColumn),
            !mapped.contains(where: { $0.column == place }), !mapping.skipped.contains(RowMapping.idColumn)
        {
            id = try column(RowMapping.idColumn)
        } else {
            id = nil
        }
        for (place, name) in names.enumerated() where !isTaken[place] && place != id {
            guard !name.isEmpty else {
                throw ControlError(
                    .malformedCSV, "Line \(row.line): Column \(place + 1) has no name.",
                    hint: "Give it one, or leave it out: --skip ''", line: row.line)
            }
            _ = try column(name)
            guard !mapped.contains(where: { $0.name.bytewise == name.bytewise }) else {
                throw RowMapping.twoSources(of: name)
            }
            mapped.append(Field(column: place, name: name, type: try Self.type(nil, name, name, schema)))
        }
        fields = mapped.sorted { $0.column < $1.column }
    }

    /// Makes an object of a row; nil if all of its cells are empty. An empty cell is no field.
    func object(_ row: CSVReader.Row) throws(ControlError) -> ObjectPut? {
        guard row.count == names.count else {
            throw ControlError(
                .malformedCSV,
                "It has \(Amounts.count(row.count, "cell")), and the first row names \(Amounts.count(names.count, "column")).",
                hint: "Look for a delimiter that is missing, or is part of a cell without quotes."
            ).inLine(row.line)
        }
        guard (0..<row.count).contains(where: { !row[$0].isEmpty }) else { return nil }
        var writer = JSONWriter(capacity: 512)
        writer.byte(UInt8(ascii: "{"))
        for field in fields where !row[field.column].isEmpty {
            if writer.bytes.count > 1 { writer.byte(UInt8(ascii: ",")) }
            writer.string(field.name)
            writer.byte(UInt8(ascii: ":"))
            let cell = try Self.text(row, field.column, name: names[field.column])
            do throws(CellType.Fault) { try field.type.write(cell, to: &writer) } catch {
                throw ControlError(error.code, error.message, hint: error.hint)
                    .inLine(row.line, column: names[field.column])
            }
        }
        writer.byte(UInt8(ascii: "}"))
        let id = try id(of: row)
        do throws(ControlError) {
            return try ObjectPut(collection: collection, id: id, fields: JSONText(checked: writer.bytes))
        } catch {
            throw error.inLine(row.line)
        }
    }

    private func id(of row: CSVReader.Row) throws(ControlError) -> String? {
        guard let id else { return nil }
        let text = try Self.text(row, id, name: names[id])
        do throws(ControlError) { try NameRule.check(text, is: .id) } catch {
            throw error.inLine(row.line, column: names[id])
        }
        return text
    }

    // MARK: Columns

    private static func place(of name: String, in names: [String], _ line: Int) throws(ControlError) -> Int {
        let places = names.indices.filter { names[$0].bytewise == name.bytewise }
        guard let place = places.first else { throw noColumn(name, names) }
        guard places.count == 1 else {
            throw ControlError(
                .malformedCSV, "Line \(line): \(places.count) columns are called \"\(shown(name))\".",
                hint: "Give them different names, or leave them out: --skip '\(shown(name))'", line: line)
        }
        return place
    }

    private static func noColumn(_ name: String, _ names: [String]) -> ControlError {
        let near = names.map { ($0, EditDistance.between(name.lowercased(), $0.lowercased())) }
            .filter { $0.1 <= max(1, name.count / 3) }.min { $0.1 < $1.1 }?.0
        return ControlError(
            .invalidArgument, "There is no column \"\(shown(name))\".",
            hint: near.map { "Did you mean \"\(shown($0))\"?" } ?? "The first row names: \(Amounts.some(names)).")
    }

    private static func type(
        _ given: CellType?, _ field: String, _ column: String, _ schema: SchemaEntry
    ) throws(ControlError) -> CellType {
        if let given { return given }
        let type = schema.fields.first { $0.name.bytewise == field.bytewise }?.type
        if let suited = CellType.suited(to: type) { return suited }
        let example = type == .dictionary ? "json" : "list(;)"
        throw ControlError(
            .invalidArgument,
            "The field \"\(shown(field))\" is a \(shown(type?.rawValue ?? "")), and a cell is one text.",
            hint: "Say how it is read: --map '\(shown(column))=\(shown(field)):\(example)'")
    }

    // MARK: Text

    private static func text(_ row: CSVReader.Row, _ place: Int, name: String) throws(ControlError) -> String {
        if let text = String(validating: row[place], as: UTF8.self) { return text }
        throw ControlError(
            .invalidUTF8, "This is not UTF-8 (at byte \(firstFault(row[place])) of the cell).",
            hint: "Convert the file first, for example with: iconv -f WINDOWS-1252 -t UTF-8"
        ).inLine(row.line, column: name)
    }

    /// Returns the place, from 0, of the first byte that is not UTF-8.
    private static func firstFault(_ cell: ArraySlice<UInt8>) -> Int {
        let bytes = Array(cell)
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return bytes.count
        } catch {
            return error.byteOffsets.lowerBound
        }
    }
}
