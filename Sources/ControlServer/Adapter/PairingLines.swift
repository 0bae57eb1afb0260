import ControlAPI
import SyncAgent
import SyncCore
import SyncModel

/// The lines of a pairing that are new since the last look at it.
struct PairingLines {
    let agent: Agent
    private var hasBegun = false
    private var devices: [PairingDevice] = []
    /// The devices that the person was asked about last.
    private var choices: [PairingDevice] = []
    private var code: String?
    private var isConfirmed = false

    init(agent: Agent) { self.agent = agent }

    mutating func next(_ view: PairingView) -> [PairingLine] {
        var lines: [PairingLine] = []
        if !hasBegun {
            hasBegun = true
            lines.append(.waiting(expires: Timestamp(millisecondsSinceEpoch: view.expiresMilliseconds)))
        }
        let found = view.devices.map(PairingDevice.init)
        if view.code == nil, view.outcome == nil, found != devices {
            devices = found
            lines.append(.devices(found))
        }
        let ready = view.needsChoice ? found.filter { $0.id != nil } : []
        if ready != choices, view.outcome == nil {
            choices = ready
            if !ready.isEmpty { lines.append(.choose(ready)) }
        }
        if let peer = view.peer, view.code != code {
            code = view.code
            if let code { lines.append(.code(code, peer: PairingPeer(peer))) }
        }
        if view.isConfirmed, !isConfirmed {
            isConfirmed = true
            lines.append(.confirmed)
        }
        switch view.outcome {
        case nil: break
        case .paired(let peer):
            lines.append(
                .paired(
                    device: "\(peer.device)", name: peer.name, role: Role(view.membership?.role ?? .writer),
                    joined: view.membership?.isOwn ?? false))
        case .some(let outcome):
            let error = ControlError(
                pairing: outcome, isConfirmed: view.isConfirmed,
                seconds: agent.configuration.pairingMilliseconds / 1_000)
            lines.append(.failed(error))
        }
        return lines
    }
}

extension PairingDevice {
    fileprivate init(_ device: PairingView.Device) {
        self.init(
            id: device.device.map { "\($0)" }, shortID: device.device?.shortID, name: device.name,
            address: device.address, via: device.via.rawValue, isMember: device.isMember)
    }
}

extension PairingPeer {
    fileprivate init(_ peer: PairingCandidate) {
        self.init(id: "\(peer.device)", shortID: peer.device.shortID, name: peer.name)
    }
}

extension ControlError {
    /// The end of a pairing that is not whole.
    ///
    /// - Parameters:
    ///   - isConfirmed: the right code was typed here, so the other device may have finished.
    ///   - seconds: the time that a pairing has on this device.
    fileprivate init(pairing outcome: PairingOutcome, isConfirmed: Bool, seconds: Int64) {
        let again = "For new codes, type on both devices: lanyard pair"
        let between = ". If it was typed right, another machine stands between the two: use another network."
        let unknown = "If `lanyard devices` on one of them does not list the other, type on both: lanyard pair"
        let (rest, hint) =
            isConfirmed
            ? ("This device did not finish; whether the other one did is not known.", unknown)
            : ("Nothing was paired.", again)
        switch outcome {
        case .paired(let peer):
            self.init(.alreadyExists, "\(peer.spoken) is paired.", hint: "See: lanyard devices")
        case .wrongCode(let peer):
            self.init(
                .wrongCode, "That is not the code on the screen of \(peer.spoken). Nothing was paired.",
                hint: again + between)
        case .endedThere(let peer, .wrongCode):
            self.init(
                .wrongCode, "A wrong code was typed on \(peer.spoken). Nothing was paired.", hint: again + between)
        case .endedThere(let peer, .cancelled):
            self.init(.pairingEnded, "Pairing was stopped on \(peer.spoken). \(rest)", hint: hint)
        case .endedThere(let peer, .timedOut):
            self.init(.timedOut, "The time to pair is over on \(peer.spoken). \(rest)", hint: hint)
        case .endedThere(let peer, .notAdmitted):
            self.init(
                .pairingEnded, "\(peer.spoken) could not write this device down. It is paired on this one only.",
                hint: "If this device was revoked, pair it with an admin's. Else see `lanyard doctor` there. " + again)
        case .endedThere(let peer, .choseAnother), .endedThere(let peer, .other):
            self.init(.pairingEnded, "\(peer.spoken) ended the pairing. \(rest)", hint: hint)
        case .connectionLost(let peer):
            self.init(.pairingEnded, "The connection to \(peer.spoken) broke. \(rest)", hint: hint)
        case .halfPaired(let peer):
            self.init(
                .pairingEnded, "\(peer.spoken) is paired on this device; whether it finished there is not known.",
                hint: unknown)
        case .notAdmitted(let peer):
            self.init(
                .storeFailed, "\(peer.spoken) could not be written down here.",
                hint: "See `lanyard doctor` and `lanyard logs`. " + again)
        case .timedOut:
            self.init(
                .timedOut, "No pairing within \(seconds) seconds. \(rest)",
                hint: isConfirmed
                    ? unknown
                    : "Is `lanyard pair` typed on the other device, too, and are both on one network? With its address: "
                        + "lanyard pair HOST:PORT")
        case .tooManyTries:
            self.init(
                .pairingEnded, "Three exchanges were broken off before a code was shown. Nothing was paired.",
                hint: again + ". If it happens again, another machine disturbs: use another network.")
        case .cancelled: self.init(.cancelled, "Pairing was stopped. \(rest)", hint: hint)
        }
    }
}

extension PairingCandidate {
    /// The device in a sentence: its name, which it chose itself, and the beginning of its id.
    fileprivate var spoken: String { name.isEmpty ? device.shortID : "\(name) (\(device.shortID))" }
}
