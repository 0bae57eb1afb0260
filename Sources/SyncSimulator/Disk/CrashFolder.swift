import Synchronization
import SyncModel
package import SyncStore

/// A folder of blobs in memory that can lose its power, with the rules of POSIX and no more: bytes are durable after a sync of
/// the file, names after a sync of the folder.
///
/// `disk` is what a loss of power would leave, now. Asked to, it writes down every step besides, and how far the database's
/// disk was by then: from both, the machine can be built as a loss of power at any moment would have left it. Faults are given
/// by the number of the step.
package final class CrashFolder: BlobFiles {
    package enum Action: Sendable {
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

    fileprivate struct Fault {
        var error: BlobError
        var steps: Range<Int>
        /// True if the failure is a death: no process is left to try again, and the failed step leaves no trace.
        var isDeath = false
        /// True if only syncs of files fail.
        var isOfSyncs = false
        /// True until a file has been removed: the fault begins with the step after that.
        var awaitsRemoval = false
    }

    fileprivate struct State {
        var files: [[UInt8]] = []
        var names: [BlobFileName: Int] = [:]
        var disk: FolderReplay
        var actions: [(action: Action, databaseOperations: Int64)] = []
        var attempts = 0
        var failures = 0
        var syncs = 0
        var fault: Fault?
        var freeBytes: UInt64?
    }

    fileprivate let state: Mutex<State>
    private let initial: FolderReplay
    /// Nil: steps are not written down.
    private let databaseOperations: (@Sendable () -> Int64)?

    /// An empty one, whose steps are written down.
    package convenience init(databaseOperations: @escaping @Sendable () -> Int64 = { 0 }) {
        self.init(FolderReplay(), databaseOperations)
    }

    /// Opens a folder as it is found after a loss of power.
    package init(_ found: FolderReplay, _ databaseOperations: (@Sendable () -> Int64)? = { 0 }) {
        initial = found
        self.databaseOperations = databaseOperations
        state = Mutex(State(files: found.files, names: found.names, disk: found))
    }

    // Inspection by tests

    /// Steps so far, each with what the database's disk had done by then.
    package var actions: [(action: Action, databaseOperations: Int64)] { state.withLock(\.actions) }
    /// Steps tried so far, those that failed with them.
    package var attempts: Int { state.withLock(\.attempts) }
    /// Steps that failed so far.
    package var failures: Int { state.withLock(\.failures) }
    /// Syncs of files so far.
    package var syncCount: Int { state.withLock(\.syncs) }
    /// The state at which a replay of `actions` begins.
    package var replay: FolderReplay { initial }
    /// The durable state, and the writes that wait to be durable.
    package var disk: FolderReplay { state.withLock(\.disk) }

    package func fail(_ error: BlobError, at steps: Range<Int>) {
        state.withLock { $0.fault = Fault(error: error, steps: steps) }
    }

    /// Fails each sync of a file from now on, and no other step.
    package func failSyncs(_ error: BlobError) {
        state.withLock { $0.fault = Fault(error: error, steps: $0.attempts..<Int.max, isOfSyncs: true) }
    }

    /// Ends the writing process before this step: neither it nor any later one happens.
    package func die(at step: Int) {
        state.withLock { $0.fault = Fault(error: .inputOutput(code: 5), steps: step..<Int.max, isDeath: true) }
    }

    /// Ends the writing process after the next removal of a file.
    package func dieAfterRemoval() {
        state.withLock {
            $0.fault = Fault(error: .inputOutput(code: 5), steps: 0..<Int.max, isDeath: true, awaitsRemoval: true)
        }
    }

    package func heal() { state.withLock { $0.fault = nil } }

    package func setFreeBytes(_ bytes: UInt64?) { state.withLock { $0.freeBytes = bytes } }

    package func bytes(of name: BlobFileName) -> [UInt8]? {
        state.withLock { state in state.names[name].map { state.files[$0] } }
    }

    /// A bit of it turns over. Nothing happens to a file that is shorter.
    package func rot(_ name: BlobFileName, at offset: Int) {
        state.withLock { state in
            guard let file = state.names[name], offset < state.files[file].count else { return }
            state.files[file][offset] ^= 0x40
            record(.rot(file, offset: offset), &state)
        }
    }

    /// A step that is no file's: what else happens on this machine fails with it, in the order in which it happens.
    package func pass() throws(BlobError) { try step { _ throws(BlobError) in () } }

    // Files

    package func prepare() throws(BlobError) {}

    package func create(_ name: BlobFileName) throws(BlobError) -> any BlobFile {
        try step { state throws(BlobError) in
            state.files.append([])
            let file = state.files.count - 1
            state.names[name] = file
            record(.create(name, file), &state)
            return CrashFile(file, self)
        }
    }

    package func open(_ name: BlobFileName) throws(BlobError) -> (any BlobFile)? {
        state.withLock { state in state.names[name].map { CrashFile($0, self) } }
    }

    package func rename(_ name: BlobFileName, to target: BlobFileName) throws(BlobError) -> Bool {
        try step { state throws(BlobError) in
            guard let file = state.names.removeValue(forKey: name) else { return false }
            state.names[target] = file
            record(.rename(name, target), &state)
            return true
        }
    }

    @discardableResult
    package func remove(_ name: BlobFileName) throws(BlobError) -> UInt64? {
        try step { state throws(BlobError) in
            guard let file = state.names.removeValue(forKey: name) else { return nil }
            record(.remove(name), &state)
            state.fault?.awaitsRemoval = false
            return UInt64(state.files[file].count)
        }
    }

    package func syncFolder() throws(BlobError) { try step { state throws(BlobError) in record(.syncFolder, &state) } }

    package func names() throws(BlobError) -> [BlobFileName] {
        state.withLock { $0.names.keys.sorted { $0.string < $1.string } }
    }

    package var freeBytes: UInt64? { state.withLock(\.freeBytes) }

    // Steps

    fileprivate func step<Value: Sendable>(
        isSync: Bool = false, failing: ((inout State) -> Void)? = nil, _ body: (inout State) throws(BlobError) -> Value
    ) throws(BlobError) -> Value {
        try state.withLock { state throws(BlobError) in
            defer { state.attempts += 1 }
            if let fault = state.fault, fault.steps.contains(state.attempts), !fault.awaitsRemoval,
                isSync || !fault.isOfSyncs
            {
                state.failures += 1
                if !fault.isDeath { failing?(&state) }
                throw fault.error
            }
            return try body(&state)
        }
    }

    fileprivate func record(_ action: Action, _ state: inout State) {
        state.disk.take(action)
        if let databaseOperations { state.actions.append((action, databaseOperations())) }
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
            folder.record(.write(file, offset: offset, bytes), &state)
            state.files[file].put(bytes, at: offset)
        }
        // A full disk takes the beginning.
        try folder.step(failing: { state in put(Array(bytes.prefix(bytes.count / 2)), &state) }) {
            state throws(BlobError) in put(bytes, &state)
        }
    }

    func writeOut(_ range: Range<UInt64>) throws(BlobError) {
        try folder.step(failing: { [folder, file] state in folder.record(.failedSync(file), &state) }) { _ in }
    }

    func read(into target: UnsafeMutableRawBufferPointer, at offset: UInt64) throws(BlobError) -> Int {
        folder.state.withLock { state in
            let part = state.files[file].dropFirst(Int(offset)).prefix(target.count)
            target.copyBytes(from: part)
            return part.count
        }
    }

    func sync() throws(BlobError) {
        try folder.step(isSync: true, failing: { [folder, file] state in folder.record(.failedSync(file), &state) }) {
            state throws(BlobError) in
            folder.record(.sync(file), &state)
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
