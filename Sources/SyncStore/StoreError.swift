package import SyncModel

/// Every refusal of a store. Reads go on after `diskFull`; nothing acknowledged is lost by any of them.
package enum StoreError: Error, Hashable, Sendable {
    /// The disk is full (SQLITE_FULL, ENOSPC, quota). Retried when the next write or probe comes.
    case diskFull
    /// The disk reported an error; after a failed sync the connection is reopened before anything else is written.
    case inputOutput(code: Int32)
    /// The file is no database any more, or a check of its structure failed.
    case corrupt(detail: String)
    /// Written by a newer version of this program: its schema number and ours.
    case schemaNewer(found: Int, known: Int)
    /// Another agent holds the lock; its process id when the lock file tells it.
    case locked(processID: Int32?)
    /// The directory or a file in it cannot be read or written: path and errno.
    case unreadable(path: String, code: Int32)
    /// A segment that does not begin at the tip, or whose context is not covered, or a step of collection while own
    /// changes are open: a bug of the caller, or asked too early.
    case notApplicable(ReplicaID, at: UInt64)
    /// Stamps are used up: a member's clock is forged to the end of time.
    case stampsExhausted
    /// The newest changes of the replica are not signed, and the keys given are another device's.
    case foreignTail(ReplicaID)
    /// The state delta is not whole, or contradicts itself or the store: no part of it was joined.
    case refused(StateDeltaError)
    /// This device was retired, and has not been admitted again: its writes would count nowhere.
    case retired
    case closed
}
