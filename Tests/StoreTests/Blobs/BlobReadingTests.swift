import Foundation
import SyncModel
import SyncSimulator
import SyncStore
import Testing

@Suite("Blobs: reading what may have rotted")
struct BlobReadingTests {
    private static let bytes = BlobBytes.some(2 * BlobLayout.chunkBytes + 1_000, seed: 1)

    @Test func `a rotten chunk is found when it is read, and only it is needed anew`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let hash = try blobs.add(Self.bytes)
        folder.rot(.whole(hash.hash), at: BlobLayout.chunkBytes)
        var reader = try blobs.open(hash)
        #expect(try reader.read(0) == BlobBytes.chunk(0, of: Self.bytes))
        #expect(throws: BlobError.damaged(hash)) { try reader.read(1) }
        #expect(throws: BlobError.notHere(hash)) { try blobs.open(hash) }
        #expect(try blobs.status(of: hash) == .partial(presentChunks: 0, presentBytes: 0))
        #expect(try blobs.usage().wholeCount == 0)
        let partial = try #require(try blobs.resumePartial(hash))
        #expect(try (0..<3).filter(partial.present().contains) == [0, 2])
        try partial.write(1, of: Self.bytes)
        try partial.complete()
        #expect(try blobs.bytes(of: hash) == Self.bytes)
        #expect(try blobs.usage().claimedBytes == UInt64(Self.bytes.count))
        #expect(try folder.names() == [.whole(hash.hash)])
    }

    @Test func `a file that somebody removed, or cut off, is missing`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let hash = try blobs.add(Self.bytes)
        let path = bed.blobFolder + "/" + BlobFileName.whole(hash.hash).string
        #expect(truncate(path, off_t(BlobLayout.chunkBytes + 10)) == 0)
        #expect(throws: BlobError.damaged(hash)) { try blobs.bytes(of: hash) }
        #expect(try blobs.resumePartial(hash)?.present().presentCount == 1)
        #expect(try blobs.add(Self.bytes) == hash)
        #expect(unlink(path) == 0)
        #expect(throws: BlobError.damaged(hash)) { try blobs.open(hash) }
        #expect(try blobs.resumePartial(hash)?.present().presentCount == 0)
    }

    @Test func `a small blob that has rotted goes`() throws {
        let bed = BlobBed()
        let bytes = BlobBytes.some(2_000, seed: 2)
        let hash = try bed.open().add(bytes)
        bed.close()
        var database = try Data(contentsOf: URL(fileURLWithPath: bed.database))
        let place = try #require(database.range(of: Data(bytes)))
        database[place.lowerBound + 1_000] ^= 1
        try database.write(to: URL(fileURLWithPath: bed.database))
        let blobs = try bed.open()
        #expect(throws: BlobError.damaged(hash)) { try blobs.bytes(of: hash) }
        #expect(try blobs.status(of: hash) == .missing)
        #expect(try blobs.usage() == BlobUsage())
        #expect(try blobs.add(bytes) == hash)
        #expect(try blobs.bytes(of: hash) == bytes)
    }

    @Test(arguments: [100, 600_000]) func `no chunk beyond the last is read`(count: Int) throws {
        let blobs = try BlobBed().open()
        let hash = try blobs.add(BlobBytes.some(count, seed: 3))
        var reader = try blobs.open(hash)
        for chunk in [-1, 3, Int.max, Int.min] { #expect(throws: BlobError.notHere(hash)) { try reader.read(chunk) } }
        #expect(try blobs.status(of: hash) == .whole)
    }

    @Test func `all blobs are looked at, and what is wrong counts as missing`() throws {
        let bed = BlobBed()
        let blobs = try bed.open()
        let contents = [Self.bytes, BlobBytes.some(100_000, seed: 4), BlobBytes.some(100, seed: 5), []]
        let hashes = try blobs.add(contents)
        _ = try blobs.begin(BlobBytes.some(200_000, seed: 6))
        var check = try blobs.checkAll()
        #expect(check.rightCount == 4 && check.damaged == [])
        #expect(check.rightBytes == UInt64(contents.reduce(0) { $0 + $1.count }))
        let handle = try #require(
            FileHandle(forWritingAtPath: bed.blobFolder + "/" + BlobFileName.whole(hashes[0].hash).string))
        try handle.seek(toOffset: 300_000)
        try handle.write(contentsOf: Data([1, 2, 3, 4, 5]))
        try handle.close()
        check = try blobs.checkAll()
        #expect(check.rightCount == 3 && check.damaged == [hashes[0]])
        #expect(try blobs.status(of: hashes[0]) != .whole)
        #expect(try blobs.checkAll().damaged == [], "it is missing now, and not counted again")
    }

    @Test func `a look at all blobs can be stopped between two chunks`() throws {
        let blobs = try BlobBed().open()
        _ = try blobs.add([Self.bytes, BlobBytes.some(100, seed: 5)])
        var asked = 0
        let check = try blobs.checkAll(isStopped: {
            asked += 1
            return asked > 2
        })
        #expect(check == BlobCheck(), "it had read two chunks of three")
    }

    @Test(arguments: [true, false])
    func `what cannot be looked at just now is not damaged`(isOpening: Bool) throws {
        let files = FailingFiles(CrashFolder())
        let blobs = try BlobBed(files: files).open()
        let hashes = try blobs.add([Self.bytes, BlobBytes.some(100, seed: 5)])
        if isOpening {
            files.failOpening(.inputOutput(code: EMFILE), times: 9)
        } else {
            files.failReading(.inputOutput(code: ENOMEM), times: 9)
        }
        let check = try blobs.checkAll()
        #expect(check.rightCount == 1 && check.damaged == [] && check.unreadCount == 1)
        files.heal()
        for hash in hashes { #expect(try blobs.status(of: hash) == .whole) }
        #expect(try blobs.checkAll().rightCount == 2)
    }

    @Test func `a failure of the disk is damage if it comes a second time`() throws {
        let files = FailingFiles(CrashFolder())
        let blobs = try BlobBed(files: files).open()
        let hash = try blobs.add(Self.bytes)
        files.failReading(.inputOutput(code: EIO), times: 1)
        #expect(try blobs.checkAll().rightCount == 1)
        files.failReading(.inputOutput(code: EIO), times: 2)
        #expect(try blobs.checkAll().damaged == [hash])
        #expect(try blobs.status(of: hash) != .whole)
    }
}
