package import NIOCore
package import SyncModel
package import SyncStore
import Synchronization

/// A blob while a client reads it from its beginning to its end, chunk by chunk, each checked before it is handed over.
///
/// Calls come one after the other. Memory: a chunk of 256 KiB.
package final class AttachmentDownload: Sendable {
    package let blob: BlobName
    private let thread: BlobThread
    private let damaged: @Sendable (BlobName) -> Void
    private let state: Mutex<State>

    private struct State {
        var reader: BlobReader
        var next = 0
    }

    /// Use `AttachmentService.open`.
    init(_ reader: BlobReader, thread: BlobThread, damaged: @escaping @Sendable (BlobName) -> Void) {
        blob = reader.blob
        self.thread = thread
        self.damaged = damaged
        state = Mutex(State(reader: reader))
    }

    /// The next chunk; nil behind the last.
    ///
    /// - Throws: `damaged`: the blob counts as missing then, and is fetched again; `notHere` if it was removed meanwhile;
    ///   `inputOutput`, `store`.
    package func next() async throws(BlobError) -> ByteBuffer? {
        do throws(BlobError) {
            return try await thread.run { [self] () throws(BlobError) in try read() }
        } catch {
            if case .damaged(let blob) = error { damaged(blob) }
            throw error
        }
    }

    private func read() throws(BlobError) -> ByteBuffer? {
        try state.withLock { state throws(BlobError) in
            guard state.next < state.reader.layout.chunkCount else { return nil }
            let bytes = try state.reader.read(state.next)
            state.next += 1
            return ByteBuffer(bytes: bytes)
        }
    }
}
