import ControlAPI

/// `lanyard history` for people: a change as one line, and lines below it for each field that it touched.
struct HistoryText {
    let names: DeviceNames
    let style: Style

    func head(_ entry: HistoryEntry) -> String {
        let kind =
            switch entry.kind {
            case .created: style.good("created")
            case .edited: "edited"
            case .deleted: style.bad("deleted")
            case .kept: style.good("kept")
            case .attached: style.good("attached")
            case .detached: style.bad("detached")
            case .begins: style.strong("history begins here") + ": what happened before is not kept"
            }
        let time = TimeText.local.exact(entry.time)
        return "\(time)  \(names[entry.device])  \(kind)  \(style.faint("version \(entry.version)"))\n"
    }

    func lines(_ entry: HistoryEntry) -> String {
        if let attachment = entry.attachment {
            let name = shown(attachment.name)
            let text = entry.kind == .detached ? style.bad("- \(name)") : style.good("+ \(name)")
            return "  \(text)  \(style.faint("\(shown(attachment.mediaType)), \(attachment.size) bytes"))\n"
        }
        guard let field = entry.field else { return "" }
        guard let edits = entry.edits else {
            return "  " + ChangedValueText(style: style).line(field, entry.old, entry.new)
        }
        let name = style.faint(shown("\(field)"))
        return edits.map { "  \(name)  \(text($0))\n" }.joined()
    }

    /// Returns what the change did to the field or the attachments, as one line without the field's name.
    func change(_ entry: HistoryEntry) -> String? {
        if let attachment = entry.attachment {
            return "\(entry.kind == .detached ? "-" : "+") \(attachment.name)"
        }
        guard entry.field != nil else { return nil }
        guard let edits = entry.edits else { return ChangedValueText(style: style).change(entry.old, entry.new) }
        return edits.map(text).joined(separator: ", ")
    }

    /// Returns an edit of a text: the place, the deleted and the inserted text.
    private func text(_ edit: TextChange) -> String {
        let place = style.faint("at \(edit.offset)")
        let (deleted, inserted) = (style.bad(quoted(edit.deleted)), style.good(quoted(edit.inserted)))
        if edit.deleted.isEmpty { return "\(place)  + \(inserted)" }
        if edit.inserted.isEmpty { return "\(place)  - \(deleted)" }
        return "\(place)  \(deleted) → \(inserted)"
    }

    private static let longest = 120

    /// Quotes a text on one line, with its line breaks to be seen; the middle of a long one is left out.
    private func quoted(_ text: String) -> String {
        let count = text.count
        let short = count > Self.longest ? "\(text.prefix(80))…\(text.suffix(30))" : text
        let line = shown(String(short.map { $0.isNewline ? "⏎" : $0 }))
        return count > Self.longest ? "“\(line)” (\(count) characters)" : "“\(line)”"
    }
}

/// A value that became another.
struct ChangedValueText {
    let style: Style

    func line(_ field: FieldPath, _ old: JSONText?, _ new: JSONText?) -> String {
        "\(style.faint(shown("\(field)")))  \(change(old, new))\n"
    }

    func change(_ old: JSONText?, _ new: JSONText?) -> String {
        let after = shown(ValueText.line(new))
        return switch (old, new) {
        case (nil, _): after
        case (let old?, nil): "\(shown(ValueText.line(old))) \(style.bad("removed"))"
        case (let old?, _?): "\(shown(ValueText.line(old))) → \(after)"
        }
    }
}

/// `lanyard history --from` for people: values as in a history, texts line by line as `diff` shows them.
struct DifferenceText {
    let style: Style

    func text(_ entries: [DifferenceEntry]) -> String { entries.map(text).joined() }

    private func text(_ entry: DifferenceEntry) -> String {
        switch entry.content {
        case .value(let old, let new): return ChangedValueText(style: style).line(entry.field, old, new)
        case .text(_, let changes):
            return changes.map { change in
                let head = "\(style.faint(shown("\(entry.field)")))  \(style.strong("line \(change.line)"))\n"
                return head + change.deleted.map { style.bad("- \(shownLine($0))") + "\n" }.joined()
                    + change.inserted.map { style.good("+ \(shownLine($0))") + "\n" }.joined()
            }.joined()
        }
    }
}

/// A line of a text, safe to show, with blanks for tabs.
func shownLine(_ line: String) -> String { shown(line.replacing("\t", with: "    ")) }
