import ControlAPI

/// Attachments, for people.
enum AttachmentText {
    /// The characters of an id that are shown: enough to tell millions apart; the whole id is in the JSON.
    static let idCharacters = 8

    static func shortID(_ attachment: AttachmentEntry) -> String {
        shown(String(attachment.record.id.prefix(idCharacters)))
    }

    static func name(_ attachment: AttachmentEntry) -> String {
        attachment.record.name.isEmpty ? "(no name)" : shown(attachment.record.name)
    }

    /// `7QXPBVDA  photo.jpg  image/jpeg, 2.3 MiB, 640 × 480, missing`.
    static func line(_ attachment: AttachmentEntry, _ style: Style) -> String {
        let record = attachment.record
        var facts = [shown(record.mediaType), ByteAmount.text(record.size)]
        if let pixels = pixels(attachment) { facts.append(pixels) }
        if attachment.state != .present || attachment.pinned { facts.append(state(attachment)) }
        return "\(shortID(attachment))  \(name(attachment))  \(style.faint(facts.joined(separator: ", ")))"
    }

    static func table(
        _ attachments: [AttachmentEntry], _ style: Style, _ format: TableFormat = .usual
    ) throws(ControlError) -> String {
        var table = Table(
            "ID", "NAME", "TYPE", "SIZE", "PIXELS", "STATE", "OBJECT",
            leastImportant: ["PIXELS", "TYPE", "SIZE", "OBJECT"])
        for attachment in attachments {
            let record = attachment.record
            table.add(
                Table.Cell(shortID(attachment)), Table.Cell(name(attachment)), Table.Cell(record.mediaType),
                Table.Cell(ByteAmount.text(record.size)), Table.Cell(pixels(attachment)),
                Table.Cell(state(attachment), paint(attachment, style)), Table.Cell(attachment.owner))
        }
        return try table.text(style, format)
    }

    private static func paint(_ attachment: AttachmentEntry, _ style: Style) -> (String) -> String {
        switch attachment.state {
        case .present: style.good
        case .missing, .partial: style.careful
        }
    }

    static func state(_ attachment: AttachmentEntry) -> String {
        let words =
            switch attachment.state {
            case .present: "present"
            case .missing: "missing"
            case .partial: "\(Int(attachment.progress * 100)) % here"
            }
        return attachment.pinned ? "\(words), pinned" : words
    }

    private static func pixels(_ attachment: AttachmentEntry) -> String? {
        guard let width = attachment.record.width, let height = attachment.record.height else { return nil }
        return "\(width) × \(height)"
    }
}
