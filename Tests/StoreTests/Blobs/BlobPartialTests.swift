import Synchronization
import SyncModel
import SyncSimulator
import SyncStore
import Testing

@Suite("Blobs: coming chunk by chunk")
struct BlobPartialTests {
    private static let bytes = BlobBytes.some(3 * BlobLayout.chunkBytes + 1_000, seed: 1)
    private static let hash = BlobBytes.hash(bytes)

    @Test func `chunks come in any order, and the blob is there with the last`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let partial = try #require(try blobs.begin(Self.bytes))
        #expect(try partial.present().presentCount == 0)
        for chunk in [3, 0, 2] {
            #expect(try partial.write(chunk, of: Self.bytes))
            #expect(throws: BlobError.incomplete(Self.hash)) { try partial.complete() }
        }
        #expect(throws: BlobError.notHere(Self.hash)) { try blobs.open(Self.hash) }
        #expect(try !partial.write(2, of: Self.bytes), "it is here")
        #expect(try partial.read(3) == BlobBytes.chunk(3, of: Self.bytes))
        #expect(throws: BlobError.notHere(Self.hash)) { try partial.read(1) }
        try partial.write(1, of: Self.bytes)
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
        #expect(try bed.files.names() == [.whole(Self.hash.hash)])
        #expect(try blobs.begin(Self.bytes) == nil)
        #expect(try blobs.resumePartial(Self.hash) == nil)
        try partial.complete()
        let usage = try blobs.usage()
        #expect(usage.wholeCount == 1 && usage.partialCount == 0 && usage.claimedBytes == UInt64(Self.bytes.count))
    }

    @Test func `bytes that are not the chunk are refused, and nothing is written`() throws {
        let folder = CrashFolder()
        let partial = try #require(try BlobBed(folder: folder).open().begin(Self.bytes))
        _ = try partial.present()
        let before = folder.attempts
        #expect(refuses(partial))
        #expect(folder.attempts == before)
        #expect(try partial.present().presentCount == 0)
    }

    @Test func `the same check finds the planted bug of taking chunks unseen`() throws {
        let blobs = try BlobBed().open(.skipChunkHash)
        #expect(try !refuses(#require(try blobs.begin(Self.bytes))))
    }

    /// Whether every chunk is refused that is not the right one, whatever is wrong with it.
    private func refuses(_ partial: BlobPartial) -> Bool {
        let right = BlobBytes.chunk(1, of: Self.bytes)
        var wrong = right
        wrong[70_000] ^= 1
        let attempts = [
            (1, wrong), (1, Array(right.dropLast())), (1, right + [0]), (1, []), (0, right), (3, right), (4, right),
            (-1, right), (.max, right),
        ]
        return attempts.allSatisfy { chunk, bytes in
            do throws(BlobError) {
                _ = try bytes.withUnsafeBufferPointer { bytes throws(BlobError) in
                    try partial.write(UnsafeRawBufferPointer(bytes), as: chunk)
                }
                return false
            } catch {
                return error == .wrongChunk(chunk)
            }
        }
    }

    @Test func `chunk hashes are believed only if they come to the name of the blob`() throws {
        let blobs = try BlobBed().open()
        let (size, chunks) = (Self.hash.size, BlobBytes.chunks(Self.bytes))
        let other = BlobBytes.chunks(BlobBytes.some(Self.bytes.count, seed: 2))
        let short = try #require(ChunkList(bytes: Array(chunks.bytes.dropLast(32))))
        for (size, chunks) in [(size, other), (size - 1, chunks), (size, short), (0, ChunkList()), (1, chunks)] {
            let name = BlobName(Self.hash.hash, size: size)
            #expect(throws: BlobError.wrongHashes(name)) { try blobs.beginPartial(name, chunks) }
        }
        #expect(try blobs.usage() == BlobUsage())
    }

    @Test func `after the process was killed every chunk that was taken is here`() throws {
        #expect(try presentAfterKill([]) == [0, 2])
    }

    @Test func `the same check finds the planted bug of forgetting them`() throws {
        #expect(try presentAfterKill(.forgetPartials) == [])
    }

    private func presentAfterKill(_ faults: BlobFaults) throws -> [Int] {
        let bed = BlobBed()
        let first = try #require(try bed.open(faults).begin(Self.bytes))
        try first.write(0, of: Self.bytes)
        try first.write(2, of: Self.bytes)
        bed.kill()
        let blobs = try bed.open(faults)
        #expect(try blobs.partials(after: nil, limit: 10) == [Self.hash])
        #expect(try blobs.partials(after: Self.hash, limit: 10) == [])
        let partial = try #require(try blobs.resumePartial(Self.hash))
        let present = try partial.present()
        let chunks = (0..<4).filter(present.contains)
        for chunk in 0..<4 { try partial.write(chunk, of: Self.bytes) }
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
        return chunks
    }

    @Test func `what became wrong while nobody looked is not here`() throws {
        let folder = CrashFolder()
        let bed = BlobBed(folder: folder)
        let first = try #require(try bed.open().begin(Self.bytes))
        for chunk in 0..<4 { try first.write(chunk, of: Self.bytes) }
        try first.checkpoint()
        bed.kill()
        folder.rot(.partial(Self.hash.hash), at: BlobLayout.chunkBytes + 5)
        let blobs = try bed.open()
        #expect(
            try blobs.status(of: Self.hash)
                == .partial(presentChunks: 4, presentBytes: UInt64(Self.bytes.count)), "as it was noted")
        let partial = try #require(try blobs.resumePartial(Self.hash))
        #expect(try !partial.present().contains(1))
        #expect(try partial.present().presentCount == 3)
        // And while somebody does.
        folder.rot(.partial(Self.hash.hash), at: 3)
        #expect(throws: BlobError.damaged(Self.hash)) { try partial.read(0) }
        #expect(try !partial.present().contains(0))
        try partial.write(0, of: Self.bytes)
        try partial.write(1, of: Self.bytes)
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
    }

    @Test func `a partial blob is made durable now and then, not with every chunk`() throws {
        let folder = CrashFolder()
        let bed = BlobBed(folder: folder)
        let bytes = BlobBytes.some(20 * BlobLayout.chunkBytes, seed: 3)
        let blobs = try bed.open { $0.checkpointChunks = 8 }
        let partial = try #require(try blobs.begin(bytes))
        for chunk in 0..<7 { try partial.write(chunk, of: bytes) }
        #expect(folder.syncCount == 0)
        try partial.write(7, of: bytes)
        #expect(folder.syncCount == 1)
        #expect(
            try blobs.status(of: partial.blob)
                == .partial(presentChunks: 8, presentBytes: UInt64(8 * BlobLayout.chunkBytes)))
        #expect(try blobs.usage().partialBytes == UInt64(8 * BlobLayout.chunkBytes))
        // A slow peer's chunks are as safe.
        try partial.write(8, of: bytes)
        bed.clock.advance(by: 1_000)
        try partial.write(9, of: bytes)
        #expect(folder.syncCount == 2)
        bed.clock.advance(by: -100_000)
        for chunk in 10..<17 { try partial.write(chunk, of: bytes) }
        #expect(folder.syncCount == 2)
        try partial.checkpoint()
        try partial.checkpoint()
        #expect(folder.syncCount == 3)
    }

    @Test func `a failed sync throws away what it was to make durable`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let partial = try #require(try blobs.begin(Self.bytes))
        for chunk in 0..<4 { try partial.write(chunk, of: Self.bytes) }
        folder.fail(.inputOutput(code: 5), at: folder.attempts..<folder.attempts + 1)
        #expect(throws: BlobError.inputOutput(code: 5)) { try partial.complete() }
        #expect(try partial.present().presentCount == 0)
        for chunk in 0..<4 { try partial.write(chunk, of: Self.bytes) }
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
    }

    /// The kernel calls the pages of a failed sync clean: they read back as written, and no later sync writes them.
    @Test(arguments: [false, true])
    func `what a killed process could not sync is written once more`(isPlanted: Bool) throws {
        let folder = CrashFolder()
        let bed = BlobBed(folder: folder)
        let before = try bed.open()
        let begun = try #require(try before.begin(Self.bytes))
        for chunk in 0..<2 { try begun.write(chunk, of: Self.bytes) }
        try begun.checkpoint()
        for chunk in 2..<4 { try begun.write(chunk, of: Self.bytes) }
        folder.fail(.inputOutput(code: 5), at: folder.attempts..<folder.attempts + 1)
        #expect(throws: BlobError.inputOutput(code: 5)) { try begun.complete() }
        bed.kill()

        let blobs = try bed.open(isPlanted ? .trustOldPages : [])
        let partial = try #require(try blobs.resumePartial(Self.hash))
        let attempts = folder.attempts
        #expect(try partial.present().isComplete)
        // What was noted as durable is not written again.
        #expect(folder.attempts - attempts == (isPlanted ? 0 : 2))
        try partial.complete()
        let found = CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1))
        #expect((found.bytes(of: .whole(Self.hash.hash)) == Self.bytes) != isPlanted)
    }

    @Test func `a file that is begun anew is not as durable as the one before`() throws {
        let folder = CrashFolder()
        let bed = BlobBed(folder: folder)
        let before = try bed.open()
        let begun = try #require(try before.begin(Self.bytes))
        for chunk in 0..<2 { try begun.write(chunk, of: Self.bytes) }
        try begun.checkpoint()
        // The next sync fails, and takes the file with it; so does that of the file that comes after it.
        for _ in 0..<2 {
            try begun.write(3, of: Self.bytes)
            folder.fail(.inputOutput(code: 5), at: folder.attempts..<folder.attempts + 1)
            #expect(throws: BlobError.inputOutput(code: 5)) { try begun.checkpoint() }
            for chunk in 0..<2 { try begun.write(chunk, of: Self.bytes) }
        }
        bed.kill()

        let partial = try #require(try bed.open().resumePartial(Self.hash))
        #expect(try partial.present().presentCount == 2)
        for chunk in 2..<4 { try partial.write(chunk, of: Self.bytes) }
        try partial.complete()
        let found = CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1))
        #expect(found.bytes(of: .whole(Self.hash.hash)) == Self.bytes)
    }

    /// Its steps: sync of the file, name, sync of the folder.
    @Test(arguments: 1...2) func `completing can be tried again`(failing: Int) throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let partial = try #require(try blobs.begin(Self.bytes))
        for chunk in 0..<4 { try partial.write(chunk, of: Self.bytes) }
        folder.fail(.inputOutput(code: 5), at: folder.attempts + failing..<folder.attempts + failing + 1)
        #expect(throws: BlobError.inputOutput(code: 5)) { try partial.complete() }
        #expect(try blobs.status(of: Self.hash) != .whole)
        #expect(try partial.present().isComplete)
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
        #expect(try folder.names() == [.whole(Self.hash.hash)])
    }

    @Test func `a full disk keeps what came, and goes on when there is room`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let partial = try #require(try blobs.begin(Self.bytes))
        try partial.write(0, of: Self.bytes)
        folder.fail(.diskFull, at: folder.attempts..<folder.attempts + 1)
        #expect(throws: BlobError.diskFull) { try partial.write(1, of: Self.bytes) }
        #expect(try partial.present().presentCount == 1)
        for chunk in 1..<4 { try partial.write(chunk, of: Self.bytes) }
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
    }

    @Test func `all who fetch a blob work on the same one`() throws {
        let blobs = try BlobBed().open()
        let partial = try #require(try blobs.begin(Self.bytes))
        #expect(try blobs.begin(Self.bytes) === partial)
        #expect(try blobs.resumePartial(Self.hash) === partial)
        try partial.write(2, of: Self.bytes)
        // Served to others while it comes.
        var served: [Int] = []
        try blobs.read(Self.hash, chunks: 2..<3) { chunk, bytes in
            served.append(chunk)
            #expect(bytes == BlobBytes.chunk(2, of: Self.bytes))
        }
        #expect(served == [2])
        #expect(throws: BlobError.notHere(Self.hash)) { try blobs.read(Self.hash, chunks: 0..<3) { _, _ in } }
    }

    @Test func `room is kept in the quota for what is coming`() throws {
        let size = UInt64(Self.bytes.count)
        let blobs = try BlobBed().open { $0.quotaBytes = size + 10 }
        let partial = try #require(try blobs.begin(Self.bytes))
        #expect(throws: BlobError.quotaExceeded(quota: size + 10, needed: size + 11)) {
            try blobs.add(BlobBytes.some(11, seed: 4))
        }
        withExtendedLifetime(partial) {}
    }

    @Test func `what is begun and holds nothing makes room once nobody works on it`() throws {
        let size = UInt64(Self.bytes.count)
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open { $0.quotaBytes = 2 * size + 10 }
        let held = BlobBytes.some(Self.bytes.count, seed: 8)
        try #require(try blobs.begin(held)).write(2, of: held)
        do {
            let partial = try #require(try blobs.begin(Self.bytes))
            #expect(try partial.present().presentCount == 0)
            #expect(throws: BlobError.quotaExceeded(quota: 2 * size + 10, needed: 2 * size + 11)) {
                try blobs.add(BlobBytes.some(11, seed: 4))
            }
            withExtendedLifetime(partial) {}
        }
        _ = try blobs.add(BlobBytes.some(11, seed: 4))
        #expect(try blobs.status(of: Self.hash) == .missing)
        #expect(try blobs.usage().claimedBytes == size + 11)
        #expect(try folder.names() == [.partial(BlobBytes.hash(held).hash)])
        // For one that is begun, too; what holds something stays.
        blobs.setQuota(size + 11)
        #expect(throws: BlobError.self) { try blobs.begin(Self.bytes) }
        #expect(try blobs.resumePartial(BlobBytes.hash(held))?.present().presentCount == 1)
    }

    @Test func `to look at what is here keeps nobody waiting who asks what is known`() throws {
        let files = FailingFiles(CrashFolder())
        let blobs = try BlobBed(files: files).open()
        try #require(try blobs.begin(Self.bytes)).write(0, of: Self.bytes)
        let partial = try #require(try blobs.resumePartial(Self.hash))
        let asked = Mutex<[BlobHolding]>([])
        // Inside the scan: it holds the lock under which chunks are written.
        files.beforeRead {
            let held = try? blobs.holdings(of: [Self.hash])
            asked.withLock { $0 += held ?? [] }
        }
        let present = try partial.present()
        files.heal()
        // Whenever it reads: once to look, and once to write again what was not noted as durable.
        let answers = asked.withLock(\.self)
        #expect(!answers.isEmpty && answers.allSatisfy { $0 == .chunks(ChunkSet(count: 4)) })
        #expect(try blobs.holdings(of: [Self.hash]) == [.chunks(present)])
        #expect(present.presentCount == 1)
        try partial.write(3, of: Self.bytes)
        let both = try partial.present()
        #expect(try blobs.holdings(of: [Self.hash]) == [.chunks(both)])
    }

    @Test func `a scan can be stopped, and takes nothing away`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        try #require(try blobs.begin(Self.bytes)).write(0, of: Self.bytes)
        blobs.endScans()
        let partial = try #require(try blobs.resumePartial(Self.hash))
        #expect(throws: BlobError.store(.closed)) { try partial.present() }
        bed.close()
        #expect(try bed.open().resumePartial(Self.hash)?.present().presentCount == 1)
    }

    @Test func `a chunk that would take the log's room is not written`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open { $0.reserveBytes = 1_000_000 }
        let partial = try #require(try blobs.begin(Self.bytes))
        folder.setFreeBytes(1_000_000 + UInt64(BlobLayout.chunkBytes))
        try partial.write(0, of: Self.bytes)
        folder.setFreeBytes(999_999 + UInt64(BlobLayout.chunkBytes))
        #expect(throws: BlobError.diskFull) { try partial.write(1, of: Self.bytes) }
        let small = BlobBytes.some(100, seed: 5)
        folder.setFreeBytes(1_000_099)
        #expect(throws: BlobError.diskFull) { try blobs.receive([(BlobBytes.hash(small), small)]) }
        folder.setFreeBytes(1_000_100)
        #expect(try blobs.receive([(BlobBytes.hash(small), small)]).right.count == 1)
    }

    @Test func `an empty blob and small ones can come so, too`() throws {
        let blobs = try BlobBed().open()
        for count in [0, 1, 1_000] {
            let bytes = BlobBytes.some(count, seed: UInt64(count))
            let partial = try #require(try blobs.begin(bytes))
            for chunk in 0..<partial.layout.chunkCount { try partial.write(chunk, of: bytes) }
            try partial.complete()
            #expect(try blobs.bytes(of: partial.blob) == bytes)
        }
    }
}
