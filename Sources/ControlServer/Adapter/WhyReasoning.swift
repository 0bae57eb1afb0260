import ControlAPI
import SyncAgent
import SyncCore
import SyncDiscovery
import SyncModel

/// The reasoning from what an agent sees to the first broken link, in words a person can act on. Pure: the same facts give the
/// same answer.
struct WhyReasoning {
    let now: AgentSnapshot
    /// Nil: the store takes writes.
    let storeRefusal: ControlError?
    let hasInterface: Bool
    let clockSkews: [DeviceID: Int64]
    let changesPerSecond: Double
    /// Changes held here that a device lacks, where that is known.
    let unsent: [DeviceID: Int]
    /// True if two histories of a device were seen: changes that build on the other one wait for good.
    let isForked: Bool

    typealias LinkName = WhyResponse.LinkName

    /// A broken link of one peer's chain.
    private struct Fault {
        let link: LinkName
        let detail: String
        let hint: String
        var since: Tick?
    }

    /// The facts about one attachment.
    enum AttachmentFinding {
        case unknown
        /// - holder: the device that had all of it last, or attached it.
        case known(AttachmentFacts, holder: DeviceID)
    }

    /// The state of one object on this node.
    enum ObjectFinding {
        case here
        case unknown
        case deleted
        case undecided
        /// Some of what it shows here waits to be written again.
        case waiting
    }

    /// - Parameter object: what was asked for, with `target` nil.
    func answer(
        for target: PeerView?, object: (name: String, finding: ObjectFinding)? = nil, errors: [WhyResponse.Occurrence]
    ) -> WhyResponse {
        var faults = nodeFaults(isConnected: target?.state == .connected)
        if let object, let fault = fault(of: object.name, object.finding) { faults.append(fault) }
        let peers = target.map { [$0] } ?? now.peers
        // That a device is kept away on purpose is no fault of the node's; and one that was revoked itself is kept away by all.
        for peer in peers where target != nil || !(peer.isBlocked || isBarred(peer) || now.isRevoked) {
            if let fault = fault(of: peer) { faults.append(fault) }
        }
        if target == nil, now.members.count < 2, !now.peers.contains(where: { $0.lastFailure != nil }) {
            faults.append(
                Fault(
                    link: .pairing, detail: "no other device is paired with this one",
                    hint: "Type `lanyard invite` here, and `lanyard join TICKET` on the other device."))
        }
        var answer = assemble(faults, peers: peers, errors: errors)
        // An earlier link that is broken is only why it takes so long.
        if let object, object.finding == .waiting, !now.cuts.isAway(now.own) {
            answer.hint = fault(of: object.name, .waiting)?.hint ?? answer.hint
        }
        return answer
    }

    /// An agent that is seen and is no member: that is why it is not in step.
    func answer(
        forUnpaired stranger: AgentSnapshot.NetworkStranger, errors: [WhyResponse.Occurrence]
    ) -> WhyResponse {
        let fault = Fault(
            link: .pairing,
            detail: "\(stranger.hostName) at \(Agent.text(stranger.endpoint)) is not paired with this device",
            hint: "Type `lanyard invite` on one of the two, and `lanyard join TICKET` on the other.")
        return assemble(nodeFaults(isConnected: false) + [fault], peers: [], errors: errors)
    }

    /// Answers for one attachment. Devices that are away matter only if they have it.
    func answer(
        for attachment: (id: String, finding: AttachmentFinding), errors: [WhyResponse.Occurrence],
        retryAt: Tick? = nil
    ) -> WhyResponse {
        switch attachment.finding {
        case .unknown:
            let fault = Fault(
                link: .vector, detail: "no attachment \(attachment.id) is known on this device",
                hint: "It may have been detached, or not have come yet: lanyard attachments shows what there is.")
            return assemble([fault], peers: [], errors: errors)
        case .known(let facts, let holder):
            guard let (detail, hint) = facts.fault else {
                var answer = assemble([], peers: [], errors: errors)
                if let place = answer.chain.firstIndex(where: { $0.link == .bytes }) {
                    answer.chain[place].detail = "all of \(facts.id) is here"
                }
                return answer
            }
            var (faults, peers) = (nodeFaults(isConnected: facts.connectedCount > 0), [PeerView]())
            // A clock keeps no bytes away.
            faults.removeAll { $0.link == .clock }
            if facts.isAlone, facts.policy == nil {
                peers = now.peers.filter { $0.device == holder && $0.state != .connected }
                faults += peers.compactMap { fault(of: $0) }
            }
            // Nothing comes while the store takes no writes; that is the cause then.
            if storeRefusal == nil { faults.append(Fault(link: .bytes, detail: detail, hint: hint)) }
            var answer = assemble(faults, peers: peers, errors: errors)
            if let retryAt, retryAt > now.now {
                answer.nextAttempt = Timestamp(millisecondsSinceEpoch: now.wallMilliseconds(at: retryAt))
            }
            return answer
        }
    }

