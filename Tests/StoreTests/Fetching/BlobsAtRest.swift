import LawHistories
import SyncModel
import SyncSimulator
import SyncStore
import Testing

// Blobs beside a store. A file `AttachedFile.named` has its name as its bytes.

extension AttachedFile {
    static func bytes(of name: String) -> [UInt8] { Array(name.utf8) }
}

extension BlobName {
    /// Of the file that is called so.
    static func named(_ name: String) -> BlobName { AttachedFile.named(ExactString(name)).blob }
}

extension SQLiteStore {
    /// Lets the bytes of these files be here.
    func bring(_ names: String...) throws {
        _ = try blobs().add(names.map(AttachedFile.bytes))
    }

    /// Blobs of this store, each a file in `folder` unless `smallBytes` says otherwise.
    func blobs(
        in folder: any BlobFiles = CrashFolder(), clock: SetClock = SetClock(), run: UInt64 = 1,
        _ change: (inout BlobConfiguration) -> Void = { _ in }
    ) throws -> BlobStore {
        var configuration = BlobConfiguration(run: run, now: { clock.now })
        configuration.reserveBytes = 0
        change(&configuration)
        return try BlobStore(self, files: folder, needs: RecordNeeds(self), configuration)
    }

    /// The names of these files that are missing, in the order in which they are fetched.
    func missing(of names: [String], except: [String] = [], limit: Int = .max) throws -> [String] {
        let known = Dictionary(uniqueKeysWithValues: names.map { (BlobName.named($0), $0) })
        let missing = try missingBlobs(of: .home, except: Set(except.map(BlobName.named)), limit: limit)
        return missing.map { known[$0.blob] ?? "another" }
    }
}
