import ControlAPI
import LanyardClient

/// A running import: each part is done group by group, and each group may be done again.
final class Importing {
    private let client: LanyardClient
    private let archive: ImportArchive
    private let global: GlobalOptions
    private let summary: ImportSummary
    private let options: Import

    init(
        _ client: LanyardClient, _ archive: ImportArchive, _ global: GlobalOptions, _ summary: ImportSummary,
        _ options: Import
    ) {
        self.client = client
        self.archive = archive
        self.global = global
        self.summary = summary
        self.options = options
    }

    private var space: String { global.space }

    /// - Parameter archive: was checked.
    func run() async throws(ControlError) {
        // Types first: they say what the fields of objects are.
        try await schemas()
        let skipped = try await objects()
        try await streams()
        try await events()
        try await attachments(skipped)
    }

    private func schemas() async throws(ControlError) {
        var here: [[UInt8]: JSONText] = [:]
        for schema in try await client.schemas(space: space) { here[schema.collection.bytewise] = schema.settingText }
        try await archive.forEach(ExportedSchema.self, of: ExportFormat.schemas) { line throws(ControlError) in
            if let known = here[line.collection.bytewise] {
                if known.means(line.schema) { return }
                guard options.replace else { return summary.keptSchemas.append(line.collection) }
            }
            do throws(ControlError) {
                _ = try await client.setSchema(SchemaEntry(setting: line.schema, of: line.collection), space: space)
                summary.schemas += 1
            } catch {
                guard error.code == .schemaWouldLoseData || error.code == .schemaInvalid else { throw error }
                summary.refuse("schema of \(line.collection)", error)
            }
        }
    }

    /// - Returns: objects that are not as in the file because they cannot be, so that nothing is attached to them.
    private func objects() async throws(ControlError) -> Set<ObjectName> {
        let writing = ObjectImport(client, space, summary, replace: options.replace)
        let display = display("Objects", ExportFormat.objects)
        defer { display.end() }
        try await archive.forEach(ExportedObject.self, of: ExportFormat.objects) { object throws(ControlError) in
            try await writing.add(object)
            display.add(object.fields.bytes.count)
        }
        try await writing.flush()
        return writing.skipped
    }

    private func streams() async throws(ControlError) {
        var here: [[UInt8]: ExportedStream] = [:]
        for stream in try await client.streams(space: space) { here[stream.name.bytewise] = ExportedStream(stream) }
        try await archive.forEach(ExportedStream.self, of: ExportFormat.streams) { stream throws(ControlError) in
            if let known = here[stream.name.bytewise] {
                if known == stream { return }
                guard options.replace else { return summary.keptStreams.append(stream.name) }
            } else if !stream.latestOnly, stream.retainSeconds == nil {
                return
            }
            _ = try await client.setStream(
                stream.name,
                StreamSettings(
                    latestOnly: stream.latestOnly, retention: stream.retainSeconds.map { .seconds($0) } ?? .forever),
                space: space)
        }
    }

    private func events() async throws(ControlError) {
        let writing = EventImport(client, space, summary, includesLost: options.lostEvents)
        let display = display("Events", ExportFormat.events)
        defer { display.end() }
        try await writing.begin()
        try await archive.forEach(ExportedEvent.self, of: ExportFormat.events) { event throws(ControlError) in
            try await writing.add(event)
            display.add(event.payload.bytes.count)
        }
        try await writing.flush()
    }

    private func attachments(_ skipped: Set<ObjectName>) async throws(ControlError) {
        let writing = AttachmentImport(client, space, summary, archive)
        try await archive.forEach(ExportedAttachment.self, of: ExportFormat.attachments) {
            attachment throws(ControlError) in try writing.add(attachment)
        }
        try await writing.run(leavingOut: skipped) { self.display($0.name, $0.file ?? "") }
    }

    private func display(_ title: String, _ file: String) -> ProgressDisplay {
        ProgressDisplay(title, of: archive.place(of: file)?.size, isOn: !global.quiet && !global.json)
    }
}
