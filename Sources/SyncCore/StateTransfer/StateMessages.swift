package import SyncModel

/// A state that is taken from a peer, or handed to one.
package struct StateID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// The effects about states; each but `discard` and `close` is answered by a `StateInput` with the same id.
package enum StateEffect: Sendable, Equatable {
    // Taking one

    /// Begin a staging, or go on with the one that is there, unless a history of the sender parts from ours; `begun`, `refused` or `failed`.
    case begin(StateID, claims: [ReplicaID: ChainEnd])
    /// Stage these items durably; `staged`, `refused` or `failed`.
    case stage(StateID, [[UInt8]])
    /// Look up which of these are staged with the same content; `lookedUp` or `failed`.
    case lookUp(StateID, [StateAnnouncement])
    /// The stream is staged to its end: what it says of members and histories; `reviewed` or `failed`.
    case review(StateID)
    /// Take all of it in, in one transaction; `joined`, `refused` or `failed`.
    case join(StateID)
    /// Forget what is staged.
    case discard

    // Handing one over

    /// Weigh the cost of state against changes for a peer that holds this much; `weighed` or `failed`.
    case weigh(StateID, since: VersionVector)
    /// Begin to read what is held now, unless it contradicts a claim of the receiver; `opened`, `refused` or `failed`.
    case open(
        StateID, since: VersionVector, stagedEvents: VersionVector, asks: Bool, claims: [ReplicaID: ChainEnd])
    /// Read about so many bytes more. `staged` answers what the last chunk asked. `chunkRead` or `failed`.
    case read(StateID, bytes: Int, staged: [Bool])
    case close(StateID)
}

/// The inputs about states, in the past tense.
package enum StateInput: Sendable, Equatable {
    case begun(StateID, since: VersionVector, stagedEvents: VersionVector, hasObjects: Bool)
    /// Items are staged. `isComplete`: the closing item was among them, and fits.
    case staged(StateID, isComplete: Bool)
    case lookedUp(StateID, [Bool])
    /// `trust`: what the state says of roles.
    case reviewed(StateID, facts: [StateFact], tips: [StateTip], trust: TrustTable)
    case joined(StateID, JoinedState)
    /// The state that the peer sent cannot be taken: nothing of it is shown, and the store is as before.
    case refused(StateID, StateDeltaError)
    /// Our own store failed.
    case failed(StateID, code: String)

    case weighed(StateID, StateWeight)
    case opened(StateID, vector: VersionVector)
    case chunkRead(StateID, StateChunk)
}

/// The store's contents after a state is joined.
package struct JoinedState: Sendable, Equatable {
    /// The tip of every replica.
    package var tips: [TipTable.Entry]
    package var firstHeld: VersionVector
    package var floor: VersionVector
    /// The members that came with it, the digest, and the changes of our own that were sealed meanwhile.
    package var change: StoreChange

    package init(tips: [TipTable.Entry], firstHeld: VersionVector, floor: VersionVector, change: StoreChange) {
        self.tips = tips
        self.firstHeld = firstHeld
        self.floor = floor
        self.change = change
    }
}
