import ControlAPI
import LanyardClient

/// `lanyard conflicts list` for people: the conflicts, and below them the commands to type.
struct ConflictTable {
    let conflicts: [ConflictEntry]
    let names: DeviceNames
    let space: String
    let style: Style

    /// The longest value for which a command is offered; people write longer ones themselves.
    private static let longestValue = 120

    func text(isQuiet: Bool, _ format: TableFormat = .usual) throws(ControlError) -> String {
        guard !conflicts.isEmpty else { return "" }
        var table = Table("OBJECT", "FIELD", "CONFLICT", "WHAT THERE IS", leastImportant: ["CONFLICT"])
        for conflict in conflicts {
            table.add(
                Table.Cell(Self.object(conflict)), Table.Cell(conflict.field),
                Table.Cell(Self.words(conflict), style.careful), Table.Cell(details(conflict)))
        }
        let commands = isQuiet ? [] : conflicts.flatMap(commands)
        return try table.text(style, format) + (commands.isEmpty ? "" : "\nTo resolve, type one of:\n")
            + commands.map { "  \($0)\n" }.joined()
    }

    private static func words(_ conflict: ConflictEntry) -> String {
        switch conflict.kind {
        case .concurrentValues: "several values"
        case .types: "several types"
        case .editedWhileDeleted: conflict.deletions.isEmpty ? "edits dropped" : "edited while deleted"
        case .deletedWhileEdited: "deleted while edited"
        case .undecided: "keep or delete?"
        case .schema: "several schemas"
        }
    }

    private static func object(_ conflict: ConflictEntry) -> String {
        conflict.kind == .schema ? "schema of \(conflict.collection)" : "\(conflict.collection)/\(conflict.id)"
    }

    private func details(_ conflict: ConflictEntry) -> String {
        switch conflict.kind {
        case .concurrentValues, .types, .schema:
            return conflict.values.enumerated().map { index, value in
                let author = conflict.authors.indices.contains(index) ? conflict.authors[index] : nil
                let notes = (index == 0 ? ["shown"] : []) + (author.map { [written($0)] } ?? [])
                return notes.isEmpty ? short(value) : "\(short(value)) (\(notes.joined(separator: ", ")))"
            }.joined(separator: "  |  ")
        case .deletedWhileEdited:
            return conflict.authors.map { "deleted \(written($0)), and changed by others: it stays" }
                .joined(separator: "  |  ")
        case .editedWhileDeleted, .undecided:
            let edits = conflict.authors.map { author in
                let counted = conflict.kind == .undecided ? "edited" : Amounts.count(author.count, "edit")
                return "\(counted) \(written(author))"
            }
            return (edits + conflict.deletions.map { "deleted \(written($0))" }).joined(separator: "  |  ")
        }
    }

    /// `by kitchen 5 min ago`.
    private func written(_ author: ConflictEntry.Author) -> String {
        "by \(names[author.device]) \(TimeText.local.age(author.time))"
    }

    private func short(_ value: JSONText) -> String {
        let text = ValueText.line(value)
        return text.count > 40 ? text.prefix(39) + "…" : text
    }

    private func commands(_ conflict: ConflictEntry) -> [String] {
        switch conflict.kind {
        case .concurrentValues, .types:
            guard let field = conflict.field else { return [] }
            return conflict.values.map { value in
                let isShort = value.bytes.count <= Self.longestValue
                return command(conflict, "\(field)=\(isShort ? value.description : "VALUE")")
            }
        case .editedWhileDeleted: return [command(conflict, "dismiss")]
        case .deletedWhileEdited:
            return [
                line(["lanyard", "delete", "\(conflict.collection)/\(conflict.id)"]), command(conflict, "dismiss"),
            ]
        case .undecided: return [command(conflict, "keep"), command(conflict, "delete")]
        case .schema: return [line(["lanyard", "schema", "set", conflict.collection, "FILE"])]
        }
    }

    private func command(_ conflict: ConflictEntry, _ decision: String) -> String {
        line(["lanyard", "conflicts", "resolve", "\(conflict.collection)/\(conflict.id)", decision])
    }

    private func line(_ words: [String]) -> String {
        let all = words + (space == "home" ? [] : ["--space", space])
        return shown(all.map(ShellWord.quoted).joined(separator: " "))
    }
}
