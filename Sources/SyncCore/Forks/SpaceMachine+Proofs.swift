import SyncModel

// A fork counts once two ends that its author signed contradict each other. A claim alone makes the peer be asked for the
// signature, one question at a time, and holds up nothing meanwhile: else one member's word would stop what all others take of
// a history.
extension SpaceMachine {
    /// Asks the peer for the signature under its claim. An author's claim of its own history needs none.
    mutating func contest(_ index: Int, _ claim: ContestedClaim, _ step: inout CoreStep) {
        let device = peers[index].device
        let isBelieved = settings.faults.contains(.believeClaimedHeads)
        if claim.isConflict, isBelieved || claim.replica.device == device && !claim.isOffence {
            return recordFork(claim.replica, seenFrom: device, &step)
        }
        forks.contest(claim, on: peers[index].id)
    }

    mutating func planProofs(_ step: inout CoreStep) {
        // Mostly none: this runs in every step.
        let asked = peers.compactMap { $0.isUp && forks[$0.id].isInQuestion ? $0.id : nil }
        for id in asked {
            if let index = peerIndex(id), let question = forks[peers[index].id].question, step.now >= question.deadline
            {
                send(index, .credit(Frame.Credit(wantID: question.wantID, bytes: 0, cancel: true)), &step)
                dropQuestion(index, &step)
            }
            guard let index = peerIndex(id), peers[index].isUp, forks[peers[index].id].question == nil
            else { continue }
            askForProof(index, &step)
        }
    }

    private mutating func askForProof(_ index: Int, _ step: inout CoreStep) {
        while let claim = forks.nextContested(on: peers[index].id) {
            if forks[peers[index].id].unproven[claim.replica]?.isSamePlace(as: claim.tip) ?? false {
                if claim.isOffence { return refuse(index, .badSegment, detail: "history", &step) }
                continue
            }
            // Reported since; and at the beginning all histories are one.
            guard !forks.isForked(claim.replica) || claim.isOffence, claim.tip.next > 0 else { continue }
            let wantID = step.nextID()
            forks.setQuestion(
                ProofQuestion(wantID: wantID, claim: claim, deadline: step.now + settings.timing.proofWait),
                on: peers[index].id)
            step.counters.wantsSent += 1
            let want = Frame.Want(
                id: wantID, space: space, replica: claim.replica, from: claim.tip.next - 1, to: claim.tip.next,
                creditBytes: UInt64(Limits.segmentBytes))
            return send(index, .want(want), &step)
        }
    }

    /// Handles bytes of the answer.
    mutating func recordProofProgress(_ index: Int, _ wantID: UInt64, _ step: CoreStep) {
        guard forks[peers[index].id].question?.wantID == wantID else { return }
        forks.extendQuestion(until: step.now + settings.timing.proofWait, on: peers[index].id)
    }

    /// True if the changes answer the question for a signature.
    func isProof(_ index: Int, _ changes: Frame.Changes) -> Bool {
        forks[peers[index].id].question?.wantID == changes.wantID
    }

    /// Checks a segment of the answer to a question: the signature under the claimed head proves that its author signed that
    /// head, whatever the bytes are.
    mutating func checkProof(_ index: Int, _ segment: Segment, _ step: inout CoreStep) {
        guard let claim = forks[peers[index].id].question?.claim, claim.replica == segment.replica,
            isSigned(segment, as: claim.tip)
        else { return }
        forks.setQuestion(nil, on: peers[index].id)
        let device = peers[index].device
        // What an author shows of its own history is no offence of a relay.
        if claim.isConflict || claim.replica.device == device {
            return recordFork(claim.replica, seenFrom: device, &step)
        }
        guard claim.isOffence else { return }
        if claim.replica.device == settings.own, claim.tip.next > held.next(of: claim.replica) {
            // Our key signed what this disk does not hold. A peer that alters bytes of it looks the same, but not for long.
            step.emit(.closeIncarnation(claim.replica))
            if forks.recordUnfitOwn() >= Self.unfitLimit { recordFork(claim.replica, seenFrom: device, &step) }
        }
        refuse(index, .badSegment, detail: "history", &step)
    }

    private static var unfitLimit: Int { 3 }

