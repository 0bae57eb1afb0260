import SyncModel

// What retirement hears of the rest of the space, and what durable cuts change there.
extension SpaceMachine {
    mutating func recordCompleteness(isIncomplete: Bool, _ step: inout CoreStep) {
        guard log.record(isIncomplete: isIncomplete) else { return }
        if isIncomplete { stateReceiver.restart(&step) }
    }

    /// Takes all cuts that are durable.
    mutating func recordCuts(_ cuts: CutTable, _ step: inout CoreStep) {
        log.record(cuts)
        // A role may let work count that waits to be done again, as an admission may.
        forks.recordAdditions()
        reviewOwnRevocation(&step)
        stability.recordMembersChanged()
        trustMembers(&step)
        for index in peers.indices where peers[index].isUp && cuts.isBarred(peers[index].device) {
            let id = peers[index].id
            step.network.bar(id, &step.output)
            handleSessionEnded(id, &step)
        }
        endForksOfBarred(&step)
    }

    mutating func planRetirement(_ step: inout CoreStep) {
        guard !cuts.isEmpty else { return }
        let connected = upPeers.map {
            RetirementMachine.Connected(device: peers[$0].device, tips: peers[$0].peerTips)
        }
        retirement.planReadmissions(log, connected, &step)
        retirement.planFinalizing(log, stability, &step)
        retirement.planRewriting(
            log, stability, mayBegin: !forks.hasTakenBack && !forks.isTakingBack, mayStayOpen: sealer.mayStayOpen,
            &step)
    }

    var retirementDeadline: Tick? { retirement.deadline(mayStayOpen: sealer.mayStayOpen) }

    /// True if changes beyond the end of one of this device's histories are held and were not written again.
    var hasVoidWork: Bool { log.hasVoidWork(of: settings.own) }

    /// True if this device was retired, or took a history back, and not all that it had written counts again. Nothing waits for a
    /// reader's work, nor for work that waits until another device is admitted again.
    var isWritingAgain: Bool {
        let hasWork = hasVoidWork || forks.hasTakenBack && !forks.isRedoWaiting
        return cuts.isAway(settings.own) || hasWork && log.countsWork(of: settings.own)
    }

    mutating func handleRewritten(hasMore: Bool, _ step: CoreStep) {
        retirement.handleRewritten(hasMore: hasMore, log, at: step.now)
    }

    mutating func handleRewriteFailed(_ step: CoreStep) { retirement.handleRewriteFailed(at: step.now) }
}
