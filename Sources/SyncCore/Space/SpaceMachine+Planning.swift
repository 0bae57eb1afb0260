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

    func nextDeadline(_ step: CoreStep) -> Tick? {
        let up = upPeers.map { peers[$0].id }
        let questions = up.compactMap { forks[$0].question?.deadline }
        return [
            up.compactMap { announcer.dueAt($0) }.min(), questions.min(),
            puller.deadline(at: step.now), receiver.storeRetryAt, sealer.retryAt,
            stability.deadline(isTakingBack: forks.isTakingBack, step), collectionDeadline, compactionDeadline,
            stateSender.nextDeadline(after: step.now), stateDeadlines(step).min(), retirementDeadline,
            eventRetentionDeadline, redoDeadline, forks.lookAt, newcomers.lookAt,
            returning.deadline(at: step.now), presence.deadline,
        ].compactMap(\.self).min()
    }
}
