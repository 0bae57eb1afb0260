import SyncCore
import SyncModel
import SyncStore
import Synchronization

/// The driver of the bulk core's disk effects, off the event loop: one thread writes, in order, another reads for peers. Every
/// question gets exactly one answer, whatever the disk says.
///
/// Memory: the bytes the core has handed over and not heard of, and those of `BlobPartial` and `BlobReader`.
final class BlobDriver: Sendable {
    let blobs: BlobStore
    let store: StoreDriver
    let inlet: BulkInlet
    let journal: AgentJournal
    /// The thread that writes bytes from peers.
    private let writing = BlobThread()
    /// The thread that reads bytes for peers.
    let serving = BlobThread()
    /// The state of blobs that arrive now, from `begin` to `finish` or `putAside`. A blob's state lasts as long as a holder of
    /// it is referenced.
    private let working = Mutex<[BlobName: BlobPartial]>([:])

    init(blobs: BlobStore, store: StoreDriver, inlet: BulkInlet, journal: AgentJournal) {
        self.blobs = blobs
        self.store = store
        self.inlet = inlet
        self.journal = journal
    }

    /// Makes the received parts of incomplete blobs durable. To be called before the store closes, after the last effect.
    func stop() {
        writing.finish()
        serving.finish()
        let partials = working.withLock { working in
            defer { working = [:] }
            return Array(working.values)
        }
        // What cannot be made durable now is looked at after the next start, like all of it.
        for partial in partials { try? partial.checkpoint() }
    }

    // MARK: What comes

    func begin(_ blob: BlobName, hashes: [UInt8]?) {
        writing.start { [self] in
            if let answer = begun(blob, hashes: hashes) { inlet.tell(answer) }
        }
    }

    /// Nil: a part was begun, and the answer comes once the disk was searched for its chunks.
    private func begun(_ blob: BlobName, hashes: [UInt8]?) -> BulkInput? {
        do throws(BlobError) {
            if let partial = try partial(of: blob, hashes: hashes) {
                reuse(partial, from: 0)
                return nil
            }
            guard try blobs.status(of: blob) == .whole else { return .hashesMissing(blob) }
            var all = ChunkSet(count: blob.layout.chunkCount)
            for chunk in 0..<all.count { all.insert(chunk) }
            return .begun(blob, present: all)
        } catch .wrongHashes {
            return .hashesWrong(blob)
        } catch {
            record(error)
            return .refused(blob, code: error.code)
        }
    }

    /// Copies chunks that other blobs on this disk share, so that only the rest is asked of peers. It works in slices, so that
    /// chunks of other blobs are written between them.
    private func reuse(_ partial: BlobPartial, from chunk: Int) {
        do throws(BlobError) {
            if let next = try blobs.reuseChunks(for: partial, from: chunk, limit: BlobStore.reuseSliceChunks) {
                return writing.start { [self] in reuse(partial, from: next) }
            }
            let present = try partial.present()
            working.withLock { $0[partial.blob] = partial }
            inlet.tell(.begun(partial.blob, present: present))
        } catch {
            record(error)
            inlet.tell(.refused(partial.blob, code: error.code))
        }
    }

    /// Nil: all of it is here, or the hashes of its chunks are not.
    private func partial(of blob: BlobName, hashes: [UInt8]?) throws(BlobError) -> BlobPartial? {
        guard let hashes else { return try blobs.resumePartial(blob) }
        guard let chunks = ChunkList(bytes: hashes) else { throw .wrongHashes(blob) }
        return try blobs.beginPartial(blob, chunks)
    }

    func write(_ blob: BlobName, chunk: Int, _ bytes: [UInt8]) {
        writing.start { [self] in
            inlet.tell(.chunkWritten(blob, chunk: chunk, outcome(of: blob, chunk, bytes)))
        }
    }

    private func outcome(of blob: BlobName, _ chunk: Int, _ bytes: [UInt8]) -> ChunkOutcome {
        do throws(BlobError) {
            let found = working.withLock { $0[blob] }
            let resumed = if let found { found } else { try blobs.resumePartial(blob) }
            // Added here meanwhile, or removed: the core hears of either, and its next `begin` says how it stands.
            guard let partial = resumed else { throw .notHere(blob) }
            _ = try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                try partial.write(UnsafeRawBufferPointer(bytes), as: chunk)
            }
            return .right
        } catch .wrongChunk {
            return .wrong
        } catch {
            record(error)
            return .refused(code: error.code)
        }
    }

    func finish(_ blob: BlobName) {
        writing.start { [self] in inlet.tell(finished(blob)) }
    }

    private func finished(_ blob: BlobName) -> BulkInput {
        do throws(BlobError) {
            // Where it cannot be finished, it is begun again.
            if let partial = working.withLock({ $0.removeValue(forKey: blob) }) {
                try partial.complete()
            } else if try blobs.status(of: blob) != .whole {
                throw .incomplete(blob)
            }
            return .finished(blob)
        } catch {
            record(error)
            return .finishFailed(blob, code: error.code)
        }
    }

    func putAside(_ blob: BlobName) {
        writing.start { [self] in
            guard let partial = working.withLock({ $0.removeValue(forKey: blob) }) else { return }
            do throws(BlobError) { try partial.checkpoint() } catch { record(error) }
        }
    }

    func writeSmall(_ id: WriteID, _ batch: [WholeBlob]) {
        writing.start { [self] in
            do throws(BlobError) {
                let received = try blobs.receive(batch.map { (name: $0.name, bytes: $0.bytes) })
                inlet.tell(.smallWritten(id, right: received.right, wrong: received.wrong, code: nil))
            } catch {
                record(error)
                inlet.tell(.smallWritten(id, right: [], wrong: [], code: error.code))
            }
        }
    }

    // MARK: What went wrong

    func record(_ error: BlobError) { journal.record(code: error.code) }

    /// Marks the blob as missing: peers hear that it is not held, and it is fetched again.
    func recordDamage(_ error: BlobError) {
        if case .damaged(let blob) = error { inlet.tell([.holdingChanged(blob), .missingChanged]) }
    }
}
