import SyncModel

// Handing state to peers, as far as it depends on the rest of the space: the peers that may have ours.
extension SpaceMachine {
    /// True if this device may hand state over. A reader relays changes, each of which is signed; no peer takes state from
    /// it.
    private var mayHandState: Bool {
        configuration.exchangesState && !isIncomplete && membership[configuration.own]?.fact.role == .writer
    }

    /// Considers an offer of state, after a peer announced what it holds.
    mutating func considerOffer(_ index: Int, _ step: inout CoreStep) {
        let session = peers[index]
        guard stateSender.isSpoken(with: session.id), session.peerTipsAreComplete, mayHandState,
            !session.forks.isDue, !disputesOurs(session)
        else { return }
        let lacking = held.operations(beyond: session.peerTips)
        guard lacking > 0 else { return }
        stateSender.considerOffer(to: session.id, holding: session.peerTips, lacking: lacking, floor: floor, &step)
    }

    mutating func handleStateRequest(_ index: Int, _ request: Frame.StateRequest, _ step: inout CoreStep) {
        let session = peers[index]
        let mayHand = mayHandState && !disputesOurs(session) && !doubtsOurs(session)
        if let offence = stateSender.handleRequest(request, from: session.id, mayHand: mayHand, &step) {
            refuse(index, offence, &step)
        }
    }

    mutating func handleStateAnswer(_ index: Int, _ answer: Frame.StateAnswer, _ step: inout CoreStep) {
        if let offence = stateSender.handleAnswer(answer, from: peers[index].id, at: step.now) {
            refuse(index, offence, &step)
        }
    }

    /// Returns the first counter held of the replica if the want begins before it; otherwise nil.
    func refusedFrom(_ want: Frame.Want) -> UInt64? {
        let first = firstHeld.next(of: want.replica)
        return want.from < first ? first : nil
    }
}
