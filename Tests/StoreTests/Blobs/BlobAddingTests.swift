import CrashDisk
import Foundation
import SyncModel
import SyncSimulator
import SyncStore
import Testing

@Suite("Blobs: adding")
struct BlobAddingTests {
    private static let chunk = BlobLayout.chunkBytes

    @Test(arguments: [0, 1, 65_536, 65_537, chunk - 1, chunk, chunk + 1, 3 * chunk, 3 * chunk + 5])
    func `what is added is read back after a restart`(count: Int) throws {
        let bed = BlobBed()
        let bytes = BlobBytes.some(count, seed: 1)
        let hash = try bed.open().add(bytes)
        #expect(hash == BlobBytes.hash(bytes))
        bed.close()
        let blobs = try bed.open()
        #expect(try blobs.status(of: hash) == .whole)
        #expect(try blobs.bytes(of: hash) == bytes)
        #expect(try blobs.chunks(of: hash) == BlobBytes.chunks(bytes))
        #expect(try bed.files.names() == (count > 65_536 ? [.whole(hash.hash)] : []))
        #expect(try blobs.usage().wholeBytes == UInt64(count))
        #expect(try blobs.usage().wholeCount == 1)
        #expect(try blobs.usage().claimedBytes == UInt64(count))
    }

    @Test(arguments: [100, 100_000]) func `equal bytes are kept once, whatever they were called`(count: Int) throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let bytes = BlobBytes.some(count, seed: 2)
        let first = try blobs.add(bytes)
        #expect(try blobs.add(from: PartsSource(bytes, size: nil)) == first)
        #expect(try blobs.add([bytes, bytes]) == [first, first])
        #expect(try blobs.usage().wholeCount == 1)
        #expect(try blobs.usage().claimedBytes == UInt64(count))
        #expect(try bed.files.names().count <= 1)
    }

    @Test func `adding again repairs a file that has rotted`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let bytes = BlobBytes.some(100_000, seed: 3)
        let hash = try blobs.add(bytes)
        folder.rot(.whole(hash.hash), at: 50_000)
        #expect(try blobs.add(bytes) == hash)
        #expect(try blobs.bytes(of: hash) == bytes)
    }

    @Test func `thousands of small blobs cost few transactions`() throws {
        let disk = PoweredDisk.withStore()
        let store = try disk.open()
        defer { store.close() }
        let blobs = try BlobStore(
            store, files: CrashFolder(), needs: NamedBlobs(), BlobConfiguration(run: 1, now: { 0 }))
        let contents = (0..<2_500).map { BlobBytes.some(1_024, seed: $0) }
        _ = try store.append([[CrashHistory.event(1)]], wallMilliseconds: 0)
        let before = crash_disk_sync_count(disk.disk)
        let hashes = try blobs.add(contents)
        // Three commits; the write-ahead log is brought into the database after each, as its size says.
        #expect(crash_disk_sync_count(disk.disk) - before <= 12)
        #expect(Set(hashes).count == 2_500)
        #expect(hashes[1_777] == BlobBytes.hash(contents[1_777]))
        #expect(try blobs.usage().wholeBytes == 2_500 * 1_024)
    }

    @Test func `a batch takes large ones too`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let contents = [10, 70_000, 0, 300_000, 20].map { BlobBytes.some($0, seed: UInt64($0)) }
        let hashes = try blobs.add(contents)
        #expect(try hashes.map { hash in try blobs.bytes(of: hash) } == contents)
    }

    @Test func `a source that gives more or less than it said, or changes meanwhile, is refused and leaves nothing`()
        throws
    {
        let bed = BlobBed()
        let blobs = try bed.open()
        let bytes = BlobBytes.some(100_000, seed: 4)
        var changed = PartsSource(bytes, size: 100_000)
        changed.isChanged = true
        for source in [PartsSource(bytes, size: 99_999), PartsSource(bytes, size: 100_001), changed] {
            #expect(throws: BlobError.sourceChanged) { try blobs.add(from: source) }
        }
        var broken = PartsSource(bytes, size: nil)
        broken.failure = .sourceUnreadable(code: EIO)
        #expect(throws: BlobError.sourceUnreadable(code: EIO)) { try blobs.add(from: broken) }
        try expectNothing(in: blobs, bed)
    }

    @Test func `an addition that is given up, or forgotten, leaves nothing`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let bytes = BlobBytes.some(100_000, seed: 5)
        let first = try blobs.beginAdding(size: nil)
        try bytes.withUnsafeBytes { try first.append($0) }
        #expect(try bed.files.names().count == 1)
        #expect(try blobs.usage().addingBytes >= 100_000)
        first.giveUp()
        #expect(throws: BlobError.sourceChanged) { try first.finish() }
        do {
            let second = try blobs.beginAdding(size: 100_000)
            try bytes.withUnsafeBytes { try second.append($0) }
        }
        try expectNothing(in: blobs, bed)
    }

    @Test func `what does not fit into the quota is refused before a byte is read`() throws {
        let bed = BlobBed()
        let blobs = try bed.open { $0.quotaBytes = 1 << 30 }
        var source = PartsSource([], size: 10 << 30)
        source.failure = .sourceUnreadable(code: EIO)
        #expect(throws: BlobError.quotaExceeded(quota: 1 << 30, needed: 10 << 30)) { try blobs.add(from: source) }
        #expect(throws: BlobError.tooLarge) { try blobs.beginAdding(size: 17 << 30) }
        try expectNothing(in: blobs, bed)
    }

    @Test func `a stream of unknown size is refused where it leaves the quota`() throws {
        let bed = BlobBed()
        let blobs = try bed.open { $0.quotaBytes = 200_000 }
        let first = try blobs.add(BlobBytes.some(100_000, seed: 6))
        #expect(throws: BlobError.self) {
            try blobs.add(from: PartsSource(BlobBytes.some(150_000, seed: 7), size: nil))
        }
        #expect(try bed.files.names() == [.whole(first.hash)])
        #expect(try blobs.usage().claimedBytes == 100_000)
        blobs.setQuota(nil)
        _ = try blobs.add(from: PartsSource(BlobBytes.some(150_000, seed: 7), size: nil))
        #expect(try blobs.usage().claimedBytes == 250_000)
    }

    @Test func `what is here already needs no room in the quota`() throws {
        let blobs = try BlobBed().open { $0.quotaBytes = 150_000 }
        let (large, small) = (BlobBytes.some(100_000, seed: 8), BlobBytes.some(40_000, seed: 9))
        let hashes = [try blobs.add(large), try blobs.add(small)]
        #expect([try blobs.add(large), try blobs.add(small)] == hashes)
        #expect(try blobs.add([large, small]) == hashes)
        let other = BlobBytes.some(100_000, seed: 10)
        #expect(throws: BlobError.quotaExceeded(quota: 150_000, needed: 240_000)) { try blobs.add(other) }
        #expect(throws: BlobError.quotaExceeded(quota: 150_000, needed: 160_000)) {
            try blobs.add([BlobBytes.some(20_000, seed: 11)])
        }
        #expect(try blobs.usage().claimedBytes == 140_000)
    }

    @Test func `what fills the disk while a blob is added stops before the log's room`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open { $0.reserveBytes = 1_000_000 }
        let bytes = BlobBytes.some(100_000, seed: 12)
        let addition = try blobs.beginAdding(size: 200_000)
        try bytes.withUnsafeBytes { try addition.append($0) }
        folder.setFreeBytes(1_099_999)
        #expect(throws: BlobError.diskFull) { try bytes.withUnsafeBytes { try addition.append($0) } }
        #expect(try folder.names() == [])
        let small = try blobs.beginAdding(size: nil)
        folder.setFreeBytes(.max)
        try bytes.prefix(10).withUnsafeBytes { try small.append($0) }
        folder.setFreeBytes(1_000_009)
        #expect(throws: BlobError.diskFull) { try small.finish() }
        #expect(try blobs.usage().claimedBytes == 0)
    }

    @Test func `the log keeps its room on the disk`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open { $0.reserveBytes = 1_000_000 }
        folder.setFreeBytes(1_099_999)
        #expect(throws: BlobError.diskFull) { try blobs.add(BlobBytes.some(100_000, seed: 12)) }
        #expect(throws: BlobError.diskFull) { try blobs.begin(BlobBytes.some(100_000, seed: 12)) }
        #expect(folder.attempts == 0)
        folder.setFreeBytes(1_100_000)
        _ = try blobs.add(BlobBytes.some(100_000, seed: 12))
    }

    @Test func `files that cannot be read are refused as such, and one that is written to meanwhile too`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let folder = ScratchFolder(inMemory: true)
        #expect(throws: BlobError.sourceUnreadable(code: ENOENT)) { try FileSource(path: folder.path + "/none") }
        #expect(throws: BlobError.sourceUnreadable(code: EISDIR)) { try FileSource(path: folder.path) }
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(throws: BlobError.sourceUnreadable(code: EINVAL)) { try FileSource(path: folder.path + "/pipe") }

        let path = folder.path + "/file"
        let bytes = BlobBytes.some(400_000, seed: 13)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        #expect(try blobs.bytes(of: blobs.add(from: try FileSource(path: path))) == bytes)
        let source = try FileSource(path: path)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.truncate(atOffset: 399_999)
        try handle.close()
        #expect(throws: BlobError.sourceChanged) { try blobs.add(from: source) }
        #expect(try bed.files.names().count == 1)
    }

    @Test func `what somebody adds takes the place of what was coming`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        for (count, place) in [(600_000, 1), (30_000, 0)] {
            let bytes = BlobBytes.some(count, seed: UInt64(count))
            let partial = try #require(try blobs.begin(bytes))
            try partial.write(0, of: bytes)
            let hash = try blobs.add(bytes)
            #expect(try blobs.bytes(of: hash) == bytes)
            #expect(try bed.files.names().filter { $0 == .partial(hash.hash) } == [])
            #expect(try bed.files.names().filter { $0 == .whole(hash.hash) }.count == place)
            #expect(try blobs.usage().partialCount == 0)
            // Who still works on it does no harm.
            for chunk in 0..<partial.layout.chunkCount { try partial.write(chunk, of: bytes) }
            try partial.complete()
            #expect(try blobs.bytes(of: hash) == bytes)
        }
        #expect(try blobs.usage().claimedBytes == 630_000)
    }

    private func expectNothing(in blobs: BlobStore, _ bed: BlobBed, sourceLocation: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(try bed.files.names() == [], sourceLocation: sourceLocation)
        #expect(try blobs.usage() == BlobUsage(), sourceLocation: sourceLocation)
    }
}
