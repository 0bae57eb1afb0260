/// The context that the first change of each replica named.
///
/// A device begins a replica with every boot, and what it knows then is nearly what it knew the time before. So the first
/// change of a replica names only what the first changes of its device's other replicas, which it names too, do not say
/// already (PROTOCOL.md, "Change"): a thousand replicas of a device cost a thousand entries, not a million.
package struct FirstContexts: Sendable, Equatable {
    /// The contexts by replica. A replica whose first change named no other replica has no entry.
    private var named: [ReplicaID: VersionVector] = [:]
    /// The replicas whose context came with a state from a peer, without a signature over it.
    private var hearsay: Set<ReplicaID> = []

    package init() {}

    /// Returns the context that the replica's first change named itself.
    package func context(of replica: ReplicaID) -> VersionVector { named[replica] ?? VersionVector() }

    package func isHearsay(_ replica: ReplicaID) -> Bool { hearsay.contains(replica) }

    package mutating func record(_ context: VersionVector, of replica: ReplicaID, isHearsay: Bool = false) {
        named[replica] = context.isEmpty ? nil : context
        if isHearsay { hearsay.insert(replica) } else { hearsay.remove(replica) }
    }

    /// Returns the vector that the replica's author had seen before its first change, beyond what its changes name.
    package func inherited(by replica: ReplicaID) -> VersionVector {
        let before = context(of: replica).entries.lazy.map(\.replica)
        return seen(atFirstOf: before.filter { $0.device == replica.device && $0 != replica }) { _ in true }
    }

    /// Returns the vector that the next replica of a device, which holds these replicas of its own, need not name.
    ///
    /// Contexts known by hearsay are left out. A peer that knows better would take the replica to have seen less than it had.
    /// Naming more than needed changes nothing.
    package func said(by replicas: some Sequence<ReplicaID>) -> VersionVector {
        seen(atFirstOf: replicas) { !hearsay.contains($0) }
    }

    /// Returns the vector named at the first changes of these replicas, and of the replicas of the same device that they
    /// name. It also ends where bytes that a peer made up form a circle.
    private func seen(
        atFirstOf replicas: some Sequence<ReplicaID>, _ counts: (ReplicaID) -> Bool
    ) -> VersionVector {
        var open = Array(replicas)
        var taken = Set(open)
        var entries: [VersionVector.Entry] = []
        while let replica = open.popLast() {
            guard counts(replica), let context = named[replica] else { continue }
            entries += context.entries
            for entry in context.entries
            where entry.replica.device == replica.device && taken.insert(entry.replica).inserted {
                open.append(entry.replica)
            }
        }
        return VersionVector(entries)
    }
}
