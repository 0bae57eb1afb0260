import Glibc
import Synchronization
import SyncModel
import SyncStore

/// A folder of blobs in memory that can lose its power, with the rules of POSIX and no more: bytes are durable after a sync of
/// the file, names after a sync of the folder.
///
/// It writes down every step, and how far the database's disk was by then: from both, the machine can be built as a loss of
/// power at any moment would have left it. Faults are given by the number of the step.
final class CrashFolder: BlobFiles {
    enum Action {
        case create(BlobFileName, Int)
        case write(Int, offset: Int, [UInt8])
        case sync(Int)
        case failedSync(Int)
        case rename(BlobFileName, BlobFileName)
        case remove(BlobFileName)
        case syncFolder
        /// Bytes change on the disk, without anybody's doing.
        case rot(Int, offset: Int)
    }

    struct Fault {
        var error: BlobError
        var steps: Range<Int>
    }

    fileprivate struct State {
        var files: [[UInt8]] = []
        var names: [BlobFileName: Int] = [:]
        var actions: [(action: Action, databaseOperations: Int64)] = []
        var attempts = 0
        var syncs = 0
        var fault: Fault?
        var freeBytes: UInt64?
    }

    fileprivate let state: Mutex<State>
    private let initial: FolderReplay
    private let databaseOperations: @Sendable () -> Int64

    /// An empty one.
    convenience init(databaseOperations: @escaping @Sendable () -> Int64 = { 0 }) {
        self.init(FolderReplay(), databaseOperations)
    }

    /// As it is found after the power went.
    init(_ found: FolderReplay, _ databaseOperations: @escaping @Sendable () -> Int64 = { 0 }) {
        initial = found
        self.databaseOperations = databaseOperations
        state = Mutex(State(files: found.files, names: found.names))
    }

    // What tests look at

    /// Steps so far, each with what the database's disk had done by then.
    var actions: [(action: Action, databaseOperations: Int64)] { state.withLock(\.actions) }
    /// Steps tried so far, those that failed with them.
    var attempts: Int { state.withLock(\.attempts) }
    /// Syncs of files so far.
    var syncCount: Int { state.withLock(\.syncs) }
    /// Where a replay of `actions` begins.
    var replay: FolderReplay { initial }

    func fail(_ error: BlobError, at steps: Range<Int>) {
        state.withLock { $0.fault = Fault(error: error, steps: steps) }
    }

    func heal() { state.withLock { $0.fault = nil } }

    func setFreeBytes(_ bytes: UInt64?) { state.withLock { $0.freeBytes = bytes } }

    func bytes(of name: BlobFileName) -> [UInt8]? {
        state.withLock { state in state.names[name].map { state.files[$0] } }
    }

    func rot(_ name: BlobFileName, at offset: Int) {
        state.withLock { state in
            guard let file = state.names[name] else { return }
            state.files[file][offset] ^= 0x40
            state.actions.append((.rot(file, offset: offset), databaseOperations()))
        }
    }

    // Files

    func prepare() throws(BlobError) {}

    func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile {
        try step { state throws(BlobError) in
            state.files.append([])
            let file = state.files.count - 1
            state.names[name] = file
            note(.create(name, file), &state)
            return CrashFile(file, self)
        }
    }

    func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)? {
        state.withLock { state in state.names[name].map { CrashFile($0, self) } }
    }

    func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool {
        try step { state throws(BlobError) in
            guard let file = state.names.removeValue(forKey: name) else { return false }
            state.names[target] = file
            note(.rename(name, target), &state)
            return true
        }
    }

    func remove(_ name: BlobFileName) throws(BlobError) -> UInt64? {
        try step { state throws(BlobError) in
            guard let file = state.names.removeValue(forKey: name) else { return nil }
            note(.remove(name), &state)
            return UInt64(state.files[file].count)
        }
    }

    func syncFolder() throws(BlobError) { try step { state throws(BlobError) in note(.syncFolder, &state) } }

    func names() throws(BlobError) -> [BlobFileName] {
        state.withLock { $0.names.keys.sorted { $0.string < $1.string } }
    }

    var freeBytes: UInt64? { state.withLock(\.freeBytes) }

    // Steps

    fileprivate func step<Value: Sendable>(
        failing: ((inout State) -> Void)? = nil, _ body: (inout State) throws(BlobError) -> Value
    ) throws(BlobError) -> Value {
        try state.withLock { state throws(BlobError) in
            defer { state.attempts += 1 }
            if let fault = state.fault, fault.steps.contains(state.attempts) {
                failing?(&state)
                throw fault.error
            }
            return try body(&state)
        }
    }

    fileprivate func note(_ action: Action, _ state: inout State) {
        state.actions.append((action, databaseOperations()))
    }
}

private final class CrashFile: BlobFile {
    private let file: Int
    private let folder: CrashFolder

    init(_ file: Int, _ folder: CrashFolder) {
        self.file = file
        self.folder = folder
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: UInt64) throws(BlobError) {
        let (bytes, offset) = (Array(bytes), Int(offset))
        func put(_ bytes: [UInt8], _ state: inout CrashFolder.State) {
            folder.note(.write(file, offset: offset, bytes), &state)
            state.files[file].put(bytes, at: offset)
        }
        // A full disk takes the beginning.
        try folder.step(failing: { state in put(Array(bytes.prefix(bytes.count / 2)), &state) }) {
            state throws(BlobError) in put(bytes, &state)
        }
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int {
        folder.state.withLock { state in
            let part = state.files[file].dropFirst(Int(offset)).prefix(target.count)
            target.copyBytes(from: part)
            return part.count
        }
    }

    func sync() throws(BlobError) {
        try folder.step(failing: { [folder, file] state in folder.note(.failedSync(file), &state) }) {
            state throws(BlobError) in
            folder.note(.sync(file), &state)
            state.syncs += 1
        }
    }

    func written(from offset: UInt64) throws(BlobError) -> Range<UInt64>? {
        let end = folder.state.withLock { UInt64($0.files[file].count) }
        return offset < end ? offset..<end : nil
    }
}

extension [UInt8] {
    mutating func put(_ bytes: [UInt8], at offset: Int) {
        if offset + bytes.count > count { self += [UInt8](repeating: 0, count: offset + bytes.count - count) }
        replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
}
