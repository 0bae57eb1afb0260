/// The files of an export: one for each blob of which there are bytes, whichever attachments have it.
///
/// A blob is named by its hash and its size. A record with a false size names a blob that no device has: it gets no file, and
/// takes none from the attachments that have the true size.
package struct ExportFiles: Sendable {
    private struct Blob: Hashable {
        let hash: String
        let size: UInt64

        init(_ entry: AttachmentEntry) { (hash, size) = (entry.record.hash, entry.record.size) }
    }

    /// The path of each blob in the archive; nil if no device has the bytes.
    private var paths: [Blob: String?] = [:]
    private var folders = ExportFolders()

    package init() {}

    /// True if an attachment of the same blob was added.
    package func isKnown(_ entry: AttachmentEntry) -> Bool { paths[Blob(entry)] != nil }

    /// Adds a blob that is not known. At most one blob of a hash is here, so the folders are asked once for each hash.
    package mutating func add(_ entry: AttachmentEntry, isHere: Bool) {
        let path = isHere ? folders.file(hash: entry.record.hash, fileName: entry.fileName) : nil
        paths.updateValue(path, forKey: Blob(entry))
    }

    /// Returns the path of the attachment's bytes; nil if no device has them.
    package func path(of entry: AttachmentEntry) -> String? { paths[Blob(entry)].flatMap { $0 } }

    /// Returns the path of the attachment's bytes, and forgets it: each file is written once.
    package mutating func remove(_ entry: AttachmentEntry) -> String? {
        paths.removeValue(forKey: Blob(entry)).flatMap { $0 }
    }
}
