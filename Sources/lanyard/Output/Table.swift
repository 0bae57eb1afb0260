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
        var chosen = self
        if let columns = format.columns {
            var indices: [Int] = []
            for column in columns {
                guard let index = titles.firstIndex(where: { Self.isMeant($0, by: column) }) else {
                    throw ControlError(
                        .invalidArgument, "There is no column \"\(shown(column))\".",
                        hint: "Columns: \(titles.map(Self.word).joined(separator: ", "))")
                }
                indices.append(index)
            }
            chosen = Table(indices.map { titles[$0] }, rows: rows.map { row in indices.map { row[$0] } })
        }
        return chosen.text(style, limit: limit, hasHead: format.hasHeaders)
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
        let head = titles.map { Cell(text: $0, paint: style.faint) }
        let all = (hasHead ? [head] : []) + rows
        let widths = titles.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        let columns = limit.map { fit(widths, into: $0) } ?? titles.indices.map { ($0, widths[$0]) }
        return all.map { row in line(row, columns) }.joined()
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

    private func line(_ row: [Cell], _ columns: [(column: Int, width: Int)]) -> String {
        var line = ""
        for (index, (column, width)) in columns.enumerated() {
            let cell = row[column]
            let text = cell.text.count > width ? cell.text.prefix(width - 1) + "…" : cell.text[...]
            line += cell.paint(String(text))
            if index < columns.count - 1 { line += String(repeating: " ", count: width - text.count + Self.gap) }
        }
        // Trailing blanks come from an empty last cell.
        while line.last == " " { line.removeLast() }
        return line + "\n"
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
