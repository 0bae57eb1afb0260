import SyncModel

/// A peer's claim to hold another history of a replica than is held here, before its author's signature was seen under it.
struct ContestedClaim: Sendable, Equatable {
    let replica: ReplicaID
    /// The tip that the peer claims.
    let tip: ReplicaTip
    /// The head differs from ours at the same end: with a signature the two are a fork.
    let isConflict: Bool
    /// Changes came with it that do not continue what is held here; without a signature the peer altered them.
    var isOffence = false
}

/// The claims that a peer is still to be asked about, in the order of their replicas.
///
/// Bounds: one for each replica that is held here.
struct ContestedClaims: Sendable {
    private var order = SortedReplicas()
    private var claims: [ReplicaID: ContestedClaim] = [:]

    var isEmpty: Bool { claims.isEmpty }

    /// The newest claim of a replica counts; an offence stays one.
    mutating func insert(_ claim: ContestedClaim) {
        guard claims[claim.replica]?.isOffence != true else { return }
        order.insert(claim.replica)
        claims[claim.replica] = claim
    }

    mutating func popFirst() -> ContestedClaim? {
        guard let replica = order.elements.first else { return nil }
        order.remove(replica)
        return claims.removeValue(forKey: replica)
    }
}

/// The question for the signature under a contested claim, as a want of the one operation before its end.
struct ProofQuestion: Sendable, Equatable {
    let wantID: UInt64
    let claim: ContestedClaim
    /// Moves on while bytes come.
    var deadline: Tick
}
