import SyncModel

// Doing again under a new replica what was taken back.
extension AgentCore {
    var redoDeadline: Tick? { mayRedo ? redoAt : nil }

    /// Not long before what stays is whole: what was done then may be about what comes with that.
    private var redoAt: Tick {
        forks.awaited.contains { isAwaited($0.replica) }
            ? forks.redoAt + configuration.timing.redoAwaiting : forks.redoAt
    }

    private var mayRedo: Bool {
        forks.hasTakenBack && !forks.isRedoing && membership.signingKey(of: configuration.own) != nil
            && !cuts.isAway(configuration.own)
    }

    mutating func planRedoing() {
        let isDue = forks.isRedoWaiting ? forks.hasAdditions : isCaughtUp && !forks.hasRedoFailed
        guard mayRedo, now >= redoAt || isDue, !forks.isTakingBack else { return }
        forks.isRedoing = true
        forks.hasAdditions = false
        effects.append(.redoTakenBack(limit: configuration.bounds.rewritingStepChanges))
    }

    mutating func noteRedone(hasMore: Bool, isWaiting: Bool) {
        forks.isRedoing = false
        forks.hasRedoFailed = false
        forks.hasTakenBack = hasMore
        forks.isRedoWaiting = isWaiting
        // Only whoever lets it in ends that; looking again once in a while costs little.
        forks.redoAt = isWaiting ? now + configuration.timing.redoAwaiting : now
    }

    mutating func noteRedoFailed() {
        forks.isRedoing = false
        forks.hasRedoFailed = true
        forks.redoAt = now + configuration.timing.storeRetry
    }
}
