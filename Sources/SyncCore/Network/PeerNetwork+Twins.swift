import SyncModel

// Two live agents with one key: a copied disk, or a backup that was put back beside its original (Decisions/22).
extension PeerNetwork {
    /// Handles a connection on which both ends have our key: to ourselves, or to an agent that runs from a copy of our disk.
    mutating func meetOwnKey(_ index: Int, _ hello: Frame.Hello, _ output: inout StepOutput) {
        guard hello.runID != settings.runID else {
            markOwnAddress(sessions[index].id)
            return close(index, .ownDevice, &output)
        }
        recordSharedKey(&output)
        close(index, .duplicateIdentity, detail: settings.own.shortID, &output)
    }

    private mutating func recordSharedKey(_ output: inout StepOutput) {
        twins.isKeyShared = true
        output.emit(.report(.duplicateIdentity(settings.own)))
    }

    /// A peer says that it has seen our key twice. A hostile member could claim so of any device: it counts with the
    /// signature of the other run. Without one our next Hello to the peer has ours, for it to pass on.
    mutating func handleTwinGoodbye(from peer: DeviceID, _ goodbye: Frame.Goodbye, _ output: inout StepOutput) {
        let own = settings.runID
        guard goodbye.otherRun != 0, goodbye.otherRun != own else { return }
        twins.record(goodbye.otherRun, by: peer)
        let statement = TwinStatement(
            device: settings.own, run: goodbye.otherRun, other: own, signature: goodbye.proof)
        let isBelieved = settings.faults.contains(.believeGoodbye)
        guard let key = member(settings.own)?.signingKey, statement.isSigned(by: key) || isBelieved
        else {
            return twins.doubt(by: peer, at: output.now, settings.timing)
        }
        recordSharedKey(&output)
    }

    /// True if another agent may use our key. Members forget by what a device acknowledges: of two agents with one key,
    /// neither speaks for the other.
    func isKeyDoubted(at now: Tick) -> Bool { twins.isKeyShared || twins.doubtedUntil.map { now < $0 } ?? false }

    /// Keeps the signed statement of a member's run about another run, to be shown to that run.
    mutating func recordTwinStatement(of device: DeviceID, _ hello: Frame.Hello) {
        guard !hello.twinSignature.isEmpty, let key = member(device)?.signingKey else { return }
        let statement = TwinStatement(
            device: device, run: hello.runID, other: hello.twinRun, signature: hello.twinSignature)
        if statement.isSigned(by: key) { twins.record(statement) }
    }

    /// Returns true if another run of the device holds its place, or it is one session twice.
    mutating func isDuplicateIdentity(_ index: Int, _ output: inout StepOutput) -> Bool {
        let new = sessions[index]
        for other in upSessions where sessions[other].device == new.device && other != index {
            if sessions[other].runID == new.runID {
                guard sessions[other].sessionNumber == new.sessionNumber else { continue }
                refuseTwin(index, of: other, &output)
            } else if isSuspected(sessions[other], at: output.now) {
                close(other, .peerRestarted, &output)
                continue
            } else if let challenge = sessions[other].twin, challenge.runID == new.runID {
                // Until the old one has answered, or has not for too long, the new one comes back. Whatever else comes of the
                // old one may have been under way when it ended.
                if challenge.isAnswered {
                    refuseTwin(index, of: other, &output)
                } else if output.now - challenge.askedAt >= settings.timing.suspectAfter {
                    close(other, .peerRestarted, &output)
                    continue
                } else {
                    close(index, .peerRestarted, &output)
                }
            } else {
                challenge(other, by: new.runID, &output)
                close(index, .peerRestarted, &output)
            }
            return true
        }
        return false
    }

    private mutating func challenge(_ index: Int, by runID: UInt64, _ output: inout StepOutput) {
        // Not one that is under way: its answer may have left before the old process ended.
        sessions[index].ping = nil
        sendPing(index, &output)
        sessions[index].twin = sessions[index].ping.map {
            TwinChallenge(runID: runID, nonce: $0.nonce, askedAt: $0.sentAt)
        }
    }

    /// Handles the holder's answer to the challenge. Both runs are told: the session of the holder ends for it, the other is
    /// refused.
    mutating func handleTwinAnswer(_ index: Int, _ nonce: UInt64, _ output: inout StepOutput) {
        guard let challenge = sessions[index].twin, challenge.nonce == nonce else { return }
        sessions[index].twin?.isAnswered = true
        output.emit(.report(.duplicateIdentity(sessions[index].device)))
        tellHolder(index, of: challenge.runID, &output)
    }

    private mutating func tellHolder(_ index: Int, of otherRun: UInt64, _ output: inout StepOutput) {
        let hasProof = !twins.proof(of: sessions[index].device, run: otherRun, other: sessions[index].runID).isEmpty
        if twins.isNews(to: sessions[index].runID, hasProof: hasProof) { tell(index, of: otherRun, &output) }
    }

    private mutating func refuseTwin(_ index: Int, of holder: Int, _ output: inout StepOutput) {
        output.emit(.report(.duplicateIdentity(sessions[index].device)))
        tell(index, of: sessions[holder].runID, &output)
        // It may have come with what the holder has to see.
        if sessions[holder].runID != sessions[index].runID { tellHolder(holder, of: sessions[index].runID, &output) }
    }

    private mutating func tell(_ index: Int, of otherRun: UInt64, _ output: inout StepOutput) {
        let (device, run) = (sessions[index].device, sessions[index].runID)
        let proof = twins.proof(of: device, run: otherRun, other: run)
        twins.recordTold(run, hasProof: !proof.isEmpty)
        close(index, .duplicateIdentity, detail: device.shortID, twin: (otherRun, proof), &output)
    }
}
