import ControlAPI

/// The void work of a device, grouped for a person: by object, by stream, then the rest.
///
/// Bound: a line for each object and stream among the operations that were asked for.
struct VoidWorkSummary {
    private struct Group {
        let name: String
        var count = 0
        var newest: Timestamp
        var words: [String] = []
        /// The operations that an admin has accepted.
        var accepted = 0
        var acceptedWord: String { accepted == 0 ? "no" : accepted == count ? "yes" : "some" }

        /// Keeps the first 64.
        mutating func add(_ word: String) { if words.count < 64, !words.contains(word) { words.append(word) } }
    }

    private(set) var name = ""
    private(set) var isDropped = false
    private var objects: [Group] = []
    private var streams: [Group] = []
    private var others: [Group] = []
    /// Indices in the three lists.
    private var places: [String: Int] = [:]

    /// The first object with work that was not accepted.
    var firstToAccept: String? { objects.first { $0.accepted < $0.count }?.name }
    /// The first stream with events that were not accepted.
    var firstStreamToAccept: String? { streams.first { $0.accepted < $0.count }?.name }

    mutating func add(_ page: VoidWorkResponse) {
        name = page.name
        isDropped = isDropped || page.dropped
        for entry in page.entries { add(entry) }
    }

    private mutating func add(_ entry: VoidWorkEntry) {
        switch entry.kind {
        case "object":
            let index = group("\(entry.collection ?? "")/\(entry.id ?? "")", of: "object", entry, in: \.objects)
            for word in Self.words(of: entry) { objects[index].add(word) }
            if entry.accepted == true { objects[index].accepted += 1 }
        case "event":
            let index = group(entry.stream ?? "", of: "stream", entry, in: \.streams)
            streams[index].add(entry.type ?? "-")
            if entry.accepted == true { streams[index].accepted += 1 }
        default: _ = group(Self.text(of: entry), of: "other", entry, in: \.others)
        }
    }

    private mutating func group(
        _ name: String, of kind: String, _ entry: VoidWorkEntry, in list: WritableKeyPath<VoidWorkSummary, [Group]>
    ) -> Int {
        let key = "\(kind) \(name)"
        let index = places[key] ?? self[keyPath: list].count
        if places[key] == nil {
            places[key] = index
            self[keyPath: list].append(Group(name: name, newest: entry.time))
        }
        self[keyPath: list][index].count += 1
        self[keyPath: list][index].newest = max(self[keyPath: list][index].newest, entry.time)
        return index
    }

    private static func words(of entry: VoidWorkEntry) -> [String] {
        switch entry.action {
        case "created": ["created"] + (entry.fields ?? [])
        case "edited": entry.fields ?? []
        case "attached": ["attached \(entry.attachment ?? "")"]
        case let action: action.map { [$0] } ?? []
        }
    }

    private static func text(of entry: VoidWorkEntry) -> String {
        let device = entry.device.map { id in
            let short = String(id.prefix(7))
            return entry.deviceName.map { "\($0) (\(short))" } ?? short
        }
        switch entry.kind {
        case "schema": return "schema of \(entry.collection ?? "")"
        case "stream": return "setting of stream \(entry.stream ?? "")"
        case "drop": return "events dropped from stream \(entry.stream ?? "")"
        case "device": return "let in \(device ?? "") as \(entry.role ?? "")"
        case "retirement": return "retired \(device ?? "")"
        case "statement":
            switch entry.action {
            case "role": return "made \(device ?? "") \(entry.role ?? "")"
            case "readmission": return "let \(device ?? "") in again as \(entry.role ?? "")"
            case "revocation": return "revoked \(device ?? "")"
            default: return "set the recovery key"
            }
        default: return "what this version does not know"
        }
    }

    /// The tables of those that there are.
    func text(_ style: Style) throws(ControlError) -> String {
        var text = ""
        if !objects.isEmpty {
            var table = Table("OBJECT", "EDITS", "NEWEST", "ACCEPTED", "WHAT", leastImportant: ["ACCEPTED", "WHAT"])
            for group in objects {
                table.add(
                    Table.Cell(group.name), Table.Cell(String(group.count)),
                    Table.Cell(TimeText.local.age(group.newest)), Table.Cell(group.acceptedWord),
                    Table.Cell(Self.list(group.words)))
            }
            text += try table.text(style, .usual)
        }
        if !streams.isEmpty {
            var table = Table("STREAM", "EVENTS", "NEWEST", "ACCEPTED", "TYPES", leastImportant: ["ACCEPTED", "TYPES"])
            for group in streams {
                table.add(
                    Table.Cell(group.name), Table.Cell(String(group.count)),
                    Table.Cell(TimeText.local.age(group.newest)), Table.Cell(group.acceptedWord),
                    Table.Cell(Self.list(group.words)))
            }
            text += (text.isEmpty ? "" : "\n") + (try table.text(style, .usual))
        }
        if !others.isEmpty {
            var table = Table("ALSO", "TIMES", "NEWEST")
            for group in others {
                table.add(
                    Table.Cell(group.name), Table.Cell(String(group.count)),
                    Table.Cell(TimeText.local.age(group.newest)))
            }
            text += (text.isEmpty ? "" : "\n") + (try table.text(style, .usual))
        }
        return text
    }

    /// One table of all, as a person wants it.
    func table(_ style: Style, _ format: TableFormat) throws(ControlError) -> String {
        var table = Table(
            "KIND", "NAME", "COUNT", "NEWEST", "ACCEPTED", "WHAT", leastImportant: ["ACCEPTED", "WHAT", "KIND"])
        for (kind, groups) in [("object", objects), ("stream", streams), ("other", others)] {
            for group in groups {
                table.add(
                    Table.Cell(kind), Table.Cell(group.name), Table.Cell(String(group.count)),
                    Table.Cell(TimeText.local.age(group.newest)),
                    Table.Cell(kind == "other" ? nil : group.acceptedWord), Table.Cell(Self.list(group.words)))
            }
        }
        return try table.text(style, format)
    }

    /// The first few; cells are shown safely by the table.
    private static func list(_ words: [String]) -> String {
        let first = words.prefix(4).joined(separator: ", ")
        return words.count > 4 ? "\(first) and \(words.count - 4) more" : first
    }
}
