/// The choice among several snapshots of one stream, order and schema version: which serve a reader, and which may be
/// removed.
///
/// A candidate is its vector and its key in the one order of all nodes (stamp and dot of the attachment). So nodes that know
/// the same snapshots decide alike. Nodes that know different ones never remove each other's in a circle: a snapshot is only
/// removed in favour of newer ones.
package enum SnapshotChoice {
    package struct Candidate: Hashable, Sendable {
        /// Greater is newer.
        package let key: CanonicalKey
        package let vector: VersionVector

        package init(key: CanonicalKey, vector: VersionVector) {
            self.key = key
            self.vector = vector
        }
    }

    /// The places of the candidates, best first: whatever leaves out events that another one holds comes behind it, and
    /// else the newest comes first.
    package static func ranked(_ candidates: [Candidate]) -> [Int] {
        var left = candidates.indices.sorted { candidates[$0].key > candidates[$1].key }
        var ranked: [Int] = []
        while !left.isEmpty {
            let best = left.firstIndex { index in
                !left.contains { candidates[$0].vector.relation(to: candidates[index].vector) == .after }
            }
            ranked.append(left.remove(at: best ?? 0))
        }
        return ranked
    }

    /// The places of those that need not be kept: not among the `count` newest, and without an event that none of the kept
    /// newer ones holds.
    ///
    /// ```
    /// "the newest three"    A and B save apart, A three times. The three of A are the newest; none has what B had read
    ///                       when it saved, so a reader who restores one of them, on a node where the events of B were let
    ///                       go by then, would never have them
    /// ```
    package static func superfluous(_ candidates: [Candidate], keepingNewest count: Int) -> [Int] {
        var kept = VersionVector()
        var superfluous: [Int] = []
        for (rank, index) in candidates.indices.sorted(by: { candidates[$0].key > candidates[$1].key }).enumerated() {
            if rank >= count, kept.covers(candidates[index].vector) {
                superfluous.append(index)
            } else {
                kept.join(candidates[index].vector)
            }
        }
        return superfluous
    }
}
