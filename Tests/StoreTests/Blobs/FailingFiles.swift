import Synchronization
import SyncStore

/// A folder of which opening and reading fail, as a test says: what `CrashFolder` does for writing.
final class FailingFiles: BlobFiles {
    private struct State {
        var opening: Fault?
        var reading: Fault?
        var beforeRead: (@Sendable () -> Void)?
    }

    private struct Fault {
        let error: BlobError
        var times: Int
    }

    private let files: any BlobFiles
    private let state = Mutex(State())

    init(_ files: any BlobFiles) { self.files = files }

    func failOpening(_ error: BlobError, times: Int) {
        state.withLock { $0.opening = Fault(error: error, times: times) }
    }

    func failReading(_ error: BlobError, times: Int) {
        state.withLock { $0.reading = Fault(error: error, times: times) }
    }

    /// Called in every read, before it: something that happens just then.
    func beforeRead(_ body: (@Sendable () -> Void)?) { state.withLock { $0.beforeRead = body } }

    func heal() { state.withLock { $0 = State() } }

    private func pass(_ fault: any WritableKeyPath<State, Fault?> & Sendable) throws(BlobError) {
        let error = state.withLock { state -> BlobError? in
            guard let next = state[keyPath: fault], next.times > 0 else { return nil }
            state[keyPath: fault]?.times -= 1
            return next.error
        }
        if let error { throw error }
    }

    fileprivate func willRead() throws(BlobError) {
        state.withLock(\.beforeRead)?()
        try pass(\.reading)
    }

    func prepare() throws(BlobError) { try files.prepare() }

    func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile {
        FailingFile(try files.create(name), self)
    }

    func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)? {
        try pass(\.opening)
        return try files.open(name).map { FailingFile($0, self) }
    }

    func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool {
        try files.rename(name, to: target)
    }

    @discardableResult
    func remove(_ name: BlobFileName) throws(BlobError) -> UInt64? { try files.remove(name) }

    func syncFolder() throws(BlobError) { try files.syncFolder() }

    func names() throws(BlobError) -> [BlobFileName] { try files.names() }

    var freeBytes: UInt64? { files.freeBytes }
}

private final class FailingFile: BlobFile {
    private let file: any BlobFile
    private let folder: FailingFiles

    init(_ file: any BlobFile, _ folder: FailingFiles) {
        self.file = file
        self.folder = folder
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError) {
        try file.write(bytes, at: offset)
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int {
        try folder.willRead()
        return try file.read(into: target, at: offset)
    }

    func writeOut(_ range: Range<UInt64>) throws(BlobError) { try file.writeOut(range) }

    func sync() throws(BlobError) { try file.sync() }

    func written(from offset: UInt64) throws(BlobError) -> Range<UInt64>? { try file.written(from: offset) }
}
