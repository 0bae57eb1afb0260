import SyncModel
import SyncStore

/// Blobs that peers read from now: chunk follows chunk, and opening a file for each would cost as much as reading it.
struct OpenReaders {
    private static let limit = 4

    /// The one used last stands at the end.
    private var readers: [BlobReader] = []

    /// Nil: it is not open. Whoever takes one keeps it when it was of use.
    mutating func take(_ blob: BlobHash) -> BlobReader? {
        readers.firstIndex { $0.hash == blob }.map { readers.remove(at: $0) }
    }

    mutating func keep(_ reader: BlobReader) {
        if readers.count == Self.limit { readers.removeFirst() }
        readers.append(reader)
    }
}
