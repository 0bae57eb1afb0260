import SyncModel

/// Another run of a peer's device said hello while this session was up.
///
/// A restart that is too quick for the old socket's end looks the same, so the old run is asked: a pong to a ping that was
/// sent after the second hello can only come from a process that lives beside the one that said it.
struct TwinChallenge: Sendable, Equatable {
    let runID: UInt64
    let nonce: UInt64
    let askedAt: Tick
    var isAnswered = false
}

// Two live agents with one key: a copied disk, or a backup that was put back beside its original (design: "Incarnations").
extension AgentCore {
    /// Runs that were told once, so that telling them does not end their sessions for ever: who is told comes back.
    private static let toldLimit = 16

    /// A connection on which both ends have our key: to ourselves, or to somebody who runs from a copy of our disk.
    mutating func meetOwnKey(_ index: Int, _ hello: Frame.Hello) {
        guard hello.runID != configuration.runID else {
            markOwnAddress(sessions[index].id)
            return close(index, .ownDevice)
        }
        noteSharedKey()
        close(index, .duplicateIdentity, detail: configuration.own.shortID)
    }

    mutating func noteSharedKey() {
        isKeyShared = true
        effects.append(.report(.duplicateIdentity(configuration.own)))
    }

    /// Whether another run of the device holds its place, or it is one session twice.
    mutating func isDuplicateIdentity(_ index: Int) -> Bool {
        let new = sessions[index]
        for other in upSessions where sessions[other].device == new.device && other != index {
            if sessions[other].runID == new.runID {
                guard sessions[other].sessionNumber == new.sessionNumber else { continue }
                refuseTwin(index)
            } else if isSuspected(sessions[other]) {
                close(other, .peerRestarted)
                continue
            } else if let challenge = sessions[other].twin, challenge.runID == new.runID {
                // Until the old one has answered, or has not for too long, the new one comes back. Whatever else comes of the
                // old one may have been under way when it ended.
                if challenge.isAnswered {
                    refuseTwin(index)
                } else if now - challenge.askedAt >= configuration.timing.suspectAfter {
                    close(other, .peerRestarted)
                    continue
                } else {
                    close(index, .peerRestarted)
                }
            } else {
                challenge(other, by: new.runID)
                close(index, .peerRestarted)
            }
            return true
        }
        return false
    }

    private mutating func challenge(_ index: Int, by runID: UInt64) {
        // Not one that is under way: its answer may have left before the old process ended.
        sessions[index].ping = nil
        sendPing(index)
        sessions[index].twin = sessions[index].ping.map {
            TwinChallenge(runID: runID, nonce: $0.nonce, askedAt: $0.sentAt)
        }
    }

    /// Both are told, each once: the session of the one that holds the place ends for it, the other one is refused.
    mutating func noteTwinAnswer(_ index: Int, _ nonce: UInt64) {
        guard sessions[index].twin?.nonce == nonce else { return }
        sessions[index].twin?.isAnswered = true
        effects.append(.report(.duplicateIdentity(sessions[index].device)))
        let runID = sessions[index].runID
        guard !toldTwins.contains(runID) else { return }
        tell(runID)
        close(index, .duplicateIdentity, detail: sessions[index].device.shortID)
    }

    private mutating func refuseTwin(_ index: Int) {
        effects.append(.report(.duplicateIdentity(sessions[index].device)))
        tell(sessions[index].runID)
        close(index, .duplicateIdentity, detail: sessions[index].device.shortID)
    }

    private mutating func tell(_ runID: UInt64) {
        guard !toldTwins.contains(runID) else { return }
        toldTwins = (toldTwins + [runID]).suffix(Self.toldLimit)
    }
}
