/// Rows in aligned columns under upper-case titles. Cells are shown safely; the last column is never padded.
struct Table {
    struct Cell {
        let text: String
        let paint: (String) -> String
    }

    private let titles: [String]
    private var rows: [[Cell]] = []

    init(_ titles: String...) { self.titles = titles }

    /// One cell per title.
    mutating func add(_ cells: Cell...) {
        precondition(cells.count == titles.count, "a row of \(cells.count) cells under \(titles.count) titles")
        rows.append(cells)
    }

    /// The whole table, each line ending in a line break.
    func text(_ style: Style) -> String {
        let head = titles.map { Cell(text: $0, paint: style.faint) }
        let all = [head] + rows
        let widths = titles.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
        return all.map { row in line(row, widths) }.joined()
    }

    private func line(_ row: [Cell], _ widths: [Int]) -> String {
        var line = ""
        for (column, cell) in row.enumerated() {
            line += cell.paint(cell.text)
            if column < row.count - 1 {
                line += String(repeating: " ", count: widths[column] - cell.text.count + 2)
            }
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
