package import NIOCore
package import SyncStore
import Synchronization

/// A blob while a client sends it: hashed and written off the event loop, never held in memory.
///
/// Calls come one after the other. An upload that is given up leaves nothing, and one that is released is given up. Memory:
/// `batchBytes`, and that of `BlobAddition`.
package final class AttachmentUpload: Sendable {
    /// The bytes that are written at once: a turn to another thread for every few KiB of a socket would cost more than the
    /// hashing.
    private static let batchBytes = 512 << 10

    private let addition: BlobAddition
    private let thread: BlobThread
    private let added: @Sendable (UploadedBlob) -> Void
    private let state = Mutex(State())

    private struct State {
        var batch = ByteBuffer()
        var head: [UInt8] = []
        /// The thread may be at work on the addition, and may have a file open.
        var isHandedOver = false

        mutating func takeBatch() -> ByteBuffer {
            defer { batch = ByteBuffer() }
            return batch
        }
    }

    /// Use `AttachmentService.begin`.
    init(_ addition: BlobAddition, thread: BlobThread, added: @escaping @Sendable (UploadedBlob) -> Void) {
        self.addition = addition
        self.thread = thread
        self.added = added
    }

    deinit { giveUp() }

    /// The next bytes, in parts of any length.
    ///
    /// - Throws: `sourceChanged` for more than were announced, `tooLarge`, `quotaExceeded`, `diskFull`, `inputOutput`. The
    ///   upload is over then.
    package func append(_ bytes: ByteBuffer) async throws(BlobError) {
        let due = state.withLock { state -> ByteBuffer? in
            let lacking = UploadedBlob.headBytes - state.head.count
            if lacking > 0 { state.head += bytes.readableBytesView.prefix(lacking) }
            state.batch.writeImmutableBuffer(bytes)
            guard state.batch.readableBytes >= Self.batchBytes else { return nil }
            state.isHandedOver = true
            return state.takeBatch()
        }
        if let due { try await write(due) }
    }

    /// Makes the received bytes a blob. Durable when it returns.
    ///
    /// - Throws: `sourceChanged` for fewer bytes than were announced, and as `append`; `store`.
    package func finish() async throws(BlobError) -> UploadedBlob {
        let rest = state.withLock { state in
            state.isHandedOver = true
            return state.takeBatch()
        }
        if rest.readableBytes > 0 { try await write(rest) }
        let name = try await thread.run { [addition] () throws(BlobError) in try addition.finish() }
        let blob = state.withLock { UploadedBlob(name: name, head: $0.head) }
        added(blob)
        return blob
    }

    /// Gives the upload up; does nothing after `finish`. Its share of the quota is free when this returns, unless bytes were
    /// written.
    package func giveUp() {
        // No file to remove: nothing of it waits.
        guard state.withLock(\.isHandedOver) else { return addition.giveUp() }
        thread.start { [addition] in addition.giveUp() }
    }

    private func write(_ bytes: ByteBuffer) async throws(BlobError) {
        try await thread.run { [addition] () throws(BlobError) in
            var failure: BlobError?
            bytes.withUnsafeReadableBytes { bytes in
                do throws(BlobError) { try addition.append(bytes) } catch { failure = error }
            }
            if let failure { throw failure }
        }
    }
}
