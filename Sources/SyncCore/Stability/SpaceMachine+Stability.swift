import SyncModel

// What stability and the collecting of deletions hear of the rest of the space.
extension SpaceMachine {
    /// The vector that a counted acknowledgement of every member covers: every operation still to come knows all of it.
    var stable: VersionVector { stability.stable }

    mutating func planStability(_ step: inout CoreStep) {
        stability.plan(log, isTakingBack: forks.isTakingBack, &step)
        guard settings.collectsDeletions, !isIncomplete, !forks.isTakingBack else { return }
        collector.plan(stable: stable, mayStep: !sealer.mayStayOpen, &step)
    }

    /// The time of the next step of collection; nil while it has to wait for something else.
    var collectionDeadline: Tick? {
        sealer.mayStayOpen || isIncomplete || forks.isTakingBack ? nil : collector.dueAt
    }

    mutating func handleAcknowledged(_ signed: SignedAcknowledgement, _ step: inout CoreStep) {
        stability.handleAcknowledged(signed, log, &step)
    }

    mutating func handleAcknowledgeFailed(_ step: CoreStep) { stability.handleAcknowledgeFailed(at: step.now) }

    mutating func handleHeads(_ id: ReadID, _ heads: [ChainHead?], _ step: inout CoreStep) {
        if handleCompared(id, heads, &step) { return }
        stability.handleHeads(id, heads)
    }

    mutating func handleCollected(next: Dot?, hasForgotten: Bool, _ step: CoreStep) {
        guard let vector = collector.handleCollected(next: next, at: step.now) else { return }
        // As the store has raised its own: from now on, not only from the next start.
        if hasForgotten { log.recordForgotten(upTo: vector) }
    }

    mutating func handleCollectFailed(_ step: CoreStep) { collector.handleFailed(at: step.now) }
}

extension TipTable {
    func vector(besides left: [ReplicaID] = []) -> VersionVector {
        VersionVector(
            entries.lazy.filter { !left.contains($0.replica) }.map {
                VersionVector.Entry(replica: $0.replica, next: $0.tip.next)
            })
    }
}
