import ControlAPI
import LanyardClient

/// Attachments of an export on their way to their objects, one object after the other. Some hundred bytes of each record are
/// held in memory; of the files, nothing.
final class AttachmentImport {
    private let client: LanyardClient
    private let space: String
    private let summary: ImportSummary
    private let archive: ImportArchive
    private var wanted: [ObjectName: [ExportedAttachment]] = [:]
    private var order: [ObjectName] = []

    init(_ client: LanyardClient, _ space: String, _ summary: ImportSummary, _ archive: ImportArchive) {
        self.client = client
        self.space = space
        self.summary = summary
        self.archive = archive
    }

    func add(_ attachment: ExportedAttachment) throws(ControlError) {
        let owner = try ObjectName(parsing: attachment.owner)
        if wanted[owner] == nil { order.append(owner) }
        wanted[owner, default: []].append(attachment)
    }

    /// - Parameter display: shows how far one of them is.
    func run(
        leavingOut skipped: Set<ObjectName>, _ display: (ExportedAttachment) -> ProgressDisplay
    ) async throws(ControlError) {
        for owner in order where !skipped.contains(owner) {
            var here = try await attached(to: owner)
            for attachment in wanted[owner] ?? [] {
                // Two of one name and with the same bytes are two.
                if let count = here[Known(attachment)], count > 0 {
                    here[Known(attachment)] = count - 1
                    summary.knownAttachments += 1
                } else if let place = attachment.file.flatMap({ archive.place(of: $0) }) {
                    try await attach(attachment, place, to: owner, display(attachment))
                } else {
                    summary.missingAttachments.append(attachment.name)
                }
            }
        }
    }

    /// The key by which attachments count as the same.
    private struct Known: Hashable {
        let hash: String
        /// A record with a false size is none of the bytes that have the hash.
        let size: UInt64
        let name: [UInt8]

        init(_ attachment: ExportedAttachment) {
            (hash, size, name) = (attachment.hash, attachment.size, attachment.name.bytewise)
        }

        init(_ entry: AttachmentEntry) {
            (hash, size, name) = (entry.record.hash, entry.record.size, entry.record.name.bytewise)
        }
    }

    private func attached(to owner: ObjectName) async throws(ControlError) -> [Known: Int] {
        var here: [Known: Int] = [:]
        do throws(ControlError) {
            try await typed {
                try await client.listAttachments(of: owner, space: space) { entries in
                    for entry in entries { here[Known(entry), default: 0] += 1 }
                }
            }
        } catch {
            guard error.code == .notFound || error.code == .unknownCollection else { throw error }
        }
        return here
    }

    private func attach(
        _ attachment: ExportedAttachment, _ place: ImportArchive.Place, to owner: ObjectName,
        _ display: ProgressDisplay
    ) async throws(ControlError) {
        defer { display.end() }
        let request = AttachRequest(
            to: owner, space: space, name: attachment.name, mediaType: attachment.mediaType, size: place.size)
        let attached: AttachmentEntry
        do throws(ControlError) {
            let contents = archive.contents(place).map { bytes in
                display.add(bytes.count)
                return bytes
            }
            attached = try await typed { try await client.attach(contents, request) }
        } catch {
            guard ObjectImport.isOfOneObject(error.code) else { throw error }
            return summary.refuse("\(shown(attachment.name)) of \(owner)", error)
        }
        // The agent hashed what it was given. Another hash: its line, or the file, was changed.
        guard attached.record.hash == attachment.hash else {
            try await client.detach(attached.record.id, space: space)
            return summary.refuse(
                "\(shown(attachment.name)) of \(owner)",
                ControlError(.damaged, "Its bytes in the export are not those of its hash."))
        }
        summary.attachments += 1
    }
}
