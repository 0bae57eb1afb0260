extension Frame {
    /// "This is what I hold": two digests, and the entries that moved since the last `Have` of this session.
    ///
    /// Its size depends on what moved, never on the store. More entries than `Limits.haveEntries` are said in a row of
    /// frames: each but the last has exactly that many and is not `complete`; the last is `complete` or has fewer.
    package struct Have: Hashable, Sendable {
        package var space: SpaceID
        /// Sum of `ReplicaTip.digestTerm` over all replicas held.
        package var vectorDigest: Sum256
        /// Sorted by replica, each once.
        package var entries: [HaveEntry]
        /// These entries, with those of the frames before in its row, are the whole vector.
        package var complete: Bool
        /// Sum of the items a reader can see; compared only between equal vectors.
        package var stateDigest: Sum256
        /// The digest over the table member → newest signed acknowledgement; nil while none are exchanged.
        package var acknowledgementsDigest: Sum256?

        package init(
            space: SpaceID, vectorDigest: Sum256, entries: [HaveEntry], complete: Bool, stateDigest: Sum256,
            acknowledgementsDigest: Sum256? = nil
        ) {
            self.space = space
            self.vectorDigest = vectorDigest
            self.entries = entries
            self.complete = complete
            self.stateDigest = stateDigest
            self.acknowledgementsDigest = acknowledgementsDigest
        }
    }

    /// The end of what the sender holds of one replica.
    package struct HaveEntry: Hashable, Sendable {
        package var replica: ReplicaID
        /// Greater than 0.
        package var next: UInt64
        package var head: ChainHead

        package init(replica: ReplicaID, next: UInt64, head: ChainHead) {
            self.replica = replica
            self.next = next
            self.head = head
        }
    }
}
