import ControlAPI

/// Rows in aligned columns under upper-case titles. Cells are shown safely; the last column is never padded.
///
/// On a terminal that is too narrow, columns are left out, the least important first; then the widest ones are cut, and where
/// that is not enough, columns go from the right.
struct Table {
    struct Cell {
        let text: String
        let paint: (String) -> String
    }

    private static let gap = 2
    /// A column that is cut keeps so many characters.
    private static let leastWidth = 8

    private let titles: [String]
    /// Titles of columns that may be left out, the first of them first.
    private let leastImportant: [String]
    private var rows: [[Cell]] = []

    init(_ titles: String..., leastImportant: [String] = []) {
        self.init(titles, leastImportant: leastImportant)
    }

    init(_ titles: [String], leastImportant: [String]) {
        self.titles = titles
        self.leastImportant = leastImportant
    }

    /// Adds a row, a cell per title.
    mutating func add(_ cells: Cell...) { add(cells) }

    mutating func add(_ cells: [Cell]) {
        precondition(cells.count == titles.count, "a row of \(cells.count) cells under \(titles.count) titles")
        rows.append(cells)
    }

    /// The whole table, each line ending in a line break.
    ///
    /// The same with the columns that a person asked for; none of those is left out.
    ///
    /// - Throws: `invalid_argument` for a title that the table does not have.
    func text(
        _ style: Style, _ format: TableFormat, limit: Int? = TerminalWidth.current
    ) throws(ControlError) -> String {
        try choosing(format.columns).text(style, limit: limit, hasHead: format.hasHeaders)
    }

    /// Returns the table with these columns, in this order; nil for all.
    private func choosing(_ columns: [String]?) throws(ControlError) -> Table {
        guard let columns else { return self }
        var indices: [Int] = []
        for column in columns {
            guard let index = titles.firstIndex(where: { Self.isMeant($0, by: column) }) else {
                throw ControlError(
                    .invalidArgument, "There is no column \"\(shown(column))\".",
                    hint: "Columns: \(titles.map(Self.word).joined(separator: ", "))")
            }
            indices.append(index)
        }
        return Table(indices.map { titles[$0] }, rows: rows.map { row in indices.map { row[$0] } })
    }

    private init(_ titles: [String], rows: [[Cell]]) {
        self.titles = titles
        leastImportant = []
        self.rows = rows
    }

    /// `LAST SYNC` is typed `last-sync`.
    private static func word(_ title: String) -> String { title.lowercased().replacing(" ", with: "-") }

    private static func isMeant(_ title: String, by column: String) -> Bool {
        word(title) == column.lowercased().replacing(" ", with: "-").replacing("_", with: "-")
    }

    /// - Parameter limit: characters per line; nil for no limit.
    func text(_ style: Style, limit: Int? = TerminalWidth.current, hasHead: Bool = true) -> String {
        text(style, layout(limit, hasHead: hasHead), hasHead: hasHead)
    }

    private func text(_ style: Style, _ layout: Layout, hasHead: Bool) -> String {
        let head = titles.map { Cell(text: $0, paint: style.faint) }
        return ((hasHead ? [head] : []) + rows).map { row in line(row, layout) }.joined()
    }

    /// The columns that are shown, and how wide each is.
    private struct Layout {
        let columns: [(column: Int, width: Int)]
        /// True if a longer text is cut; else it pushes aside what stands behind it.
        let cuts: Bool
    }

    private func layout(_ limit: Int?, hasHead: Bool) -> Layout {
        let widths = titles.indices.map { column in
            max(hasHead ? titles[column].count : 0, rows.map { $0[column].text.count }.max() ?? 0)
        }
        return Layout(
            columns: limit.map { fit(widths, into: $0) } ?? titles.indices.map { ($0, widths[$0]) }, cuts: limit != nil)
    }

    private func fit(_ widths: [Int], into limit: Int) -> [(column: Int, width: Int)] {
        func total(_ columns: [(column: Int, width: Int)]) -> Int {
            columns.reduce(0) { $0 + $1.width } + Self.gap * (columns.count - 1)
        }
        var columns = titles.indices.map { (column: $0, width: widths[$0]) }
        for title in leastImportant where total(columns) > limit { columns.removeAll { titles[$0.column] == title } }
        func least(_ columns: [(column: Int, width: Int)]) -> Int {
            total(columns.map { ($0.column, min($0.width, Self.leastWidth)) })
        }
        while least(columns) > limit, columns.count > 1 { columns.removeLast() }
        while total(columns) > limit, let widest = columns.indices.max(by: { columns[$0].width < columns[$1].width }),
            columns[widest].width > Self.leastWidth
        {
            columns[widest].width -= 1
        }
        return columns
    }

    private func line(_ row: [Cell], _ layout: Layout) -> String {
        var line = ""
        for (index, (column, width)) in layout.columns.enumerated() {
            let cell = row[column]
            let isCut = layout.cuts && cell.text.count > width
            let text = isCut ? cell.text.prefix(width - 1) + "…" : cell.text[...]
            line += cell.paint(String(text))
            if index < layout.columns.count - 1 {
                line += String(repeating: " ", count: max(width - text.count, 0) + Self.gap)
            }
        }
        // Trailing blanks come from an empty last cell.
        while line.last == " " { line.removeLast() }
        return line + "\n"
    }

    /// A table that is printed while its rows come: the first of them decide how wide its columns are.
    ///
    /// Bound: `sampleRows` rows in memory.
    struct Growing {
        private static let sampleRows = 500

        private let style: Style
        private let format: TableFormat
        private let limit: Int?
        /// The rows that were not printed.
        private var table: Table
        private var layout: Layout?

        /// - Throws: `invalid_argument` for a title that the table does not have.
        init(
            _ table: Table, _ style: Style, _ format: TableFormat, limit: Int? = TerminalWidth.current
        ) throws(ControlError) {
            (self.table, self.style, self.format, self.limit) = (table, style, format, limit)
            _ = try table.choosing(format.columns)
        }

        mutating func add(_ cells: Cell...) { table.add(cells) }

        /// Returns the lines to print: none until there are enough rows to decide the widths, unless they are wanted now.
        mutating func lines(now: Bool) throws(ControlError) -> String {
            guard now || layout != nil || table.rows.count >= Self.sampleRows else { return "" }
            let chosen = try table.choosing(format.columns)
            table.rows = []
            if let layout { return chosen.text(style, layout, hasHead: false) }
            let layout = chosen.layout(limit, hasHead: format.hasHeaders)
            self.layout = layout
            return chosen.text(style, layout, hasHead: format.hasHeaders)
        }
    }
}

extension Table.Cell: ExpressibleByStringInterpolation {
    init(stringLiteral value: String) { self.init(value) }

    init(_ text: String, _ paint: @escaping (String) -> String = { $0 }) {
        self.init(text: shown(text), paint: paint)
    }

    /// An absent value shows as a dash.
    init(_ value: (some CustomStringConvertible)?, _ paint: @escaping (String) -> String = { $0 }) {
        self.init(value?.description ?? "-", paint)
    }
}
