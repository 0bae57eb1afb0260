import ControlAPI
import LanyardClient

/// A running export.
final class Exporting {
    private let client: LanyardClient
    private let archive: ExportArchive
    private let global: GlobalOptions
    private let summary = ExportSummary()

    init(_ client: LanyardClient, _ archive: ExportArchive, _ global: GlobalOptions) {
        self.client = client
        self.archive = archive
        self.global = global
    }

    private var space: String { global.space }

    func run() async throws -> ExportSummary {
        try archive.add(ExportFormat.header, JSONEncoding.bytes(ExportHeader(space: space, time: .now)))
        try await schemas()
        // Listed before the objects, so that none is in it whose object is not.
        var attached: [AttachmentEntry] = []
        try await client.listAttachments(space: space) { attached += $0 }
        let owners = try await objects(owning: attached)
        try await events()
        // Oldest first, as they were attached.
        try await attachments(attached.reversed().filter { owners.contains($0.owner.bytewise) })
        try archive.finish()
        summary.bytes = archive.byteCount
        return summary
    }

    private func schemas() async throws {
        let schemas = try await client.schemas(space: space)
        _ = try await lines(ExportFormat.schemas) { add in
            for schema in schemas {
                try add(ExportedSchema(collection: schema.collection, schema: schema.settingText))
            }
        }
    }

    /// - Returns: of the owners of `attached` those that are in the export.
    private func objects(owning attached: [AttachmentEntry]) async throws -> Set<[UInt8]> {
        let wanted = Set(attached.map(\.owner.bytewise))
        var owners: Set<[UInt8]> = []
        let names = try await client.collections(space: space).map(\.name).filter { $0 != ExportFormat.notes }
        summary.objects = try await lines(ExportFormat.objects) { add in
            for name in names {
                try await self.client.listObjects(name, space: self.space) { objects in
                    for object in objects {
                        try add(ExportedObject(object))
                        let owner = "\(object.collection)/\(object.id)".bytewise
                        if wanted.contains(owner) { owners.insert(owner) }
                    }
                }
            }
        }
        summary.undecided = try await client.conflicts(space: space).filter { $0.kind == .undecided }
            .map { "\($0.collection)/\($0.id)" }
        return owners
    }

    private func events() async throws {
        let streams = try await client.streams(space: space)
        _ = try await lines(ExportFormat.streams) { add in
            for stream in streams { try add(ExportedStream(stream)) }
        }
        summary.events = try await lines(ExportFormat.events) { add in
            for stream in streams {
                try await self.client.readEvents(EventReadRequest(space: self.space, stream: stream.name)) { events in
                    for event in events { try add(ExportedEvent(event)) }
                }
            }
        }
    }

    private func lines(
        _ name: String, _ body: ((any Encodable) throws(ControlError) -> Void) async throws -> Void
    ) async throws -> Int {
        let display = display(name, of: nil)
        defer { display.end() }
        return try await archive.addLines(name) { spool in
            try await body { value throws(ControlError) in display.add(try spool.add(value)) }
        }
    }

    private func display(_ title: String, of size: UInt64?) -> ProgressDisplay {
        ProgressDisplay(title, of: size, isOn: !global.quiet && !global.json)
    }

    // MARK: Attachments

    /// The lines, then the bytes, each blob once.
    private func attachments(_ entries: [AttachmentEntry]) async throws {
        var files = ExportFiles()
        for entry in entries where !files.isKnown(entry) { files.add(entry, isHere: try await isHere(entry)) }
        summary.attachments = try await lines(ExportFormat.attachments) { add in
            for entry in entries {
                let file = files.path(of: entry)
                if file == nil { summary.leftOut.append(entry.record.name) }
                try add(ExportedAttachment(entry, file: file))
            }
        }
        for entry in entries {
            guard let path = files.remove(entry) else { continue }
            try await content(of: entry, path)
        }
    }

    private func isHere(_ entry: AttachmentEntry) async throws(ControlError) -> Bool {
        if entry.state == .present { return true }
        let display = display(entry.record.name, of: entry.record.size)
        defer { display.end() }
        do throws(ControlError) {
            return try await typed {
                try await client.fetch(entry.record.id, space: space) { display.tell($0) }.state == .present
            }
        } catch {
            guard error.code == .nobodyHas || error.code == .unknownAttachment else { throw error }
            return false
        }
    }

    private func content(of entry: AttachmentEntry, _ name: String) async throws(ControlError) {
        let display = display(name, of: entry.record.size)
        defer { display.end() }
        // Made with its first bytes: what is not here any more leaves no file.
        var file: ExportArchive.File?
        do throws(ControlError) {
            try await typed {
                try await client.readAttachment(entry.record.id, space: space) { bytes in
                    var open = file
                    if open == nil { open = try archive.begin(name, size: entry.record.size) }
                    try open?.write(bytes)
                    file = open
                    display.add(bytes.count)
                }
            }
            if file == nil { file = try archive.begin(name, size: entry.record.size) }
        } catch {
            // Detached since it was listed: an import finds no file, and says so.
            guard file == nil, error.code == .notFound || error.code == .unknownAttachment else { throw error }
            summary.leftOut.append(entry.record.name)
        }
        try file?.end()
    }
}

extension String {
    /// The bytes by which names are compared: twins in composition are two.
    var bytewise: [UInt8] { Array(utf8) }
}
