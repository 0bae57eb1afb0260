import SyncModel

/// The progress of dropping events: `idle` → `stepping` → `idle`, or at once another step.
struct EventRetention: Sendable {
    /// The time at which the store is asked next; nil before the first step of the core.
    var nextAt: Tick?
    var isStepping = false
    /// The number of times the store was asked since the core began.
    var steps = 0
}

// Events that the retention of their streams lets go. The store knows which are old enough; the core knows what every member
// has acknowledged, and when to look.
extension SpaceMachine {
    /// True if events may be dropped. That waits while this device is away, or is to rewrite what it had written: what every
    /// member has is not known then. Work that waits for a member that may never come back does not hold it up.
    private var mayDropEvents: Bool {
        configuration.dropsEvents && !eventRetention.isStepping && !isIncomplete && !hasVoidWork
            && membership.signingKey(of: configuration.own) != nil && !cuts.isAway(configuration.own)
            && forks.inquiry == nil && (!forks.hasTakenBack || forks.isRedoWaiting)
    }

    /// The number of the step of dropping events that the store has not answered; nil if none is under way.
    var droppingEventsStep: Int? { eventRetention.isStepping ? eventRetention.steps : nil }

    var eventRetentionDeadline: Tick? { mayDropEvents ? eventRetention.nextAt : nil }

    mutating func planEventRetention(_ step: inout CoreStep) {
        guard mayDropEvents else { return }
        let nextAt = eventRetention.nextAt ?? step.now + configuration.timing.dropEventsEvery
        eventRetention.nextAt = nextAt
        guard step.now >= nextAt else { return }
        eventRetention.nextAt = step.now + configuration.timing.dropEventsEvery
        let isPlanted = configuration.faults.contains(.dropUnstableEvents)
        let stable =
            isPlanted ? VersionVector(held.entries.map { .init(replica: $0.replica, next: $0.tip.next) }) : stable
        guard !stable.isEmpty else { return }
        eventRetention.isStepping = true
        eventRetention.steps += 1
        step.emit(.dropEvents(stable: stable))
    }

    mutating func handleDroppedEvents(hasMore: Bool, _ step: CoreStep) {
        eventRetention.isStepping = false
        if hasMore { eventRetention.nextAt = step.now + configuration.timing.collectionPause }
    }
}
