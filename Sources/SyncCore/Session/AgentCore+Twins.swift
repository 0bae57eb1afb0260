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

/// The state about devices whose keys two live agents have, kept for as long as the core runs.
struct TwinKeeping: Sendable {
    /// A peer's claim of another run of this device, with or without a proof.
    struct Claim: Sendable {
        let otherRun: UInt64
        var count = 1
    }

    /// A run of a device with a twin that this side told so: without proof, and once more when there was one.
    struct Told: Sendable {
        let run: UInt64
        let hasProof: Bool
    }

    /// True if another live agent has our key.
    var isKeyShared = false
    /// A peer said so without proof: until then nothing is acknowledged in the name of both.
    private(set) var doubtedUntil: Tick?
    /// The time at which each peer last caused a doubt. A claim without proof suspends acknowledgements for a while, so one
    /// peer cannot cause the next doubt soon.
    private var doubts: [DeviceID: Tick] = [:]
    /// The claims, by the peer that made each last.
    private(set) var claims: [DeviceID: Claim] = [:]
    /// The signed statements of members' runs about each other: the newest few of each device.
    private var statements: [DeviceID: [TwinStatement]] = [:]
    /// The runs that were told, the newest last.
    private var told: [Told] = []

    private static let toldLimit = 32
    private static let statementLimit = 4

    mutating func record(_ claim: UInt64, by peer: DeviceID) {
        let isSame = claims[peer]?.otherRun == claim
        claims[peer] = Claim(otherRun: claim, count: isSame ? (claims[peer]?.count ?? 0) + 1 : 1)
    }

    mutating func doubt(by peer: DeviceID, at now: Tick, _ timing: CoreConfiguration.Timing) {
        if let last = doubts[peer], now < last + timing.twinDoubtEvery { return }
        doubts[peer] = now
        doubtedUntil = now + timing.twinDoubt
    }

    /// True if the peer refused us too often. Both runs come back a few times until each has signed a statement about the
    /// other and has received the other's.
    func isRefused(by peer: DeviceID) -> Bool { (claims[peer]?.count ?? 0) > 3 }

    mutating func record(_ statement: TwinStatement) {
        let known = statements[statement.device, default: []].filter { $0 != statement }
        statements[statement.device] = (known + [statement]).suffix(Self.statementLimit)
    }

    /// Returns the signature of the one run about the other; empty if none was received.
    func proof(of device: DeviceID, run: UInt64, other: UInt64) -> [UInt8] {
        statements[device]?.last { $0.run == run && $0.other == other }?.signature ?? []
    }

    /// True if the run is still to be told. Telling a run ends its session, and it comes back: so each is told once, and once
    /// more with a proof.
    func isNews(to run: UInt64, hasProof: Bool) -> Bool {
        !told.contains { $0.run == run && ($0.hasProof || !hasProof) }
    }

    mutating func recordTold(_ run: UInt64, hasProof: Bool) {
        guard isNews(to: run, hasProof: hasProof) else { return }
        told = (told + [Told(run: run, hasProof: hasProof)]).suffix(Self.toldLimit)
    }
}

// Two live agents with one key: a copied disk, or a backup that was put back beside its original (design: "Incarnations").
extension AgentCore {
    /// Handles a connection on which both ends have our key: to ourselves, or to an agent that runs from a copy of our disk.
    mutating func meetOwnKey(_ index: Int, _ hello: Frame.Hello) {
        guard hello.runID != configuration.runID else {
            markOwnAddress(sessions[index].id)
            return close(index, .ownDevice)
        }
        noteSharedKey()
        close(index, .duplicateIdentity, detail: configuration.own.shortID)
    }

    private mutating func noteSharedKey() {
        twins.isKeyShared = true
        effects.append(.report(.duplicateIdentity(configuration.own)))
    }

    /// A peer says that it has seen our key twice. A hostile member could claim so of any device: it counts with the
    /// signature of the other run. Without one our next Hello to the peer has ours, for it to pass on.
    mutating func handleTwinGoodbye(from peer: DeviceID, _ goodbye: Frame.Goodbye) {
        let own = configuration.runID
        guard goodbye.otherRun != 0, goodbye.otherRun != own else { return }
        twins.record(goodbye.otherRun, by: peer)
        let statement = TwinStatement(
            device: configuration.own, run: goodbye.otherRun, other: own, signature: goodbye.proof)
        let isBelieved = configuration.faults.contains(.believeGoodbye)
        guard let key = membership[configuration.own]?.fact.signingKey, statement.isSigned(by: key) || isBelieved
        else {
            return twins.doubt(by: peer, at: now, configuration.timing)
        }
        noteSharedKey()
    }

    /// True if another agent may use our key. Members forget by what a device acknowledges: of two agents with one key,
    /// neither speaks for the other.
    var isKeyDoubted: Bool { twins.isKeyShared || twins.doubtedUntil.map { now < $0 } ?? false }

    /// Keeps the signed statement of a member's run about another run, to be shown to that run.
    mutating func recordTwinStatement(of device: DeviceID, _ hello: Frame.Hello) {
        guard !hello.twinSignature.isEmpty, let key = membership[device]?.fact.signingKey else { return }
        let statement = TwinStatement(
            device: device, run: hello.runID, other: hello.twinRun, signature: hello.twinSignature)
        if statement.isSigned(by: key) { twins.record(statement) }
    }

    /// Returns true if another run of the device holds its place, or it is one session twice.
    mutating func isDuplicateIdentity(_ index: Int) -> Bool {
        let new = sessions[index]
        for other in upSessions where sessions[other].device == new.device && other != index {
            if sessions[other].runID == new.runID {
                guard sessions[other].sessionNumber == new.sessionNumber else { continue }
                refuseTwin(index, of: other)
            } else if isSuspected(sessions[other]) {
                close(other, .peerRestarted)
                continue
            } else if let challenge = sessions[other].twin, challenge.runID == new.runID {
                // Until the old one has answered, or has not for too long, the new one comes back. Whatever else comes of the
                // old one may have been under way when it ended.
                if challenge.isAnswered {
                    refuseTwin(index, of: other)
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

    /// Handles the holder's answer to the challenge. Both runs are told: the session of the holder ends for it, the other is
    /// refused.
    mutating func noteTwinAnswer(_ index: Int, _ nonce: UInt64) {
        guard let challenge = sessions[index].twin, challenge.nonce == nonce else { return }
        sessions[index].twin?.isAnswered = true
        effects.append(.report(.duplicateIdentity(sessions[index].device)))
        tellHolder(index, of: challenge.runID)
    }

    private mutating func tellHolder(_ index: Int, of otherRun: UInt64) {
        let hasProof = !twins.proof(of: sessions[index].device, run: otherRun, other: sessions[index].runID).isEmpty
        if twins.isNews(to: sessions[index].runID, hasProof: hasProof) { tell(index, of: otherRun) }
    }

    private mutating func refuseTwin(_ index: Int, of holder: Int) {
        effects.append(.report(.duplicateIdentity(sessions[index].device)))
        tell(index, of: sessions[holder].runID)
        // It may have come with what the holder has to see.
        if sessions[holder].runID != sessions[index].runID { tellHolder(holder, of: sessions[index].runID) }
    }

    private mutating func tell(_ index: Int, of otherRun: UInt64) {
        let (device, run) = (sessions[index].device, sessions[index].runID)
        let proof = twins.proof(of: device, run: otherRun, other: run)
        twins.recordTold(run, hasProof: !proof.isEmpty)
        close(index, .duplicateIdentity, detail: device.shortID, twin: (otherRun, proof))
    }
}
