import FoundationEssentials
import Lanyard

/// A kind of picture that every browser shows, known by its first bytes: a name and a media type are only what a sender says.
enum PictureKind: String, CaseIterable, Sendable {
    case png
    case jpeg
    case gif
    case webp

    var mediaType: String { "image/\(rawValue)" }

    init?(_ bytes: [UInt8]) {
        func stands(_ text: [UInt8], at offset: Int = 0) -> Bool { bytes.dropFirst(offset).starts(with: text) }
        if stands([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
            self = .png
        } else if stands([0xFF, 0xD8, 0xFF]) {
            self = .jpeg
        } else if stands(Array("GIF87a".utf8)) || stands(Array("GIF89a".utf8)) {
            self = .gif
        } else if stands(Array("RIFF".utf8)), stands(Array("WEBP".utf8), at: 8) {
            self = .webp
        } else {
            return nil
        }
    }

    init?(mediaType: String) {
        guard let kind = Self.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = kind
    }
}

/// The pictures of all notes: attachments, whose bytes may still be on their way to this machine.
actor Pictures {
    /// A picture as a page shows it.
    struct Shown: Encodable, Sendable {
        let id: String
        let name: String
        let hash: String
        let size: UInt64
        let width: UInt32?
        let height: UInt32?
        let isHere: Bool
    }

    /// A picture that arrives.
    private struct Arrival: Encodable {
        let id: String
        let progress: Double
        let isHere: Bool
    }

    /// The arrivals, as JSON for the pages.
    nonisolated let changes: AsyncStream<[UInt8]>
    private let change: AsyncStream<[UInt8]>.Continuation
    private let home: Lanyard
    private var byNote: [ObjectID: [AttachmentEntry]] = [:]
    private var fetches: [String: Task<Void, Never>] = [:]
    /// Pictures that no connected device had when they were asked for.
    private var missing: [String: AttachmentEntry] = [:]

    init(_ home: Lanyard) {
        self.home = home
        (changes, change) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1_000))
    }

    /// Reads the attachments of all notes.
    func readAll() async {
        guard let all = try? await home.attachments(of: Note.self) else { return }
        byNote = all.mapValues(Self.pictures)
    }

    /// Reads the attachments of a note.
    func read(of note: Note) async {
        guard let entries = try? await home.attachments(of: note) else { return }
        let found = Self.pictures(entries)
        byNote[note.id] = found.isEmpty ? nil : found
    }

    private static func pictures(_ entries: [AttachmentEntry]) -> [AttachmentEntry] {
        entries.filter { PictureKind(mediaType: $0.record.mediaType) != nil }
    }

    /// The id of the newest picture of each note that has any.
    var newest: [ObjectID: String] { byNote.compactMapValues(\.first?.record.id) }

    /// The pictures of a note, oldest first.
    func shown(of note: ObjectID) -> [Shown] {
        (byNote[note] ?? []).reversed().map { entry in
            let record = entry.record
            return Shown(
                id: record.id, name: record.name, hash: record.hash, size: record.size, width: record.width,
                height: record.height, isHere: entry.state == .present)
        }
    }

    /// Returns a picture of a note for its bytes to be read; nil while they are not here. Then they are asked for.
    func picture(_ id: String) async throws -> (entry: AttachmentEntry, kind: PictureKind)? {
        let entry = try await home.client.attachment(id)
        guard try ObjectName(parsing: entry.owner).collection == Note.collection,
            let kind = PictureKind(mediaType: entry.record.mediaType)
        else { throw ControlError(.notFound, "This is no picture of a note.") }
        if entry.state == .present { return (entry, kind) }
        fetch(entry)
        return nil
    }

    /// Asks again for what no connected device had.
    func tryAgain() {
        for entry in missing.values { fetch(entry) }
        missing = [:]
    }

    private func fetch(_ entry: AttachmentEntry) {
        let id = entry.record.id
        guard fetches[id] == nil else { return }
        fetches[id] = Task {
            do {
                _ = try await home.client.fetch(id) { progress in
                    let done = Double(progress.doneBytes) / Double(max(1, entry.record.size))
                    change.yield(JSON.bytes(Arrival(id: id, progress: done, isHere: false)))
                }
                change.yield(JSON.bytes(Arrival(id: id, progress: 1, isHere: true)))
            } catch {
                missing[id] = entry
            }
            fetches[id] = nil
        }
    }
}
