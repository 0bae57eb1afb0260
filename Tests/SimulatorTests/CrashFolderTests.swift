import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// The disk that simulated blobs lie on keeps the promises of POSIX, and no others.
@Suite("Folder that loses its power")
struct CrashFolderTests {
    private static let name = BlobFileName.adding(run: 1, number: 1)

    private func file(of bytes: [UInt8], in folder: CrashFolder) throws -> any BlobFile {
        let file = try folder.create(Self.name)
        try bytes.withUnsafeBytes { try file.write($0, at: 0) }
        return file
    }

    @Test func `what was not synced is lost with the power, and stays when only the process ends`() throws {
        let folder = CrashFolder(FolderReplay(), nil)
        _ = try file(of: [1, 2, 3], in: folder)
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1), nil).bytes(of: Self.name) == nil)
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesNothing, seed: 1), nil).bytes(of: Self.name) == [1, 2, 3])
    }

    @Test func `bytes and names are durable apart from each other`() throws {
        let folder = CrashFolder(FolderReplay(), nil)
        let file = try file(of: [1, 2, 3], in: folder)
        try folder.syncFolder()
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1), nil).bytes(of: Self.name) == [])
        try file.sync()
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1), nil).bytes(of: Self.name) == [1, 2, 3])
    }

    @Test func `what a failed sync was to make durable never becomes so`() throws {
        let folder = CrashFolder(FolderReplay(), nil)
        let file = try file(of: [1, 2, 3], in: folder)
        try folder.syncFolder()
        folder.failSyncs(.inputOutput(code: 5))
        // Steps of another kind go on.
        try file.writeOut(0..<3)
        #expect(throws: BlobError.inputOutput(code: 5)) { try file.sync() }
        folder.heal()
        try file.sync()
        #expect(folder.failures == 1)
        #expect(folder.bytes(of: Self.name) == [1, 2, 3])
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1), nil).bytes(of: Self.name) == [])
    }

    @Test func `who ends before a sync leaves to the kernel what it wrote`() throws {
        let folder = CrashFolder(FolderReplay(), nil)
        let file = try file(of: [1, 2, 3], in: folder)
        try folder.syncFolder()
        folder.die(at: folder.attempts)
        #expect(throws: BlobError.inputOutput(code: 5)) { try file.sync() }
        folder.heal()
        // The next process syncs the same file.
        try #require(try folder.open(Self.name)).sync()
        #expect(CrashFolder(folder.disk.afterPowerLoss(.losesAll, seed: 1), nil).bytes(of: Self.name) == [1, 2, 3])
    }

    @Test func `a process that ends after a removal does nothing behind it`() throws {
        let folder = CrashFolder(FolderReplay(), nil)
        let file = try file(of: [1, 2, 3], in: folder)
        folder.dieAfterRemoval()
        try file.sync()
        try folder.remove(Self.name)
        #expect(throws: BlobError.inputOutput(code: 5)) { try folder.syncFolder() }
        #expect(folder.bytes(of: Self.name) == nil)
    }
}
