package import NIOCore
package import SyncModel
package import SyncStore
import SyncTransport
import Synchronization

/// An agent in parts that follow one another: its keys, its blobs, its database. Made while the agent goes on.
///
/// Calls come one after the other.
package final class AgentBackup: Sendable {
    package enum Step: Sendable {
        case identity(size: Int)
        case blob(BlobName)
        case database(size: UInt64)
        case bytes(ByteBuffer)
    }

    package let estimatedBytes: UInt64
    package let schemaVersion: Int
    private let thread: BlobThread
    private let damaged: @Sendable (BlobName) -> Void
    private let ended: @Sendable () -> Void
    private let state: Mutex<State>

    private struct State {
        var backup: StoreBackup?
        /// The keys, until they were handed over.
        var identity: [UInt8]?
        var isIdentityNamed = false
        var leftOut: [BlobName] = []
    }

    fileprivate init(
        _ backup: sending StoreBackup, identity: [UInt8], thread: BlobThread,
        damaged: @escaping @Sendable (BlobName) -> Void, ended: @escaping @Sendable () -> Void
    ) {
        estimatedBytes = backup.estimatedBytes + UInt64(identity.count)
        schemaVersion = backup.schemaVersion
        self.thread = thread
        self.damaged = damaged
        self.ended = ended
        state = Mutex(State(backup: backup, identity: identity))
    }

    deinit { close() }

    /// The blobs that could not be read; complete behind the last step.
    package var leftOut: [BlobName] { state.withLock(\.leftOut) }

    /// Ends the backup and removes its copy of the database from the disk.
    package func close() {
        let wasOpen = state.withLock { state in
            defer { state.backup = nil }
            state.backup?.close()
            return state.backup != nil
        }
        if wasOpen { ended() }
    }

    /// - Returns: nil behind the last.
    /// - Throws: `store`, `diskFull`.
    package func next() async throws(BlobError) -> Step? {
        let step = try await thread.run { [self] () throws(BlobError) in try read() }
        if step == nil { close() }
        return step
    }

    private func read() throws(BlobError) -> Step? {
        try state.withLock { state throws(BlobError) in
            if let identity = state.identity {
                guard state.isIdentityNamed else {
                    state.isIdentityNamed = true
                    return .identity(size: identity.count)
                }
                state.identity = nil
                return .bytes(ByteBuffer(bytes: identity))
            }
            guard let backup = state.backup else { throw .store(.closed) }
            let step = try backup.next()
            if backup.leftOut.count > state.leftOut.count {
                backup.leftOut[state.leftOut.count...].forEach(damaged)
                state.leftOut = backup.leftOut
            }
            switch step {
            case nil: return nil
            case .blob(let blob)?: return .blob(blob)
            case .database(let size)?: return .database(size: size)
            case .bytes(let bytes)?: return .bytes(ByteBuffer(bytes: bytes))
            }
        }
    }
}

/// The lock of the running backup: each needs the room of the database, so there is one at a time.
final class BackupTurn: Sendable {
    private let isTaken = Mutex(false)

    func take() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    func giveBack() { isTaken.withLock { $0 = false } }
}

/// A flag that stops the copy of the database.
private final class Stopping: Sendable {
    private let flag = Atomic(false)

    var isAsked: Bool { flag.load(ordering: .relaxed) }

    func ask() { flag.store(true, ordering: .relaxed) }
}

extension Agent {
    /// Begins a backup: all that was acknowledged before is in it. Ends early with its task.
    ///
    /// - Returns: nil while another is being made.
    /// - Throws: `BlobError`, or `IdentityError` where the keys cannot be read.
    package func beginBackup() async throws -> AgentBackup? {
        guard backupTurn.take() else { return nil }
        do {
            let identity = try DeviceIdentity.fileBytes(in: configuration.dataDirectory)
            let thread = BlobThread()
            let (attachments, stopping) = (attachments, Stopping())
            return try await withTaskCancellationHandler {
                try await thread.run { [backupTurn] () throws(BlobError) in
                    AgentBackup(
                        try StoreBackup(attachments.blobs, isStopped: { stopping.isAsked }), identity: identity,
                        thread: thread, damaged: { attachments.handleUnreadable($0) },
                        ended: { backupTurn.giveBack() })
                }
            } onCancel: {
                stopping.ask()
            }
        } catch {
            backupTurn.giveBack()
            throw error
        }
    }
}
