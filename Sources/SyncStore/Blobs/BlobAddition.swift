import Synchronization
package import SyncModel

/// A blob while its bytes stream in: named only at their end. Given up when it goes unfinished; nothing of it is seen then.
///
/// Calls come one after the other, from any thread. Memory: `smallBytes`, and 32 bytes for each chunk.
package final class BlobAddition: Sendable {
    private let blobs: BlobStore
    private let declaredBytes: UInt64?
    private let state: Mutex<State>

    private struct State {
        var hasher = BlobHasher()
        /// The bytes read so far, as long as the blob may be small.
        var small: [UInt8] = []
        var file: (any BlobFile)?
        var name: BlobFileName?
        /// Promised by the quota.
        var claimedBytes: UInt64 = 0
        /// The quota has no room for it, but it may be here: then it needs none. So nothing is written, only hashed.
        var refusal: BlobError?
        /// Finished, or failed.
        var isOver = false
    }

    /// Use `BlobStore.beginAdding`.
    init(_ blobs: BlobStore, declaredBytes: UInt64?) throws(BlobError) {
        if let declaredBytes, BlobLayout(size: declaredBytes) == nil { throw .tooLarge }
        self.blobs = blobs
        self.declaredBytes = declaredBytes
        var first = State()
        do throws(BlobError) {
            try blobs.claim(declaredBytes ?? 0)
            first.claimedBytes = declaredBytes ?? 0
        } catch .quotaExceeded(let quota, let needed) {
            first.refusal = .quotaExceeded(quota: quota, needed: needed)
            guard let declaredBytes, try blobs.hasWhole(size: declaredBytes) else {
                throw .quotaExceeded(quota: quota, needed: needed)
            }
        }
        state = Mutex(first)
    }

    deinit { giveUp() }

    /// The next bytes, in parts of any length; best in parts of some chunks.
    ///
    /// - Throws: `sourceChanged` for more than were declared, `tooLarge`, `quotaExceeded`, `diskFull`, `inputOutput`. The
    ///   addition is over then.
    package func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
        do throws(BlobError) {
            try state.withLock { state throws(BlobError) in try take(bytes, &state) }
        } catch {
            giveUp()
            throw error
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ state: inout State) throws(BlobError) {
        guard !state.isOver else { throw .sourceChanged }
        let start = state.hasher.size
        let end = start + UInt64(bytes.count)
        if let declaredBytes, end > declaredBytes { throw .sourceChanged }
        guard BlobLayout(size: end) != nil else { throw .tooLarge }
        if state.refusal != nil {
            state.hasher.update(bytes)
            return
        }
        if end > state.claimedBytes {
            let step = max(end - state.claimedBytes, UInt64(blobs.configuration.smallBytes))
            try blobs.claim(step)
            state.claimedBytes += step
        }
        state.hasher.update(bytes)
        if state.file == nil, end <= UInt64(blobs.configuration.smallBytes) {
            state.small += bytes
            return
        }
        // Others write to this disk, too: what was free at the beginning may not be now.
        try blobs.checkRoom(for: UInt64(bytes.count + state.small.count))
        let file = try openFile(&state)
        try file.write(bytes, at: start)
        try file.writeOut(start..<end)
    }

    private func openFile(_ state: inout State) throws(BlobError) -> any BlobFile {
        if let file = state.file { return file }
        let name = blobs.nextFileName()
        state.name = name
        let file = try blobs.files.create(name)
        state.file = file
        try state.small.withUnsafeBufferPointer { bytes throws(BlobError) in
            try file.write(UnsafeRawBufferPointer(bytes), at: 0)
        }
        state.small = []
        return file
    }

    /// Makes what came a blob. Durable when it returns. A blob that is here already is not kept twice.
    ///
    /// - Throws: `sourceChanged` for fewer bytes than were declared, `diskFull`, `inputOutput`, `store`.
    package func finish() throws(BlobError) -> BlobName {
        defer { giveUp() }
        return try state.withLock { state throws(BlobError) in
            guard !state.isOver else { throw .sourceChanged }
            if let declaredBytes, state.hasher.size != declaredBytes { throw .sourceChanged }
            let blob = state.hasher.finish()
            if let refusal = state.refusal {
                guard try blobs.touch(blob) else { throw refusal }
                return blob
            }
            if let file = state.file, let name = state.name {
                let chunks = ChunkList(state.hasher.chunks)
                try blobs.keep(file, named: name, as: blob, chunks)
                blobs.endAdding(name)
                state.name = nil
            } else {
                try blobs.checkRoom(for: UInt64(state.small.count))
                try blobs.keep([(blob, state.small)])
            }
            return blob
        }
    }

    /// Forgets what came. Nothing happens after `finish`.
    package func giveUp() {
        state.withLock { state in
            if state.isOver { return }
            state.isOver = true
            // A file that cannot be removed now is removed by a later sweep.
            if let name = state.name {
                _ = try? blobs.files.remove(name)
                blobs.endAdding(name)
            }
            state.file = nil
            state.small = []
            blobs.giveBack(state.claimedBytes)
            state.claimedBytes = 0
        }
    }
}
