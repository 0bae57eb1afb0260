import CrashDisk
import Foundation
import Glibc
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// Somebody still works on a part when the blob is whole by another road, or whole and damaged.
@Suite("Blobs: what was a part before")
struct BlobStalenessTests {
    private static let bytes = BlobBytes.some(2 * BlobLayout.chunkBytes, seed: 1)
    private static let hash = BlobBytes.hash(bytes)

    /// A part with its first chunk, of a blob that was added as a whole meanwhile, and then found damaged.
    private static func damaged(_ folder: CrashFolder) throws -> (blobs: BlobStore, stale: BlobPartial) {
        let blobs = try BlobBed(folder: folder).open()
        let stale = try #require(try blobs.begin(bytes))
        try stale.write(0, of: bytes)
        _ = try blobs.add(bytes)
        folder.rot(.whole(hash.hash), at: 9)
        #expect(throws: BlobError.damaged(hash)) { try blobs.bytes(of: hash) }
        return (blobs, stale)
    }

    @Test func `it does not make whole what was found damaged after it`() throws {
        let folder = CrashFolder()
        let (blobs, stale) = try Self.damaged(folder)
        #expect(throws: BlobError.notHere(Self.hash)) { try stale.write(1, of: Self.bytes) }
        #expect(throws: BlobError.notHere(Self.hash)) { try stale.complete() }
        #expect(try blobs.status(of: Self.hash) != .whole)
        let partial = try #require(try blobs.resumePartial(Self.hash))
        #expect(partial !== stale)
        #expect(try (0..<2).filter(partial.present().contains) == [1], "as the file says, not as somebody remembers")
        try partial.write(0, of: Self.bytes)
        try partial.complete()
        #expect(try blobs.bytes(of: Self.hash) == Self.bytes)
        #expect(try folder.names() == [.whole(Self.hash.hash)])
    }

    @Test func `nor what it made whole itself`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        let partial = try #require(try blobs.begin(Self.bytes))
        for chunk in 0..<2 { try partial.write(chunk, of: Self.bytes) }
        try partial.complete()
        folder.rot(.whole(Self.hash.hash), at: 9)
        #expect(throws: BlobError.damaged(Self.hash)) { try blobs.bytes(of: Self.hash) }
        #expect(throws: BlobError.notHere(Self.hash)) { try partial.complete() }
        #expect(try blobs.status(of: Self.hash) != .whole)
        #expect(try blobs.resumePartial(Self.hash)?.present().presentCount == 1)
    }

    @Test func `a part whose file a failed sync spoilt is right again once all of it was added`() throws {
        let folder = CrashFolder()
        let blobs = try BlobBed(folder: folder).open()
        do {
            let partial = try #require(try blobs.begin(Self.bytes))
            try partial.write(0, of: Self.bytes)
            folder.fail(.inputOutput(code: 5), at: folder.attempts..<folder.attempts + 1)
            #expect(throws: BlobError.inputOutput(code: 5)) { try partial.checkpoint() }
        }
        _ = try blobs.add(Self.bytes)
        folder.rot(.whole(Self.hash.hash), at: 9)
        #expect(throws: BlobError.damaged(Self.hash)) { try blobs.bytes(of: Self.hash) }
        #expect(
            try blobs.resumePartial(Self.hash)?.present().presentCount == 1, "the file that was added is not spoilt")
    }

    @Test func `a small blob that has rotted is right again once it is added again`() throws {
        let bed = BlobBed()
        let bytes = BlobBytes.some(2_000, seed: 2)
        let hash = try bed.open().add(bytes)
        bed.close()
        var database = try Data(contentsOf: URL(fileURLWithPath: bed.database))
        let place = try #require(database.range(of: Data(bytes)))
        database[place.lowerBound + 1_000] ^= 1
        try database.write(to: URL(fileURLWithPath: bed.database))
        let blobs = try bed.open()
        #expect(try blobs.add(bytes) == hash)
        #expect(try blobs.bytes(of: hash) == bytes)
        #expect(try blobs.usage().wholeCount == 1)
    }

    /// The last chunk of a small blob and the whole of it come at once.
    @Test func `a small blob that is added while its part gets its name is counted once`() throws {
        let folder = InterruptedFolder(CrashFolder())
        let store = try StoreBed(.sqliteInTmpfs).open()
        let blobs = try store.blobs(in: folder)
        let bytes = BlobBytes.some(500, seed: 3)
        let hash = BlobBytes.hash(bytes)
        let partial = try #require(try blobs.begin(bytes))
        try partial.write(0, of: bytes)
        let isAdded = DispatchSemaphore(value: 0)
        folder.beforeNaming = {
            Thread.detachNewThread {
                _ = try? blobs.add([bytes])
                isAdded.signal()
            }
            for _ in 0..<1_000_000 where (try? blobs.status(of: hash)) != .whole { sched_yield() }
        }
        try partial.complete()
        #expect(isAdded.wait(timeout: .now() + 60) == .success)
        #expect(try blobs.bytes(of: hash) == bytes)
        let usage = try blobs.usage()
        #expect(usage.wholeCount == 1 && usage.partialCount == 0 && usage.claimedBytes == 500)
    }

    /// The database's disk is full at the n-th operation of it, for all n.
    @Test func `a transaction that fails is not subtracted twice`() throws {
        for operation in 0..<40 {
            let disk = PoweredDisk.withStore()
            let store = try disk.open()
            let blobs = try store.blobs()
            let partial = try #require(try blobs.begin(Self.bytes))
            for chunk in 0..<2 { try partial.write(chunk, of: Self.bytes) }
            let first = disk.operationCount + Int64(operation)
            crash_disk_fail(disk.disk, CRASH_FAULT_FULL, first, 1)
            var refusals = 0
            while refusals < 10 {
                do throws(BlobError) {
                    try partial.complete()
                    break
                } catch {
                    refusals += 1
                }
            }
            #expect(try blobs.bytes(of: Self.hash) == Self.bytes, "at \(operation)")
            let usage = try blobs.usage()
            #expect(usage.wholeCount == 1 && usage.partialCount == 0, "at \(operation)")
            #expect(usage.claimedBytes == UInt64(Self.bytes.count), "at \(operation)")
            store.close()
        }
    }
}

/// A folder where something happens just before a part gets the name of the whole.
private final class InterruptedFolder: BlobFiles, @unchecked Sendable {
    private let folder: CrashFolder
    /// Set before anything runs beside it.
    var beforeNaming: () -> Void = {}

    init(_ folder: CrashFolder) { self.folder = folder }

    func prepare() throws(BlobError) { try folder.prepare() }
    func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile { try folder.create(name) }
    func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)? { try folder.open(name) }

    func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool {
        if case .whole = target { beforeNaming() }
        return try folder.rename(name, to: target)
    }

    func remove(_ name: BlobFileName) throws(BlobError) -> UInt64? { try folder.remove(name) }
    func syncFolder() throws(BlobError) { try folder.syncFolder() }
    func names() throws(BlobError) -> [BlobFileName] { try folder.names() }
    var freeBytes: UInt64? { folder.freeBytes }
}
