import SyncModel

// What a space looks at in every step, whatever the input was: no input has to remember to start any of it.
extension SpaceMachine {
    mutating func handleAppended(_ change: StoreChange, _ step: inout CoreStep) {
        // With what is done again may have come what others wrote, and may come from them as well.
        receiver.drop(change.segments.map(\.segment.replica).filter { $0.device != settings.own })
        recordWritten(change)
        handleDurable(change, &step)
    }

    mutating func handleSealed(_ change: StoreChange, _ step: inout CoreStep) {
        sealer.handleSealed()
        recordWritten(change)
        if !change.segments.isEmpty { handleDurable(change, &step) }
    }

    mutating func handleSealFailed(_ code: String, _ step: inout CoreStep) {
        sealer.handleSealFailed(code, retryAfter: settings.timing.storeRetry, &step)
    }

    mutating func start(_ step: inout CoreStep) {
        trustMembers(&step)
        sealer.plan(&step)
    }

    mutating func plan(_ step: inout CoreStep) {
        persistReady(&step)
        releaseHeldBack(&step)
        planForks(&step)
        planProofs(&step)
        planState(&step)
        planPulls(&step)
        pumpServes(&step)
        stateSender.pump(&step)
        sealer.plan(&step)
        planStability(&step)
        planCompaction(&step)
        planEventRetention(&step)
        planRetirement(&step)
        // Last, so that changes are sent before it.
        presence.plan(log, &step)
    }

    /// Handles what is due with one peer.
    mutating func passDeadline(of id: ConnectionID, _ step: inout CoreStep) {
        guard let index = peerIndex(id), peers[index].isUp else { return }
        if let due = announcer.dueAt(id), step.now >= due { sendDueHave(index, &step) }
    }

    mutating func passDeadlines(_ step: inout CoreStep) {
        passPullDeadlines(&step)
        receiver.passDeadline(at: step.now)
        presence.passDeadline(at: step.now)
    }

    /// Asked for behind every step, so it makes no arrays of its own.
    func nextDeadline(_ step: CoreStep) -> Tick? {
        var next: Tick?
        for peer in peers where peer.isUp {
            next.bringForward(to: announcer.dueAt(peer.id))
            next.bringForward(to: forks[peer.id].question?.deadline)
            next.bringForward(to: stateReceiver.pausedUntil(peer.id, at: step.now))
        }
        next.bringForward(to: puller.deadline(at: step.now))
        next.bringForward(to: receiver.storeRetryAt)
        next.bringForward(to: sealer.retryAt)
        next.bringForward(to: stability.deadline(isTakingBack: forks.isTakingBack, step))
        next.bringForward(to: collectionDeadline)
        next.bringForward(to: compactionDeadline)
        next.bringForward(to: stateSender.nextDeadline(after: step.now))
        next.bringForward(to: stateReceiver.deadline)
        next.bringForward(to: retirementDeadline)
        next.bringForward(to: eventRetentionDeadline)
        next.bringForward(to: redoDeadline)
        next.bringForward(to: forks.lookAt)
        next.bringForward(to: newcomers.lookAt)
        next.bringForward(to: returning.deadline(at: step.now))
        next.bringForward(to: presence.deadline)
        return next
    }
}
