import SyncModel

// Doing again under a new replica what was taken back.
extension SpaceMachine {
    var redoDeadline: Tick? { mayRedo ? redoAt : nil }

    /// The time at which reverted work is redone. It waits longer while the history that stays is not whole here: redone work
    /// may be about what comes with that history.
    private var redoAt: Tick {
        forks.awaited.contains { isAwaited($0.replica) }
            || forks.coming.contains { held.next(of: $0.replica) < $0.tip.next }
            ? forks.redoAt + settings.timing.redoAwaiting : forks.redoAt
    }

    private var mayRedo: Bool {
        forks.hasTakenBack && !forks.isRedoing && !forks.isTakingBack
            && log.countsWork(of: settings.own)
    }

    mutating func planRedoing(_ step: inout CoreStep) {
        forks.passHold(step.now)
        let isDue = forks.isRedoWaiting ? forks.hasAdditions : isCaughtUp && !forks.hasRedoFailed
        guard mayRedo, step.now >= redoAt || isDue else { return }
        forks.beginRedoing(holdingUntil: step.now + settings.timing.rewritingHold)
        step.emit(.redoTakenBack(limit: settings.bounds.rewritingStepChanges))
    }

    mutating func handleRedone(hasMore: Bool, isWaiting: Bool, _ step: CoreStep) {
        // The wait ends when a member admits this device. Looking again once in a while costs little.
        forks.endRedoing(
            hasMore: hasMore, isWaiting: isWaiting,
            nextAt: isWaiting ? step.now + settings.timing.redoAwaiting : step.now)
    }

    mutating func handleRedoFailed(_ step: CoreStep) {
        forks.failRedoing(retryAt: step.now + settings.timing.storeRetry)
    }
}
