import Lanyard

/// A note. Each property is a field of its own, and merges by its type.
struct Note: LanyardObject, Equatable {
    var id = ObjectID()
    /// The text; its first line is the title. Several people may type in it at once.
    @Text var body = ""
    /// The tags that some devices add and others take away: all additions stay.
    var tags: Set<String> = []
    var archived = false
    /// True for a note in the bin. A deleted object never comes back under its id, so a note is deleted for ever only when the
    /// bin is emptied. Until then putting it back is one small change, and its pictures are where they were.
    var inBin = false
    /// The time of the last edit by each device, in milliseconds since 1970. One number for all would be a conflict whenever two
    /// devices edit apart; of a dictionary each writes a key of its own.
    var edited: [String: Int64] = [:]

    /// The time of the last edit; 0 for a note that another program wrote.
    var lastEdited: Int64 { edited.values.max() ?? 0 }
}

/// The presence of one open page in a note: gone by itself when the page is.
struct Cursor: Codable, Hashable, Sendable {
    /// The name that the person gave; may be empty.
    var name = ""
    /// The selection in the text, in UTF-16 code units.
    var start = 0
    var end = 0
    var isTyping = false

    /// The room of a note.
    static func room(of note: String) -> String { "note:\(note)" }
}

/// A note as the list shows it: never with its text, which may be long.
struct Summary: Encodable, Equatable, Sendable {
    private static let titleLength = 120
    private static let excerptLength = 140

    let id: String
    let title: String
    let excerpt: String
    let tags: [String]
    let archived: Bool
    let inBin: Bool
    let edited: Int64
    /// The newest picture; nil for none.
    let picture: String?

    init(_ note: Note, picture: String?) {
        let beginning = note.body.prefix(1_000)
        // Words with one blank between them; lines without a word are left out.
        let lines = beginning.split(whereSeparator: \.isNewline).lazy
            .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }.filter { !$0.isEmpty }
        id = note.id.text
        title = String((lines.first ?? "").prefix(Self.titleLength))
        excerpt = String(lines.dropFirst().joined(separator: " ").prefix(Self.excerptLength))
        tags = note.tags.sorted()
        archived = note.archived
        inBin = note.inBin
        edited = note.lastEdited
        self.picture = picture
    }
}