    private func assemble(
        _ faults: [Fault], peers: [PeerView], errors: [WhyResponse.Occurrence]
    ) -> WhyResponse {
        let chain = LinkName.allCases.map { name in
            let broken = faults.filter { $0.link == name }
            guard let first = broken.first else { return WhyResponse.Link(name, ok: true, detail: fine(name, peers)) }
            return WhyResponse.Link(
                name, ok: false,
                since: first.since.map { Timestamp(millisecondsSinceEpoch: now.wallMilliseconds(at: $0)) },
                detail: broken.map(\.detail).joined(separator: "; "))
        }
        let firstBroken = chain.first { !$0.ok }.flatMap { link in faults.first { $0.link == link.link } }
        let attempt = peers.compactMap(\.nextAttemptAt).min()
        return WhyResponse(
            inStep: firstBroken == nil, chain: chain, errors: errors,
            nextAttempt: attempt.map { Timestamp(millisecondsSinceEpoch: now.wallMilliseconds(at: max($0, now.now))) },
            hint: firstBroken?.hint ?? "")
    }

    private func fine(_ link: LinkName, _ peers: [PeerView]) -> String {
        let connected = (peers.isEmpty ? now.peers : peers).count { $0.state == .connected }
        switch link {
        case .discovery:
            switch now.discovery {
            case .running: return "mDNS runs"
            case .off: return "mDNS is off; addresses are given by hand"
            case .unavailable: return "mDNS is away, but this device is connected"
            }
        case .session: return connected == 1 ? "1 device is connected" : "\(connected) devices are connected"
        case .vector: return storeRefusal == nil ? "both hold the same" : "waits for the store"
        case .pairing: return now.blocked.isEmpty ? "ok" : "ok; \(now.blocked.count) blocked here"
        case .address, .dial, .handshake, .bytes, .clock, .store: return "ok"
        }
    }

    // MARK: This node

    private func nodeFaults(isConnected: Bool) -> [Fault] {
        var faults: [Fault] = []
        if !hasInterface {
            faults.append(
                Fault(
                    link: .address, detail: "no network interface of this device is up",
                    hint: "Connect the cable or the wireless network: `ip link` shows the interfaces."))
        }
        if case .unavailable(let trouble) = now.discovery, !isConnected {
            faults.append(Fault(link: .discovery, detail: trouble.message, hint: trouble.hint))
        }
        if now.isRevoked {
            let author = now.revocation.map { revocation in
                let device = revocation.dot.replica.device
                return revocation.statement.isRecovery ? " by the recovery key" : " by \(now.shownName(of: device))"
            }
            faults.append(
                Fault(
                    link: .pairing, detail: "this device was revoked\(author ?? "")",
                    hint: "If that is wrong, an admin can admit it again: lanyard devices role "
                        + "\(now.typedWord(for: now.own)) writer"))
        }
        for (device, skew) in clockSkews.sorted(by: { $0.key < $1.key })
        where abs(skew) > AgentJournal.toleratedSkewMilliseconds {
            faults.append(
                Fault(
                    link: .clock, detail: "the clock of \(now.name(of: device)) differs by \(abs(skew) / 1_000) s",
                    hint: "Set both clocks; nothing is lost meanwhile."))
        }
        if let storeRefusal {
            faults.append(Fault(link: .store, detail: storeRefusal.message, hint: storeRefusal.hint))
        }
        return faults
    }

    // MARK: One object

    private func fault(of object: String, _ finding: ObjectFinding) -> Fault? {
        switch finding {
        case .here: nil
        case .waiting:
            Fault(
                link: .store,
                detail:
                    "what this device wrote to \(object) while it was away shows here alone until it is written again",
                hint:
                    "What this device wrote to \(object) while it was away is to be written again. That waits until all"
                    + " other devices have heard that this one was retired; those that do not come back can be retired,"
                    + " too: lanyard devices retire")
        case .unknown:
            Fault(
                link: .vector, detail: "\(object) is not on this device",
                hint:
                    "If it was written elsewhere, a device that has it must connect: `lanyard peers` shows who is away."
            )
        case .deleted:
            Fault(
                link: .store, detail: "\(object) was deleted",
                hint: "`lanyard history \(object)` shows its author and what it held; `lanyard put` writes a new one.")
        case .undecided:
            Fault(
                link: .store, detail: "\(object) was deleted and edited apart, and no decision was made",
                hint: "Decide: lanyard conflicts resolve \(object) keep|delete")
        }
    }

    // MARK: One peer

    private func isBarred(_ peer: PeerView) -> Bool { peer.device.map { now.cuts.isBarred($0) } ?? false }

