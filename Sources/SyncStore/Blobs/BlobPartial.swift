import Synchronization
package import SyncModel

/// A blob that comes chunk by chunk, in any order, from anywhere.
///
/// What is here is what the file says: it is read and hashed once, at the first question, before any of it is used. So a
/// chunk that was written counts after the process was killed, without a word in the database for each; a chunk that did not
/// reach the disk before the power went does not count, whatever the database says. Reading costs half a second per GiB,
/// which is what checking costs anyway, and gaps are skipped. The database notes from time to time what was made durable:
/// to tell people how far it is, and to bound what a loss of power costs to `checkpointChunks` or `checkpointMilliseconds`.
///
/// What a process before this one wrote, and did not note, reads back as right and may never reach the disk: if a sync
/// failed there, the kernel may call its pages clean, and a sync here succeeds without them. So it is written once more
/// before it counts as unsynced; no more of it than comes between two checkpoints.
///
/// Safe from any thread. Memory: 32 bytes and a bit per chunk, and a chunk while it is looked at.
package final class BlobPartial: Sendable {
    package let blob: BlobName
    /// `blob.id`.
    let id: Int64
    private let chunks: ChunkList
    private let blobs: BlobStore
    private let state = Mutex(State())
    /// The blob is whole, or was and is damaged: what this one has open is not the file of the part any more.
    private let isOver = Mutex(false)

    /// The chunks that peers are told of, so that serving them never waits for a scan or a sync; nil before the first
    /// scan.
    private let known = Mutex<ChunkSet?>(nil)

    private struct State {
        /// Nil: not looked at yet, or thrown away after a failed sync.
        var file: (any BlobFile)?
        var present = ChunkSet(count: 0)
        /// The chunks that the database records as durable. They are durable whatever happens to the file.
        var noted = ChunkSet(count: 0)
        /// Written since the last checkpoint.
        var unsyncedChunks = 0
        var lastCheckpoint: Int64 = 0
        /// True until the name of the file is known to be durable.
        var isNameUnsynced = true
    }

    /// Use `BlobStore.beginPartial` and `resumePartial`.
    init(_ row: BlobRow, _ chunks: ChunkList, _ blobs: BlobStore) {
        blob = row.blob
        id = row.id
        self.chunks = chunks
        self.blobs = blobs
    }

    package var layout: BlobLayout { blob.layout }

    /// Nil for a number beyond the last.
    func hash(of chunk: Int) -> ChunkHash? { chunks.hash(at: chunk) }

    /// The chunks that are here, each checked since the process began.
    /// - Throws: `inputOutput`, `unreadable`, `diskFull`; `notHere` if it was whole before anybody looked; `store(.closed)`
    ///   behind `BlobStore.endScans`.
    package func present() throws(BlobError) -> ChunkSet {
        try state.withLock { state throws(BlobError) in
            _ = try openFile(&state)
            return state.present
        }
    }

    /// Takes a chunk. It is here when this returns, for as long as the machine has power; durable with the next checkpoint.
    ///
    /// - Returns: false if it was here already: nothing is written.
    /// - Throws: `wrongChunk` for bytes that are not of it, or a number beyond the last; `notHere` if it was whole meanwhile and
    ///   is not any more: to be begun anew; `diskFull`, `inputOutput`, `store`.
    package func write(_ bytes: UnsafeRawBufferPointer, as chunk: Int) throws(BlobError) -> Bool {
        guard chunk >= 0, chunk < layout.chunkCount else { throw .wrongChunk(chunk) }
        let range = layout.range(of: chunk)
        if !blobs.configuration.faults.contains(.skipChunkHash) {
            guard bytes.count == range.count, chunks.has(ChunkHash(of: bytes), at: chunk) else {
                throw .wrongChunk(chunk)
            }
        }
        if hasEnded {
            guard try blobs.isWhole(blob) else { throw .notHere(blob) }
            return false
        }
        return try state.withLock { state throws(BlobError) in
            let file = try openFile(&state)
            if state.present.contains(chunk) { return false }
            try blobs.checkRoom(for: UInt64(bytes.count))
            try file.write(bytes, at: range.lowerBound)
            try keeping(&state) { () throws(BlobError) in try file.writeOut(range) }
            state.present.insert(chunk)
            known.withLock { _ = $0?.insert(chunk) }
            state.unsyncedChunks += 1
            if isCheckpointDue(&state) { try checkpoint(&state) }
            return true
        }
    }

    /// A chunk that is here, checked again.
    /// - Throws: `notHere`; `damaged` if its bytes changed: it is not here any more then; `inputOutput`.
    package func read(_ chunk: Int) throws(BlobError) -> [UInt8] {
        try state.withLock { state throws(BlobError) in
            let file = try openFile(&state)
            guard state.present.contains(chunk) else { throw .notHere(blob) }
            if let bytes = try file.chunk(chunk, of: layout, chunks, at: chunk) { return bytes }
            state.present.remove(chunk)
            known.withLock { _ = $0?.remove(chunk) }
            try takeBackNotes(&state)
            throw .damaged(blob)
        }
    }

    /// Makes the stored chunks durable; called when no peer has sent a chunk for a while.
    package func checkpoint() throws(BlobError) {
        try state.withLock { state throws(BlobError) in
            if state.unsyncedChunks > 0, !hasEnded { try checkpoint(&state) }
        }
    }

    /// The chunks known to be stored, without reading; nil before the first scan. Waits for nothing.
    var knownPresent: ChunkSet? { known.withLock(\.self) }

    /// Ends the partial blob: from now on it takes no chunks and gives no file a name.
    func end() { isOver.withLock { $0 = true } }

    var hasEnded: Bool { isOver.withLock(\.self) }

    /// Makes it a blob that is here: durable when it returns. Every chunk was checked by this process, and their hashes as a
    /// whole when it was begun, so the bytes need not be read another time.
    ///
    /// - Throws: `incomplete`, `notHere` as `write` does, `diskFull`, `inputOutput`, `store`. It can be called again.
    package func complete() throws(BlobError) {
        if hasEnded { return try blobs.finish(self) }
        let faults = blobs.configuration.faults
        try state.withLock { state throws(BlobError) in
            let file = try openFile(&state)
            guard state.present.isComplete else { throw .incomplete(blob) }
            if !faults.contains(.skipFileSync) { try sync(file, &state) }
        }
        try blobs.finish(self)
    }

    // Under the lock

    private func isCheckpointDue(_ state: inout State) -> Bool {
        let now = blobs.configuration.now()
        // A clock that was put back begins anew.
        if state.lastCheckpoint == 0 || now < state.lastCheckpoint { state.lastCheckpoint = now }
        return state.unsyncedChunks >= blobs.configuration.checkpointChunks
            || now - state.lastCheckpoint >= blobs.configuration.checkpointMilliseconds
    }

    private func checkpoint(_ state: inout State) throws(BlobError) {
        try sync(try openFile(&state), &state)
        if state.isNameUnsynced { try blobs.files.syncFolder() }
        state.isNameUnsynced = false
        state.lastCheckpoint = blobs.configuration.now()
        let present = state.present
        try record(present, &state)
    }

    /// Removes the chunks that are no longer stored from the durable set. Bytes written in their place wait for the
    /// next checkpoint.
    private func takeBackNotes(_ state: inout State) throws(BlobError) {
        var kept = state.noted
        for chunk in 0..<layout.chunkCount where !state.present.contains(chunk) { kept.remove(chunk) }
        if kept != state.noted { try record(kept, &state) }
    }

    private func record(_ durable: ChunkSet, _ state: inout State) throws(BlobError) {
        try blobs.update { rows throws(StoreError) in try rows.record(durable, of: id) }
        state.noted = durable
    }

    /// After a failed sync the kernel may call pages clean that never reached the disk, and a later sync succeeds without
    /// them. So the file goes, and with it what was here.
    private func sync(_ file: any BlobFile, _ state: inout State) throws(BlobError) {
        try keeping(&state) { () throws(BlobError) in try file.sync() }
        state.unsyncedChunks = 0
    }

    private func keeping(_ state: inout State, _ body: () throws(BlobError) -> Void) throws(BlobError) {
        do throws(BlobError) { try body() } catch {
            state.file = nil
            state.present = ChunkSet(count: layout.chunkCount)
            known.withLock { $0 = nil }
            state.unsyncedChunks = 0
            blobs.setSpoiled(blob.hash, true)
            throw error
        }
    }

    private func openFile(_ state: inout State) throws(BlobError) -> any BlobFile {
        if let file = state.file { return file }
        if hasEnded { throw .notHere(blob) }
        var present = ChunkSet(count: layout.chunkCount)
        let file: any BlobFile
        if blobs.isSpoiled(blob.hash) {
            // Another file, not the same one emptied: its old pages must not be read again.
            try blobs.files.remove(.partial(blob.hash))
            blobs.setSpoiled(blob.hash, false)
        }
        state.isNameUnsynced = true
        state.noted = try blobs.read { rows throws(StoreError) in
            guard let row = try rows.find(blob), row.id == id else { return ChunkSet(count: layout.chunkCount) }
            return try rows.present(of: row)
        }
        var rewritten = 0
        if let found = try blobs.files.open(.partial(blob.hash)) {
            file = found
            if !blobs.configuration.faults.contains(.forgetPartials) {
                let scanned = try found.presentChunks(of: layout, chunks) { blobs.isEnding.load(ordering: .relaxed) }
                guard let scanned else { throw .store(.closed) }
                present = scanned
                rewritten = try rewrite(found, &present, noted: state.noted)
            }
            state.present = present
            try takeBackNotes(&state)
        } else {
            // Before there is a file of which it would not be true.
            state.present = present
            try takeBackNotes(&state)
            file = try blobs.files.create(.partial(blob.hash))
        }
        known.withLock { $0 = present }
        state.unsyncedChunks = rewritten
        state.file = file
        return file
    }

    /// Makes the kernel write what it may take for written: the chunks that are here and were not noted as durable.
    /// - Returns: how many there are.
    private func rewrite(
        _ file: any BlobFile, _ present: inout ChunkSet, noted: ChunkSet
    ) throws(BlobError) -> Int {
        if blobs.configuration.faults.contains(.trustOldPages) { return 0 }
        var count = 0
        for chunk in 0..<layout.chunkCount where present.contains(chunk) && !noted.contains(chunk) {
            guard let bytes = try file.chunk(chunk, of: layout, chunks, at: chunk) else {
                present.remove(chunk)
                continue
            }
            try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                try file.write(UnsafeRawBufferPointer(bytes), at: layout.range(of: chunk).lowerBound)
            }
            count += 1
        }
        return count
    }
}
