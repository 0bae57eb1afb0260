import Synchronization
import SyncModel

/// The files of blobs that chunks were read from last, kept open, because who asks for one chunk asks for the next.
///
/// At most `limit` descriptors, and 4 KiB of hashes each. A reader belongs to the one who took it until it is put back.
final class OpenReaders: Sendable {
    static let limit = 16

    private struct State {
        /// The one that was used last at the end.
        var readers: [BlobReader] = []
        /// Grows when something is forgotten: what was taken before may be of it.
        var generation: UInt64 = 0
    }

    private let state = Mutex(State())

    /// - Returns: a reader, if one is open, and what `put` wants to hear.
    func take(_ blob: BlobName) -> (reader: BlobReader?, generation: UInt64) {
        state.withLock { state in
            let index = state.readers.lastIndex { $0.blob == blob }
            return (index.map { state.readers.remove(at: $0) }, state.generation)
        }
    }

    func put(_ reader: BlobReader, _ generation: UInt64) {
        guard reader.isFile else { return }
        state.withLock { state in
            guard state.generation == generation else { return }
            state.readers.append(reader)
            if state.readers.count > Self.limit { state.readers.removeFirst() }
        }
    }

    /// The file is not the blob's any more, or goes.
    func forget(_ blob: BlobName) {
        state.withLock { state in
            state.generation += 1
            state.readers.removeAll { $0.blob == blob }
        }
    }
}
