package import SyncModel
package import SyncStore
import Synchronization

/// The leases of one simulated machine: they outlive its processes and not its boots.
package final class MemoryLeases: LeaseKeeper {
    private struct Contents {
        var boot: UInt64 = 0
        var records: [ReplicaID: LeaseRecord] = [:]
        /// Locked by a living process.
        var held: Set<ReplicaID> = []
    }

    private let contents = Mutex(Contents())

    package init() {}

    /// The machine starts anew: everything here is gone, and no process is left to hold a lock.
    package func reboot() {
        contents.withLock { contents in
            contents.boot += 1
            contents.records = [:]
            contents.held = []
        }
    }

    package var bootID: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(bigEndian: contents.withLock(\.boot))
        return bytes
    }

    package func open(_ replica: ReplicaID, creating: Bool) -> (any HeldLease)? {
        let opened = contents.withLock { contents in
            guard creating || contents.records[replica] != nil else { return false }
            return contents.held.insert(replica).inserted
        }
        return opened ? MemoryLease(leases: self, replica: replica) : nil
    }

    fileprivate func record(of replica: ReplicaID) -> LeaseRecord? { contents.withLock { $0.records[replica] } }

    fileprivate func keep(_ record: LeaseRecord?, for replica: ReplicaID) {
        contents.withLock { $0.records[replica] = record }
    }

    fileprivate func unlock(_ replica: ReplicaID) { contents.withLock { _ = $0.held.remove(replica) } }
}

private final class MemoryLease: HeldLease {
    private let leases: MemoryLeases
    private let replica: ReplicaID

    init(leases: MemoryLeases, replica: ReplicaID) {
        self.leases = leases
        self.replica = replica
    }

    var record: LeaseRecord? { leases.record(of: replica) }

    func replace(_ record: LeaseRecord) -> Bool {
        leases.keep(record, for: replica)
        return true
    }

    func discard() {
        leases.keep(nil, for: replica)
        leases.unlock(replica)
    }

    func release() { leases.unlock(replica) }
}
