/// What the first change of each replica named.
///
/// A device begins a replica with every boot, and what it knows then is nearly what it knew the time before. So the first change
/// of a replica names only what the first changes of its device's other replicas, which it names too, do not say already
/// (PROTOCOL.md, "Change"): a thousand replicas of a device cost a thousand entries, not a million.
package struct FirstContexts: Sendable, Equatable {
    /// None for a replica whose first change named nobody.
    private var named: [ReplicaID: VersionVector] = [:]
    /// Replicas of which that was said by somebody who handed over a state, and is signed by nobody.
    private var hearsay: Set<ReplicaID> = []

    package init() {}

    /// What it named itself.
    package func context(of replica: ReplicaID) -> VersionVector { named[replica] ?? VersionVector() }

    package func isHearsay(_ replica: ReplicaID) -> Bool { hearsay.contains(replica) }

    package mutating func note(_ context: VersionVector, of replica: ReplicaID, isHearsay: Bool = false) {
        named[replica] = context.isEmpty ? nil : context
        if isHearsay { hearsay.insert(replica) } else { hearsay.remove(replica) }
    }

    /// What its author had seen before it, beyond what any of its changes names.
    package func inherited(by replica: ReplicaID) -> VersionVector {
        let before = context(of: replica).entries.lazy.map(\.replica)
        return seen(atFirstOf: before.filter { $0.device == replica.device && $0 != replica }) { _ in true }
    }

    /// What the next replica of a device need not name, which holds these of its own. Of what is hearsay nothing: whoever knows
    /// better would take it to have seen less than it had; to name more than is needed changes nothing.
    package func said(by replicas: some Sequence<ReplicaID>) -> VersionVector {
        seen(atFirstOf: replicas) { !hearsay.contains($0) }
    }

    /// Of bytes that a peer made up the chain may lead in a circle.
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
