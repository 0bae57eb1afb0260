import ControlAPI

/// `lanyard history --blame` for people: the author and the time before each line of a text, and again where another author
/// goes on in the same line; or before each element or value.
struct BlameText {
    let field: FieldPath
    let names: DeviceNames
    let style: Style

    /// The text to the right of one name.
    private struct Row {
        var device: String
        var time: Timestamp?
        var text: String
        /// False: it goes on with the line of the row before.
        var beginsLine: Bool
        let isText: Bool
    }

    func text(_ entries: [BlameEntry]) -> String {
        let rows = rows(entries)
        let width = rows.map { names[$0.device].count }.max() ?? 0
        return rows.map { row in
            let name = names[row.device]
            let padding = String(repeating: " ", count: width - name.count)
            // A line goes on in the row below.
            let mark = !row.isText ? "" : row.beginsLine ? "│ " : "╰ "
            var line = "\(name)\(padding)  \(style.faint(time(row.time)))  \(style.faint(mark))\(row.text)"
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }

    private func time(_ time: Timestamp?) -> String {
        time.map(TimeText.local.exact) ?? "-".padded(to: 19)
    }

    private func rows(_ entries: [BlameEntry]) -> [Row] {
        var rows: [Row] = []
        var beginsLine = true
        for entry in entries {
            switch entry.part {
            case .value(let value):
                let name = entry.field == field ? "" : shown("\(entry.field)") + "  "
                rows.append(
                    Row(
                        device: entry.device, time: entry.time, text: name + shown(ValueText.line(value)),
                        beginsLine: true, isText: false))
                beginsLine = true
            case .text(_, let text):
                let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
                for (index, line) in lines.enumerated() {
                    if index > 0 { beginsLine = true }
                    // Behind the last line break the next line has not begun.
                    let isBroken = index < lines.count - 1
                    if line.isEmpty, !beginsLine || !isBroken { continue }
                    add(shownLine(String(Substring(line))), of: entry, beginsLine, to: &rows)
                    beginsLine = false
                }
            }
        }
        return rows
    }

    /// Appends a part. Adjacent parts of one device in a line become one row, with the time of the latest.
    private func add(_ text: String, of entry: BlameEntry, _ beginsLine: Bool, to rows: inout [Row]) {
        if !beginsLine, let last = rows.last, last.device == entry.device {
            rows[rows.count - 1].text += text
            rows[rows.count - 1].time = [last.time, entry.time].compactMap(\.self).max()
        } else {
            rows.append(
                Row(device: entry.device, time: entry.time, text: text, beginsLine: beginsLine, isText: true))
        }
    }
}
