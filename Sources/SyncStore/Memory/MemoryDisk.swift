import Synchronization
package import SyncModel

/// The disk of a simulated machine: what a memory store wrote, and how much of it would survive a loss of power.
///
/// Faults are data. Copying a disk costs nothing until one of the two is written to.
package final class MemoryDisk: Sendable {
    struct State: Sendable {
        var contents: MemoryContents
        /// What is synced, when that is not everything.
        var synced: MemoryContents?
        /// Which opening of the disk may still use it; a crash moves it on.
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

    /// A backup, a clone, a disk image: everything as it is now, held by nobody.
    package func copy() -> MemoryDisk { MemoryDisk(copying: state.withLock(\.contents)) }

    /// The machine lost its power: what was not synced is gone, and whoever had the disk open has ended.
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
