import SyncModel

// When changes and events may be dropped, for `Compactor` and `EventDropper`.
extension SpaceMachine {
    // MARK: Changes

    /// True if compaction may run. It waits while objects are to be taken whole from others. It waits until what this device
    /// wrote while it was cut is written again, since that is read from the log. It also waits until every member has heard
    /// of every cut: until then a member may write on what is void here, and so keep it, and it has to be there to be done
    /// again.
    private var mayCompact: Bool {
        settings.compacts && !isIncomplete && !hasVoidWork && forks.inquiry == nil
            && cuts.cuts.allSatisfy { stable.covers($0.dot) }
    }

    var compactionDeadline: Tick? { mayCompact ? compactor.deadline : nil }

    mutating func planCompaction(_ step: inout CoreStep) {
        if mayCompact { compactor.plan(stable: stable, &step) }
    }

    /// Handles a user's request for a pass now.
    mutating func handleCompactionAsked(_ step: CoreStep) {
        compactor.handleAsked(at: step.now)
        eventDropper.handleAsked(at: step.now)
    }

    mutating func handleCompacted(firstHeld: VersionVector, isLast: Bool, _ step: CoreStep) {
        log.record(firstHeld: firstHeld)
        compactor.handleCompacted(isLast: isLast, at: step.now)
    }

    mutating func handleCompactFailed() { compactor.handleFailed() }

    // MARK: Events

    /// True if events may be dropped. That waits while this device is away, or is to rewrite what it had written: what every
    /// member has is not known then. Work that waits for a member that may never come back does not hold it up.
    private var mayDropEvents: Bool {
        settings.dropsEvents && !eventDropper.isStepping && !isIncomplete && !hasVoidWork
            && log.mayWrite(settings.own)
            && forks.inquiry == nil && (!forks.hasTakenBack || forks.isRedoWaiting)
    }

    /// The number of the step of dropping events that the store has not answered; nil if none is under way.
    var droppingEventsStep: Int? { eventDropper.openStep }

    var eventRetentionDeadline: Tick? { mayDropEvents ? eventDropper.nextAt : nil }

    mutating func planEventRetention(_ step: inout CoreStep) {
        guard mayDropEvents else { return }
        let isPlanted = settings.faults.contains(.dropUnstableEvents)
        eventDropper.plan(stable: isPlanted ? held.vector() : stable, &step)
    }

    mutating func handleDroppedEvents(hasMore: Bool, _ step: CoreStep) {
        eventDropper.handleDropped(hasMore: hasMore, at: step.now)
    }
}
