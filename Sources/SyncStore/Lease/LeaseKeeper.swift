package import SyncModel

/// The place where leases are kept: files on tmpfs, or the simulated machine's memory.
package protocol LeaseKeeper: Sendable {
    /// Names this boot of the machine; another after every reboot.
    var bootID: [UInt8] { get }

    /// Opens the lease of `replica`, creating it when `creating`, and locks it for as long as the result lives. Nil when
    /// there is none, another process holds it, or the place does not forget at a reboot.
    func open(_ replica: ReplicaID, creating: Bool) -> (any HeldLease)?
}

/// A lease this process holds locked. Used under the store's write lock only.
package protocol HeldLease: AnyObject, Sendable {
    var record: LeaseRecord? { get }
    /// - Returns: false when it could not be written; what it says then is not to be trusted.
    func replace(_ record: LeaseRecord) -> Bool
    /// Removes it: the next start begins a new incarnation.
    func discard()
    /// Unlocks and leaves it in place.
    func release()
}
