import ControlAPI

/// Objects as rows: the id and one column per field, as wide as the first rows need and the terminal allows.
///
/// The layout is decided on the first rows and kept for the rest, so that a long list needs no memory.
struct ObjectTable {
    private static let leastWidth = 8
    private static let mostWidth = 60
    private static let gap = 2

    /// Names of the fields that are shown; how many more there are.
    private let fields: [String]
    private let hiddenCount: Int
    /// The widths of the columns: the id, then each field.
    private let widths: [Int]
    /// True if the id stands first.
    private let showsID: Bool

    /// - Parameters:
    ///   - limit: characters per line; nil for no limit.
    ///   - columns: the fields that are shown, `id` for the id; nil for all that the sample has.
    init(_ sample: [ObjectEntry], limit: Int?, columns: [String]? = nil) {
        if let columns {
            let isID = { (column: String) in column.lowercased() == "id" }
            showsID = columns.contains(where: isID)
            let names = columns.filter { !isID($0) }
            var widths = ["ID".count] + names.map { shown($0).count }
            for object in sample {
                let members = ValueText.members(object.fields)
                widths[0] = max(widths[0], shown(object.id).count)
                for (column, name) in names.enumerated() {
                    let member = members.first { $0.name.utf8.elementsEqual(name.utf8) }
                    widths[column + 1] = max(widths[column + 1], shown(ValueText.line(member?.value)).count)
                }
            }
            self.widths = widths.map { limit == nil ? $0 : min($0, Self.mostWidth) }
            (fields, hiddenCount) = (names, 0)
            return
        }
        showsID = true
        var names: [String] = []
        var widths: [Int] = []
        var idWidth = "ID".count
        for object in sample {
            idWidth = max(idWidth, shown(object.id).count)
            for (name, value) in ValueText.members(object.fields) {
                let width = max(shown(name).count, shown(ValueText.line(value)).count)
                if let column = names.firstIndex(where: { $0.utf8.elementsEqual(name.utf8) }) {
                    widths[column] = max(widths[column], width)
                } else {
                    names.append(name)
                    widths.append(width)
                }
            }
        }
        let natural = [idWidth] + widths.map { limit == nil ? $0 : min($0, Self.mostWidth) }
        let fitted = limit.map { Self.fit(natural, into: $0) } ?? natural
        self.widths = fitted
        fields = Array(names.prefix(fitted.count - 1))
        hiddenCount = names.count - fields.count
    }

    /// The widest columns give way first; columns for which there is no room at all are left out from the right.
    private static func fit(_ natural: [Int], into limit: Int) -> [Int] {
        var count = natural.count
        while count > 1, natural[..<count].reduce(0, { $0 + min($1, leastWidth) }) + gap * (count - 1) > limit {
            count -= 1
        }
        let columns = natural[..<count]
        let room = limit - gap * (count - 1)
        var cap = columns.max() ?? leastWidth
        while cap > leastWidth, columns.reduce(0, { $0 + min($1, cap) }) > room { cap -= 1 }
        return columns.map { min($0, cap) }
    }

    /// True if it was made of no objects: it shows only ids.
    var isEmpty: Bool { fields.isEmpty }

    func head(_ style: Style) -> String {
        let more = hiddenCount > 0 ? "  +\(hiddenCount)" : ""
        return style.faint(line(["ID"] + fields.map { shown($0).uppercased() }) + more) + "\n"
    }

    func row(_ object: ObjectEntry) -> String {
        let members = ValueText.members(object.fields)
        let cells = fields.map { name in
            let member = members.first { $0.name.utf8.elementsEqual(name.utf8) }
            return shown(ValueText.line(member?.value))
        }
        return line([shown(object.id)] + cells) + "\n"
    }

    /// - Parameter cells: the id first.
    private func line(_ cells: [String]) -> String {
        var line = ""
        for (cell, width) in zip(cells, widths).dropFirst(showsID ? 0 : 1) {
            let text = cell.count > width ? cell.prefix(width - 1) + "…" : cell[...]
            line += text + String(repeating: " ", count: width - text.count + Self.gap)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}