    private func fault(of peer: PeerView) -> Fault? {
        let label = peer.device == nil ? peer.endpoint.map { Agent.text($0) } ?? "?" : peer.name
        if peer.isBlocked, let device = peer.device {
            return Fault(
                link: .pairing, detail: "\(label) (\(device.shortID)) is blocked on this device",
                hint: "What it writes can still come through other devices. "
                    + "To end it: lanyard devices unblock \(device)")
        }
        if isBarred(peer), let device = peer.device {
            return Fault(
                link: .pairing, detail: "\(label) (\(device.shortID)) was revoked",
                hint:
                    "To admit it again, on an admin's device: lanyard devices role \(now.typedWord(for: device)) writer"
            )
        }
        if peer.state == .connected { return lag(of: peer, label) }
        guard let code = peer.lastFailure else {
            guard peer.endpoint == nil else {
                return Fault(
                    link: .dial, detail: "\(label) is being dialled for the first time",
                    hint: "Wait a moment and ask again.")
            }
            return Fault(
                link: .address, detail: "no address of \(label) is known",
                hint: "Start its agent, or give its address: lanyard peers add HOST:PORT", since: peer.lastConnectedAt)
        }
        let address = peer.endpoint.map { Agent.text($0) } ?? label
        return FailureWords(code: code, label: label, address: address).map {
            Fault(link: $0.link, detail: $0.detail, hint: $0.hint, since: peer.lastFailureAt)
        }
    }

    /// Returns the fault of a connected peer: it does not answer, this node lacks some of its changes, or it lacks some of ours.
    private func lag(of peer: PeerView, _ label: String) -> Fault? {
        if let since = peer.unansweredSince {
            return Fault(
                link: .session,
                detail: "\(label) has not answered for \((now.now - since).nanoseconds / 1_000_000_000) s",
                hint: "If it went away, this ends within 15 s and it is dialled; `ping` its address to see.",
                since: since)
        }
        if storeRefusal == nil, let behind = peer.weLack, behind > 0 {
            if peer.refusesState, !isForked, Int(changesPerSecond) == 0 {
                return Fault(
                    link: .vector,
                    detail:
                        "\(behind) operations behind \(label), which no connected device has all as single changes; asked for "
                        + "its state, it gave none",
                    hint: "It is asked again every few seconds. If it stays so, see there: `lanyard status`.")
            }
            return Fault(
                link: .vector,
                detail: "catching up with \(label): \(behind) operations behind, \(Int(changesPerSecond)) a second",
                hint: isForked
                    ? "Two histories of one device were seen, and what builds on the other one waits: `lanyard status` says what ends that."
                    : "Wait: `lanyard wait --connected` returns when all is here.")
        }
        guard let behind = peer.theyLack, behind > 0 else { return nil }
        let count = peer.device.flatMap { unsent[$0] } ?? Int(clamping: behind)
        let rate = peer.operationsPerSecond > 0 ? "; \(peer.operationsPerSecond) operations a second arrive there" : ""
        return Fault(
            link: .vector, detail: "\(count == 1 ? "1 change" : "\(count) changes") not yet sent to \(label)\(rate)",
            hint: "Wait: `lanyard wait --connected` returns when all is there.")
    }
}

/// A stable code as the link it breaks, a sentence and a next step.
private struct FailureWords {
    let link: WhyResponse.LinkName
    let detail: String
    let hint: String

    func map<Value>(_ body: (FailureWords) -> Value) -> Value { body(self) }

    init(code: String, label: String, address: String) {
        switch code {
        case "connection_refused":
            link = .dial
            detail = "\(address) refuses the connection: the device is there, and no agent listens on that port"
            hint = "Start lanyardd there, or correct the port: lanyard peers add HOST:PORT"
        case "no_answer", "peer_silent":
            link = .dial
            detail = "no answer from any address of \(label), last \(address)"
            hint = "Is the device on, on this network, and does its firewall let TCP to that port in?"
        case "host_unreachable", "network_unreachable":
            link = .dial
            detail = "\(address) cannot be reached from here (\(code))"
            hint = "Check the network: `ip route get` with that address shows the way."
        case "host_unknown":
            link = .address
            detail = "the name in \(address) has no address"
            hint = "Correct the name, or give an IP address: lanyard peers add HOST:PORT"
        case "not_paired", "not_paired_there", "no_certificate":
            link = .pairing
            detail = "\(label) at \(address) is not paired with this device"
            hint = "Type `lanyard invite` on one of the two, and `lanyard join TICKET` on the other."
        case "own_device":
            link = .address
            detail = "\(address) is this device itself"
            hint = "Remove it: lanyard peers remove \(address)"
        case "not_tls", "tls_version", "wrong_protocol", "tls_failed", "wrong_key", "closed_in_handshake",
            "handshake_timeout":
            link = .handshake
            detail = "what listens at \(address) is no Lanyard agent of ours (\(code))"
            hint = "Correct the address, or upgrade the older of the two agents."
        case "protocol_mismatch", "feature_required":
            link = .handshake
            detail = "the agents here and on \(label) are of versions that cannot talk (\(code))"
            hint = "Upgrade the older of the two: `lanyard logs` names both versions. Nothing is lost meanwhile."
        default:
            link = .session
            detail = "the session with \(label) ended (\(code))"
            hint = "It is tried again by itself; `lanyard logs` on both devices says more."
        }
    }
}
