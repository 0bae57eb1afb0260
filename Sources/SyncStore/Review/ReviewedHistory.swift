import SyncModel

/// The part of one history of a device that counts nowhere, and that a person may look at.
struct ReviewedHistory {
    let replica: ReplicaID
    /// The first counter of it.
    let start: UInt64
    /// All operations are void from here on; before it, those on objects.
    let strictEnd: UInt64
    /// Places of work that the device has written again itself.
    private let again: [Rewriting]

    /// Nil if there is nothing.
    ///
    /// It begins where a retirement, a revocation or a lowered role ends the history. What stands again in a history that is void,
    /// too, is shown there; unless the log does not have that.
    init?(_ known: KnownReplica, in state: LogState) {
        replica = known.replica
        strictEnd = state.cuts.strictEnd(of: known.replica) ?? .max
        again = state.cuts.rewritten.filter { place in
            place.old.replica == known.replica
                && (!state.cuts.isVoid(place.new) || state.firstHeld.next(of: place.new.replica) <= place.new.counter)
        }.sorted { $0.old < $1.old }
        var start = state.cuts.end(of: known.replica) ?? .max
        for place in again where place.old.counter <= start { start = max(start, place.old.counter + place.count) }
        self.start = min(start, strictEnd)
        if self.start >= known.tip.next { return nil }
    }

    /// True if the operation on an object is in it.
    func contains(_ counter: UInt64) -> Bool {
        strictEnd <= counter
            || start <= counter
                && !again.contains { $0.old.counter <= counter && counter < $0.old.counter + $0.count }
    }
}
