package import SyncStore

/// The store of a simulated agent.
package protocol SimulatedStore: ReplicaStore {
    /// The process ends without a word, here and now; later calls throw `.closed`.
    /// - Parameter losingPower: the machine's whole memory goes too, and what was not synced.
    func crash(losingPower: Bool)
}

extension MemoryStore: SimulatedStore {}

extension SQLiteStore: SimulatedStore {
    /// Every commit is synced before it is answered, so that power takes no more than a process does.
    package func crash(losingPower: Bool) { abandon() }
}
