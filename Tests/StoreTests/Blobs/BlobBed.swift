import Glibc
import Synchronization
import SyncModel
import SyncSimulator
import SyncStore

/// A clock that a test sets.
final class SetClock: Sendable {
    private let milliseconds = Mutex<Int64>(1_000_000_000_000)

    var now: Int64 { milliseconds.withLock { $0 } }

    func advance(by milliseconds: Int64) { self.milliseconds.withLock { $0 += milliseconds } }
    func advance(hours: Int64) { advance(by: hours * 3_600_000) }
}

/// Records that name blobs, as a test says.
final class NamedBlobs: BlobNeeds {
    private let said = Mutex<[BlobName: BlobNeed]>([:])
    /// Called before each answer: something that happens just then.
    private let meanwhile = Mutex<(@Sendable (BlobName) -> Void)?>(nil)

    func need(of hash: BlobName) throws(StoreError) -> BlobNeed {
        defer { meanwhile.withLock { $0 }?(hash) }
        return said.withLock { $0[hash] ?? .neverNeeded }
    }

    func set(_ hash: BlobName, _ reference: BlobNeed) { said.withLock { $0[hash] = reference } }

    func afterAnswer(_ body: @escaping @Sendable (BlobName) -> Void) { meanwhile.withLock { $0 = body } }
}

/// A device's machine with a blob store on it.
final class BlobBed: @unchecked Sendable {
    let clock = SetClock()
    let names = NamedBlobs()
    private let machine = StoreBed(.sqliteInTmpfs)
    private var store: SQLiteStore?
    private var run: UInt64 = 0
    /// Nil: real files beside the database.
    let folder: CrashFolder?

    private let given: (any BlobFiles)?

    init(folder: CrashFolder? = nil) {
        self.folder = folder
        given = nil
    }

    init(files: any BlobFiles) {
        folder = nil
        given = files
    }

    deinit { store?.close() }

    var blobFolder: String { machine.directory + "/blobs" }
    var files: any BlobFiles { given ?? folder ?? PosixBlobFiles(folder: blobFolder) }
    var database: String { machine.directory + "/lanyard.sqlite" }

    /// Opens it as a new process does. The machine lives as long as the store.
    func open(
        _ faults: BlobFaults = [], schema: Schema = .current, _ change: (inout BlobConfiguration) -> Void = { _ in }
    ) throws -> BlobStore {
        let store = try machine.open(schema: schema)
        self.store = store
        run += 1
        var configuration = BlobConfiguration(run: run, now: { [self] in clock.now })
        configuration.faults = faults
        configuration.reserveBytes = 0
        change(&configuration)
        return try BlobStore(store, files: files, needs: names, configuration)
    }

    /// The process ends without a word; what it wrote to files stays.
    func kill() {
        guard let store else { return }
        machine.crash(store)
        // The killed process's descriptors are of the old files.
        store.close()
        self.store = nil
    }

    func close() {
        store?.close()
        store = nil
    }
}

enum BlobBytes {
    /// The same for the same seed, and no two chunks alike.
    static func some(_ count: Int, seed: UInt64) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        var bytes = [UInt8](repeating: 0, count: count)
        for index in stride(from: 0, to: count, by: 97) { bytes[index] = UInt8.random(in: 1...255, using: &random) }
        for index in 1..<max(1, min(count, 9)) {
            bytes[index] = UInt8(truncatingIfNeeded: seed >> UInt64(8 * index - 8))
        }
        return bytes
    }

    static func hash(_ bytes: [UInt8]) -> BlobName {
        var hasher = BlobHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        return hasher.finish()
    }

    static func chunks(_ bytes: [UInt8]) -> ChunkList {
        var hasher = BlobHasher()
        bytes.withUnsafeBytes { hasher.update($0) }
        _ = hasher.finish()
        return ChunkList(hasher.chunks)
    }

    /// Compares memory. Tests are not optimised: `==` of two arrays would call a function for each byte.
    static func areSame(_ left: [UInt8]?, _ right: [UInt8]) -> Bool {
        guard let left, left.count == right.count else { return false }
        return memcmp(left, right, right.count) == 0
    }

    static func chunk(_ number: Int, of bytes: [UInt8]) -> [UInt8] {
        Array(bytes.dropFirst(number * BlobLayout.chunkBytes).prefix(BlobLayout.chunkBytes))
    }
}

/// Bytes in parts of a given length.
struct PartsSource: BlobSource {
    var bytes: ArraySlice<UInt8>
    var size: UInt64?
    var partBytes = 10_000
    var failure: BlobError?
    /// Whether it is another one at the end than at the beginning.
    var isChanged = false

    init(_ bytes: [UInt8], size: UInt64?) {
        self.bytes = bytes[...]
        self.size = size
    }

    mutating func read(into target: UnsafeMutableRawBufferPointer) throws(BlobError) -> Int {
        let part = bytes.prefix(min(partBytes, target.count))
        bytes = bytes.dropFirst(part.count)
        if part.isEmpty, let failure { throw failure }
        target.copyBytes(from: part)
        return part.count
    }

    func checkUnchanged() throws(BlobError) { if isChanged { throw .sourceChanged } }
}

extension BlobStore {
    /// All of it, checked.
    func bytes(of hash: BlobName) throws(BlobError) -> [UInt8] {
        var reader = try open(hash)
        var bytes: [UInt8] = []
        for chunk in 0..<reader.layout.chunkCount { bytes += try reader.read(chunk) }
        return bytes
    }

    func add(_ bytes: [UInt8]) throws(BlobError) -> BlobName {
        try add(from: PartsSource(bytes, size: UInt64(bytes.count)))
    }

    func begin(_ bytes: [UInt8]) throws(BlobError) -> BlobPartial? {
        try beginPartial(BlobBytes.hash(bytes), BlobBytes.chunks(bytes))
    }
}

extension BlobPartial {
    @discardableResult
    func write(_ chunk: Int, of bytes: [UInt8]) throws(BlobError) -> Bool {
        let part = BlobBytes.chunk(chunk, of: bytes)
        return try part.withUnsafeBufferPointer { part throws(BlobError) in
            try write(UnsafeRawBufferPointer(part), as: chunk)
        }
    }
}
