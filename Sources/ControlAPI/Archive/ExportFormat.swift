/// The names of the files in an export; Sources/PROTOCOL.md describes the format.
package enum ExportFormat {
    /// The version that is written; older ones are read.
    package static let version = 1

    package static let header = "export.json"
    package static let schemas = "schemas.jsonl"
    package static let objects = "objects.jsonl"
    package static let streams = "streams.jsonl"
    package static let events = "events.jsonl"
    package static let attachments = "attachments.jsonl"
    package static let attachmentFolder = "attachments"
    /// The last one: a line of `sha256sum` for each file before it, so that an export that was unpacked can be checked, too.
    package static let checksums = "SHA256SUMS"

    /// The collection in which an import records how far it is in each stream: one object per stream, with a field per replica.
    /// It is replicated, so that no other node writes the same events again, and not exported.
    package static let notes = "lanyard.imports"

    /// A line of `checksums` without its line break.
    package static func checksum(_ digest: some Sequence<UInt8>, of file: String) -> String {
        "\(Hexadecimal.text(digest))  \(file)"
    }

    /// The digits of a line of `checksums`, and the name of the file as bytes; nil for any other line. `sha256sum -b` marks
    /// names with a star.
    package static func checksum(line: ArraySlice<UInt8>) -> (digits: String, file: [UInt8])? {
        let digits = line.prefix(64)
        let rest = line.dropFirst(64)
        guard rest.count > 2, rest.starts(with: "  ".utf8) || rest.starts(with: " *".utf8) else { return nil }
        return (String(decoding: digits, as: UTF8.self).lowercased(), Array(rest.dropFirst(2)))
    }
}

/// The paths of blobs in an archive. Each blob has a folder of its own, so that no two names collide, whatever a file system
/// makes of case and composition.
package struct ExportFolders: Sendable {
    private var taken: Set<String> = []

    package init() {}

    /// Returns a path for the blob with this hash; to be called once per blob. The folder is the first 16 digits, or all of
    /// them when another blob begins with the same 16.
    package mutating func file(hash: String, fileName: String) -> String {
        let short = String(hash.prefix(16))
        let folder = taken.insert(short).inserted ? short : hash
        return "\(ExportFormat.attachmentFolder)/\(folder)/\(fileName)"
    }
}

/// The first file of an export.
package struct ExportHeader: Codable, Equatable, Sendable {
    /// The version of the format.
    package let lanyardExport: Int
    /// The program that wrote it.
    package let version: String
    package let space: String
    package let time: Timestamp

    package init(
        lanyardExport: Int = ExportFormat.version, version: String = LanyardVersion.current, space: String,
        time: Timestamp
    ) {
        self.lanyardExport = lanyardExport
        self.version = version
        self.space = space
        self.time = time
    }
}

/// A line of `schemas.jsonl`.
package struct ExportedSchema: Codable, Equatable, Sendable {
    package let collection: String
    package let schema: JSONText

    package init(collection: String, schema: JSONText) {
        self.collection = collection
        self.schema = schema
    }
}

/// A line of `objects.jsonl`.
package struct ExportedObject: Codable, Equatable, Sendable {
    package let collection: String
    package let id: String
    package let fields: JSONText

    package init(_ entry: ObjectEntry) {
        collection = entry.collection
        id = entry.id
        fields = entry.fields
    }
}

/// A line of `streams.jsonl`.
package struct ExportedStream: Codable, Equatable, Sendable {
    package let name: String
    package let latestOnly: Bool
    package let retainSeconds: Int?

    package init(_ entry: StreamEntry) {
        name = entry.name
        latestOnly = entry.latestOnly
        retainSeconds = entry.retainSeconds
    }
}

/// A line of `events.jsonl`.
package struct ExportedEvent: Codable, Equatable, Sendable {
    /// The event's dot, the same on every node.
    package let dot: DotText
    package let stream: String
    package let type: String?
    package let payload: JSONText
    package let time: Timestamp
    package let device: String

    package init(_ line: EventLine) {
        dot = line.dot
        stream = line.stream
        type = line.type
        payload = line.payload
        time = line.time
        device = line.device
    }
}

/// A line of `attachments.jsonl`.
package struct ExportedAttachment: Codable, Equatable, Sendable {
    package let owner: String
    package let name: String
    package let mediaType: String
    package let size: UInt64
    package let hash: String
    /// The path of its bytes in the archive, shared by attachments with the same bytes; nil if no device had them.
    package let file: String?

    package init(_ entry: AttachmentEntry, file: String?) {
        owner = entry.owner
        name = entry.record.name
        mediaType = entry.record.mediaType
        size = entry.record.size
        hash = entry.record.hash
        self.file = file
    }
}
