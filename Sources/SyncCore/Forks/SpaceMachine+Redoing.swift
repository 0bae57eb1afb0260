import SyncModel

// Doing again under a new replica what was taken back.
extension SpaceMachine {
    var redoDeadline: Tick? { mayRedo ? redoAt : nil }

    /// The time at which reverted work is redone. It waits longer while the history that stays is not whole here: redone work
    /// may be about what comes with that history.
    private var redoAt: Tick {
        forks.awaited.contains { isAwaited($0.replica) }
            ? forks.redoAt + configuration.timing.redoAwaiting : forks.redoAt
    }

    private var mayRedo: Bool {
        forks.hasTakenBack && !forks.isRedoing && membership.signingKey(of: configuration.own) != nil
            && !cuts.isAway(configuration.own)
    }

    mutating func planRedoing(_ step: inout CoreStep) {
        let isDue = forks.isRedoWaiting ? forks.hasAdditions : isCaughtUp && !forks.hasRedoFailed
        guard mayRedo, step.now >= redoAt || isDue, !forks.isTakingBack else { return }
        forks.isRedoing = true
        forks.hasAdditions = false
        step.emit(.redoTakenBack(limit: configuration.bounds.rewritingStepChanges))
    }

    mutating func handleRedone(hasMore: Bool, isWaiting: Bool, _ step: CoreStep) {
        forks.isRedoing = false
        forks.hasRedoFailed = false
        forks.hasTakenBack = hasMore
        forks.isRedoWaiting = isWaiting
        // The wait ends when a member admits this device. Looking again once in a while costs little.
        forks.redoAt = isWaiting ? step.now + configuration.timing.redoAwaiting : step.now
    }

    mutating func handleRedoFailed(_ step: CoreStep) {
        forks.isRedoing = false
        forks.hasRedoFailed = true
        forks.redoAt = step.now + configuration.timing.storeRetry
    }
}