    /// Handles the end of the answer to a question.
    ///
    /// A peer that holds the place as state alone has no signature to show. Its claim about another device holds nothing up: two
    /// that differ in this way say so, and the author decides when it comes. A claim about our own history is believed, a few times
    /// in a run: a disk that was put back must not write on under a history that others hold otherwise.
    mutating func endProof(_ index: Int, _ wantID: UInt64, firstHeld: UInt64, _ step: inout CoreStep) {
        guard let question = forks[peers[index].id].question, question.wantID == wantID else { return }
        let claim = question.claim
        if claim.isConflict, !claim.isOffence, firstHeld >= claim.tip.next {
            let device = peers[index].device
            if claim.replica.device != settings.own {
                step.emit(.report(.diverged(device)))
            } else if forks.inquiry != nil {
                forks.setQuestion(nil, on: peers[index].id)
                return forks.contest(claim, on: peers[index].id)
            } else if forks.believed < Self.believedLimit {
                forks.recordBelieved()
                takeBackUnconfirmed(claim.replica, for: claim.tip, index, &step)
            }
        }
        dropQuestion(index, &step)
    }

    private static var believedLimit: Int { 3 }

    /// Drops a question to which the peer gave no proof: its claim means nothing.
    private mutating func dropQuestion(_ index: Int, _ step: inout CoreStep) {
        guard let claim = forks[peers[index].id].question?.claim else { return }
        forks.setQuestion(nil, on: peers[index].id)
        forks.recordUnproven(claim, on: peers[index].id)
        if claim.isOffence { refuse(index, .badSegment, detail: "history", &step) }
    }

    // MARK: What a peer did not show

    /// Ends an inquiry whose walk did not reach the end that the peer claims.
    ///
    /// - Parameter isProven: every signature on the way was its author's.
    mutating func giveUp(isProven: Bool = false, _ step: inout CoreStep) {
        guard let inquiry = forks.inquiry else { return }
        let replica = inquiry.replica
        cancelWalk(inquiry, &step)
        forks.endInquiry()
        guard let index = peerIndex(inquiry.connection) else { return }
        forks.giveUp(replica, on: peers[index].id)
        let suspicion = forks.endSuspicion(of: replica, on: peers[index].id)
        if isProven { return recordFork(replica, seenFrom: peers[index].device, &step) }
        switch suspicion {
        case .claimed(let compared):
            // The peer may have gone on since; the two histories part where they were compared.
            contest(index, ContestedClaim(replica: replica, tip: compared, isConflict: true), &step)
        case .unfit:
            let isConflict = held[replica].map { $0.next == inquiry.goal.next && !$0.isSamePlace(as: inquiry.goal) }
            contest(
                index,
                ContestedClaim(
                    replica: replica, tip: inquiry.goal, isConflict: isConflict ?? false, isOffence: true), &step)
        case .stalled:
            // Its author has nothing that begins where a state ended: it took back what that state had.
            let isShown = inquiry.tip.next > inquiry.start.end
            let isState =
                inquiry.start.end == held.next(of: replica) && firstHeld.next(of: replica) == inquiry.start.end
            // Of a settled one of ours the peer has more, and nothing to compare it by.
            let isKept =
                forks.settled.contains(replica)
                && !hasChanges(index, of: replica, from: held.next(of: replica))
            if isState, !isShown, replica.device == peers[index].device {
                recordFork(replica, seenFrom: replica.device, &step)
            } else if isKept {
                step.emit(.report(.diverged(peers[index].device)))
            }
        case nil: break
        }
    }

    /// Questions a peer's claim about one of our settled replicas. The peer holds neither our branch nor the one that gave way:
    /// if it were shown ours it would revert its own, and no other device would redo that work.
    mutating func dispute(_ claim: ContestedClaim, isProven: Bool, _ index: Int, _ step: inout CoreStep) {
        if let theirs = peers[index].peerTips[claim.replica], isGivingWay(theirs, claim.replica) { return }
        forks.giveUp(claim.replica, on: peers[index].id)
        endServes(of: claim.replica, index, &step)
        if isProven {
            recordFork(claim.replica, seenFrom: peers[index].device, &step)
        } else {
            contest(index, claim, &step)
        }
    }

    /// Ends the wants for one of our replicas without changes: the history may not be the peer's.
    mutating func endServes(of replica: ReplicaID, _ index: Int, _ step: inout CoreStep) {
        guard replica.device == settings.own else { return }
        sender.endServes(of: replica, for: peers[index].id, &step)
    }

    // MARK: Wants that end

    /// - Parameter connection: the connection of the pulls; nil for all.
    mutating func cancelPulls(of replica: ReplicaID, on connection: ConnectionID? = nil, _ step: inout CoreStep) {
        puller.cancel(&step) { $0.replica == replica && connection ?? $0.connection == $0.connection }
    }

    /// Cancels the want with which an inquiry reads the peer's history.
    mutating func cancelWalk(_ inquiry: ForkInquiry, _ step: inout CoreStep) {
        guard let wantID = inquiry.walk else { return }
        puller.cancel(&step) { $0.wantID == wantID }
    }
}
