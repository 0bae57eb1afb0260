import SyncModel

/// A pass of compaction: `idle` → `due` → `stepping` → `due` … → `idle`.
struct Compaction: Sendable {
    var progress = Progress.idle
    /// The time at which the next pass begins by itself; nil before the first step of the core.
    var nextAt: Tick?
    /// The time at which the current step, or the last one, was asked for.
    var steppedAt = Tick(nanoseconds: 0)
    /// True if something was written since the step before.
    var hasCompany = false

    enum Progress: Sendable, Equatable {
        case idle
        /// The next step waits its turn, so that local writes find the store free.
        case due(at: Tick, VersionVector)
        case stepping(VersionVector)
    }
}

// Dropping changes that every member has. The store knows which of them are old enough, and where they may be cut; the core
// knows what is stable, when to begin, and tells peers from where on changes are held.
extension SpaceMachine {
    /// True if compaction may run. It waits while objects are to be taken whole from others. It waits until what this device
    /// wrote while it was cut is written again, since that is read from the log. It also waits until every member has heard
    /// of every cut: until then a member may write on what is void here, and so keep it, and it has to be there to be done
    /// again.
    private var mayCompact: Bool {
        configuration.compacts && !isIncomplete && !hasVoidWork && forks.inquiry == nil
            && cuts.cuts.allSatisfy { stable.covers($0.dot) }
    }

    var compactionDeadline: Tick? {
        guard mayCompact else { return nil }
        switch compaction.progress {
        case .idle: return compaction.nextAt
        case .due(let at, _): return at
        case .stepping: return nil
        }
    }

    mutating func planCompaction(_ step: inout CoreStep) {
        guard mayCompact else { return }
        let nextAt = compaction.nextAt ?? step.now + configuration.timing.compactAfter
        compaction.nextAt = nextAt
        if case .idle = compaction.progress, step.now >= nextAt {
            compaction.nextAt = step.now + configuration.timing.compactEvery
            if !stable.isEmpty { compaction.progress = .due(at: step.now, stable) }
        }
        guard case .due(let at, let vector) = compaction.progress, step.now >= at else { return }
        compaction.progress = .stepping(vector)
        compaction.steppedAt = step.now
        step.emit(.compact(upTo: vector))
    }

    /// Handles a user's request for a pass now. A pass under way goes on; what it leaves takes the next one.
    mutating func handleCompactionAsked(_ step: CoreStep) {
        compaction.nextAt = step.now
        eventRetention.nextAt = step.now
    }

    /// Handles a durable step. Beside writes the next step waits four times as long as this one took, so that a long pass
    /// costs them a fifth of the store's time. The wait is at most five seconds, for a machine that slept meanwhile. Without
    /// writes it is a moment, for a writer that begins.
    mutating func handleCompacted(firstHeld: VersionVector, isLast: Bool, _ step: CoreStep) {
        log.record(firstHeld: firstHeld)
        guard case .stepping(let vector) = compaction.progress else { return }
        let took = Tick.Span(nanoseconds: min((step.now - compaction.steppedAt).nanoseconds, 1_250_000_000))
        let rest = compaction.hasCompany ? Tick.Span(nanoseconds: took.nanoseconds * 4) : took
        compaction.hasCompany = false
        compaction.progress =
            isLast ? .idle : .due(at: step.now + max(rest, configuration.timing.collectionPause), vector)
    }

    /// Ends the pass. No change is half done; the next pass finds what is left.
    mutating func handleCompactFailed() { compaction.progress = .idle }
}
