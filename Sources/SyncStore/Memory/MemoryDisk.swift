import Synchronization
package import SyncModel

/// The disk of a simulated machine: what a memory store wrote, and how much of it would survive a loss of power.
///
/// Faults are data. Copying a disk costs nothing until one of the two is written to.
package final class MemoryDisk: Sendable {
    struct State: Sendable {
        var contents: MemoryContents
        /// The synced contents, if they differ from `contents`.
        var synced: MemoryContents?
        /// The number of the opening that may use the disk; a crash increments it.
        var generation = 0
        var isOpen = false
        var failure: (error: StoreError, writesLeft: Int)?
    }

    let state: Mutex<State>

    package init(space: SpaceID = .home) {
        state = Mutex(State(contents: MemoryContents(space: space)))
    }

    private init(copying contents: MemoryContents) {
        state = Mutex(State(contents: contents))
    }

    /// Returns a copy with everything as it is now, and no lease: a backup, a clone, a disk image.
    package func copy() -> MemoryDisk { MemoryDisk(copying: state.withLock(\.contents)) }

    /// Simulates a loss of power: what was not synced is gone, and processes that had the disk open have ended.
    package func losePower() {
        state.withLock { state in
            if let synced = state.synced { state.contents = synced }
            state.synced = nil
            state.isOpen = false
            state.generation += 1
        }
    }

    /// The process was killed: what it wrote stays, synced or not.
    package func loseProcess() {
        state.withLock { state in
            state.isOpen = false
            state.generation += 1
        }
    }

    /// The next `count` writes fail with `error` (`.diskFull` or `.inputOutput`) and leave nothing behind.
    package func failNextWrites(_ error: StoreError, count: Int = 1) {
        state.withLock { $0.failure = count > 0 ? (error, count) : nil }
    }
}
