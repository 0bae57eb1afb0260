import FoundationEssentials
import Lanyard

/// Changes that a page asks for. Each is written to the agent on this machine, which needs no network for it.
extension Notebook {
    /// The edits of one person's typing within this time say the time of the note once.
    private static let editedEvery: Int64 = 60_000

    private var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

    func create(tags: [String]) async throws -> String {
        let note = Note(tags: Set(tags), edited: [device.id: now])
        try await home.save(note)
        return note.id.text
    }

    /// A change of anything but the text; nil leaves a field as it is.
    struct Change: Decodable, Sendable {
        var addTag: String?
        var removeTag: String?
        var archived: Bool?
        var inBin: Bool?
    }

    func change(_ id: String, _ change: Change) async throws {
        var note = try await note(id)
        if let tag = change.addTag.map(Self.tag), !tag.isEmpty { note.tags.insert(tag) }
        if let tag = change.removeTag { note.tags.remove(tag) }
        note.archived = change.archived ?? note.archived
        note.inBin = change.inBin ?? note.inBin
        // What is saved is the difference to what was read: what others change meanwhile stays.
        try await home.save(note)
    }

    /// A tag in one form, so that "Boat " and "boat" are one.
    private static func tag(_ text: String) -> String {
        String(text.split(whereSeparator: \.isWhitespace).joined(separator: " ").lowercased().prefix(60))
    }

    /// Deletes what is in the bin, for ever and on every device.
    func emptyBin() async throws {
        for listed in notes.values where listed.note.inBin {
            try await home.delete(listed.note)
        }
    }

    /// Edits the text of a note as it was at a version. The agent moves the edit over what others did since.
    ///
    /// Not isolated: a letter does not wait for what is done to the list.
    nonisolated func edit(_ id: String, _ edits: TextEdits, key: String) async throws -> String {
        let version = try await home.editText(
            collection: Note.collection, id: ObjectID(id), field: "body", edits, key: key)
        // The letter is on its way; the time may come later.
        Task { try? await sayEdited(id, ifOlderThan: Self.editedEvery) }
        return version
    }

    /// Says that this device edited the note now, unless it did so lately.
    private func sayEdited(_ id: String, ifOlderThan milliseconds: Int64 = 0) async throws {
        let time = now
        guard var note = notes[id]?.note else { return }
        let last = max(note.edited[device.id] ?? 0, lastSaid[id] ?? 0)
        guard time - last >= milliseconds else { return }
        // Further letters find it before the agent has told us.
        lastSaid[id] = time
        note.edited[device.id] = time
        try await home.save(note)
    }

    private func note(_ id: String) async throws -> Note {
        if let note = try await home.object(Note.self, id: ObjectID(id)) { return note }
        throw ControlError(.notFound, "This note was deleted.", hint: "Open another one.")
    }

    // MARK: Pictures

    /// Attaches a picture whose bytes are here already.
    func attach(_ bytes: [UInt8], name: String, to id: String) async throws {
        guard let kind = PictureKind(bytes) else {
            throw ControlError(
                .invalidArgument, "This is no picture that browsers show.", hint: "Take a PNG, JPEG, GIF or WebP.")
        }
        let note = try await note(id)
        try await home.attach(bytes, to: note, name: name, mediaType: kind.mediaType)
        try await showPictures(of: note)
    }

    /// Takes a picture off a note; its bytes stay on the disks for a day.
    func detach(_ picture: String, from id: String) async throws {
        try await home.client.detach(picture)
        try await showPictures(of: try await note(id))
    }

    /// Attaches the bytes of a picture that was taken off. They are on the other devices, so they are not sent again.
    func attachAgain(hash: String, name: String, to id: String) async throws {
        _ = try await home.client.attach(
            from: hash, AttachRequest(to: try ObjectName(collection: Note.collection, id: id), name: name))
        try await showPictures(of: try await note(id))
    }

    private func showPictures(of note: Note) async throws {
        await pictures.read(of: note)
        try await sayEdited(note.id.text)
    }

    // MARK: History

    /// A time in which one device worked on the text of a note.
    struct Stage: Encodable, Sendable {
        let device: String
        let isThisDevice: Bool
        let begin: Int64
        var end: Int64
        /// The version behind its last edit.
        var version: String
        var inserted = 0
        var deleted = 0
    }

    /// A pause that begins another stage, in milliseconds.
    private static let pause: Int64 = 300_000

    /// Returns the stages of a note's text, newest first.
    func history(_ id: String) async throws -> [Stage] {
        let names = Dictionary(
            try await home.client.devices().map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        var stages: [Stage] = []
        let name = try ObjectName(collection: Note.collection, id: id)
        try await home.client.readHistory(of: name, field: try FieldPath(parsing: "body")) { entries in
            for entry in entries {
                let (time, device) = (entry.time.millisecondsSinceEpoch, names[entry.device] ?? entry.device)
                if stages.last.map({ $0.device != device || time - $0.end > Self.pause }) ?? true {
                    stages.append(
                        Stage(
                            device: device, isThisDevice: entry.device == self.device.id, begin: time, end: time,
                            version: ""))
                }
                stages[stages.count - 1].end = time
                stages[stages.count - 1].version = entry.version.description
                for edit in entry.edits ?? [] {
                    stages[stages.count - 1].inserted += edit.inserted.unicodeScalars.count
                    stages[stages.count - 1].deleted += edit.deleted.unicodeScalars.count
                }
            }
        }
        return stages.reversed()
    }

    /// Returns the text of a note as it was at a version.
    func text(_ id: String, at version: String) async throws -> String {
        let name = try ObjectName(collection: Note.collection, id: id)
        let entry = try await home.client.object(name, at: try DotText(parsing: version))
        struct Fields: Decodable {
            var body: String?
        }
        return try JSONDecoder().decode(Fields.self, from: Data(entry.fields.bytes)).body ?? ""
    }
}
