package import ControlAPI
package import SyncAgent
import SyncCore
import SyncDiscovery
import SyncModel
import SyncStore

extension Agent {
    /// Returns what keeps the node, or `target`, from being in step.
    ///
    /// - Parameter target: nil for the node, else a peer (name, unique short id or id), `COLLECTION/ID` or an attachment's id.
    /// - Throws: `unknown_peer` or `not_found`.
    package func why(_ target: String?, space: String?) async throws(ControlError) -> WhyResponse {
        if let space { try checkSpace(space) }
        let now = try await controlled { try await snapshot() }
        let unsent = try await unsent(now)
        let reasoning = WhyReasoning(
            now: now, storeRefusal: storeRefusal, hasInterface: NetworkInterfaces.current().announced.isEmpty == false,
            clockSkews: journal.clockSkews, changesPerSecond: now.changesPerSecond,
            unsent: unsent, isForked: !journal.forks.isEmpty)
        let errors = journal.occurrences.map {
            WhyResponse.Occurrence(
                code: $0.code, time: Timestamp(millisecondsSinceEpoch: $0.lastMilliseconds), count: $0.count)
        }
        guard let target else {
            var answer = reasoning.answer(for: nil, errors: errors)
            answer.sentence = try await sentence(now)
            return answer
        }
        if let object = try await finding(target) {
            var answer = reasoning.answer(for: nil, object: (target, object), errors: errors)
            answer.lackedBy = try await devices(lacking: target, now)
            return answer
        }
        let found: PeerView
        do throws(ControlError) { found = try peer(target, in: now) } catch {
            guard error.code == .unknownPeer else { throw error }
            if let stranger = now.strangers.first(where: { Self.isMeant($0, by: target) }) {
                return reasoning.answer(forUnpaired: stranger, errors: errors)
            }
            guard let (finding, retryAt) = try await attachmentFinding(target, now) else { throw error }
            return reasoning.answer(for: (target, finding), errors: errors, retryAt: retryAt)
        }
        var answer = reasoning.answer(for: found, errors: errors)
        answer.lacking = try await lacking(found.device, now)
        return answer
    }

    /// Returns the sentence that `status` says, too.
    private func sentence(_ now: AgentSnapshot) async throws(ControlError) -> String {
        let incomplete = try await controlled { try await missingCount(of: .home) }
        let standings = try await reading { () throws(ControlError) in try self.standings(now) }
        return step(now, standings: standings, incomplete: incomplete).sentence
    }

    /// Returns the numbers of changes that connected devices lack.
    private func unsent(_ now: AgentSnapshot) async throws(ControlError) -> [DeviceID: Int] {
        let behind = now.standings.filter { member in
            if case .behind = member.state { member.isConnected } else { false }
        }
        return try await reading(if: !behind.isEmpty) { () throws(ControlError) in
            var unsent: [DeviceID: Int] = [:]
            for member in behind {
                guard let known = member.known else { continue }
                unsent[member.device] = Int(try read { () throws(StoreError) in try store.changeCount(beyond: known) })
            }
            return unsent
        }
    }

    /// Returns the finding about an object; nil for a text that is no object's name (COLLECTION/ID).
    private func finding(_ text: String) async throws(ControlError) -> WhyReasoning.ObjectFinding? {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        let key = ObjectKey(collection: ExactString(String(parts[0])), id: ExactString(String(parts[1])))
        guard key.isValid else { return nil }
        switch try await stored({ () throws(StoreError) in try store.shownObject(key, space: .home)?.summary.standing })
        {
        case nil, .nothing: return .unknown
        case .live:
            let isWaiting = try await stored { () throws(StoreError) in
                try store.hasWaitingWork(on: key, space: .home)
            }
            return isWaiting ? .waiting : .here
        case .deleted: return .deleted
        case .undecided: return .undecided
        }
    }

    /// True if the text names this agent, which is seen and not paired: by the name of its host, or by its address.
    static func isMeant(_ stranger: AgentSnapshot.NetworkStranger, by text: String) -> Bool {
        stranger.hostName == text || Self.text(stranger.endpoint) == text
    }

    /// Finds a peer by name (with or without `.local`, which a host's name ends in), unique short id or id, or address.
    func peer(_ text: String, in now: AgentSnapshot) throws(ControlError) -> PeerView {
        // A name is chosen by its device, and may be another's id.
        if let exact = now.peers.first(where: { $0.device.map { "\($0)" == text } ?? false }) { return exact }
        let found = now.peers.filter { peer in
            peer.name == text || "\(peer.name).local" == text
                || peer.device?.shortID == text.uppercased()
                || peer.endpoint.map { Self.text($0) == text } ?? false
        }
        guard let first = found.first else {
            throw ControlError(
                .unknownPeer, "There is no device and no attachment \"\(text)\".",
                hint: "`lanyard peers` and `lanyard attachments` list them; an object is COLLECTION/ID.")
        }
        guard found.count == 1 else {
            throw ControlError(
                .invalidArgument, "Several devices are called \"\(text)\".",
                hint: "Give the id: `lanyard peers` lists them.")
        }
        return first
    }

    private var storeRefusal: ControlError? {
        guard case .refusing(let error) = storeHealth.condition else { return nil }
        return ControlError(agent: error, directory: configuration.dataDirectory)
    }

    /// Returns if the agent can do work, and which parts it waits for otherwise.
    package func readiness() async -> Readiness {
        guard let now = try? await snapshot() else {
            return Readiness(ready: false, waitingFor: ["loop"], discovery: .off)
        }
        var missing: [String] = []
        if storeRefusal != nil { missing.append("store") }
        if now.listenPort == 0 { missing.append("listener") }
        return Readiness(ready: missing.isEmpty, waitingFor: missing, discovery: now.discoveryResponse.state)
    }

    /// Makes the checks that only a running agent can make: `listener`, `clock_skew`, `newest_change`, `connected_peers`,
    /// `store`, `discovery`, `duplicate_identity`, `attachments`; in a container also `container_network`. The command adds those
    /// it can make itself.
    ///
    /// - Parameters:
    ///   - deep: all that is stored is read, the bytes of attachments too.
    ///   - progress: how far that is.
    package func doctorChecks(
        deep: Bool, progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> [DoctorCheck] {
        let now = try await controlled { try await snapshot() }
        var checks = [listenerCheck(now), discoveryCheck(now)]
        if let check = containerFacts(now).check { checks.append(check) }
        checks += [connectionCheck(now), clockCheck(now), identityCheck]
        checks.append(ClockLead.check(ClockLead(newest: now.newestStampMilliseconds, now: now.wallMilliseconds)))
        checks.append(try await storeCheck(deep: deep))
        checks.append(deep ? try await deepAttachmentCheck(progress) : try await attachmentCheck())
        return checks
    }

    private func listenerCheck(_ now: AgentSnapshot) -> DoctorCheck {
        if let warning = startWarnings.first(where: { $0.code == "listener_unavailable" }) {
            return DoctorCheck(check: "listener", state: .failed, detail: warning.message, hint: warning.hint)
        }
        guard let warning = startWarnings.first(where: { $0.code == "port_in_use" }) else {
            return DoctorCheck(check: "listener", state: .ok, detail: "listens on port \(now.listenPort)")
        }
        return DoctorCheck(
            check: "listener", state: .warning, detail: "listens on port \(now.listenPort): \(warning.message)",
            hint: warning.hint)
    }

    private func discoveryCheck(_ now: AgentSnapshot) -> DoctorCheck {
        switch now.discovery {
        case .running: DoctorCheck(check: "discovery", state: .ok, detail: "mDNS runs through avahi-daemon")
        case .off:
            DoctorCheck(
                check: "discovery", state: .skipped, detail: "mDNS is off",
                hint: "Start lanyardd without --no-mdns, or add addresses: lanyard peers add HOST:PORT")
        case .unavailable(let trouble):
            DoctorCheck(check: "discovery", state: .failed, detail: trouble.message, hint: trouble.hint)
        }
    }

    private func containerFacts(_ now: AgentSnapshot) -> ContainerFacts {
        var facts = ContainerFacts.current()
        facts.found = now.foundByMDNS
        facts.connected = now.peers.count { $0.state == .connected }
        facts.port = now.listenPort
        facts.hasHadTime = now.uptimeSeconds >= Self.discoveryPatienceSeconds
        return facts
    }

    private func connectionCheck(_ now: AgentSnapshot) -> DoctorCheck {
        let paired = now.members.count - 1
        let connected = now.peers.count { $0.state == .connected }
        let detail = "\(connected) of \(paired) paired devices are connected"
        guard paired > 0 else {
            return DoctorCheck(
                check: "connected_peers", state: .warning, detail: "no device is paired",
                hint: "Type `lanyard invite` here, and `lanyard join TICKET` on the other device.")
        }
        guard connected == 0 else { return DoctorCheck(check: "connected_peers", state: .ok, detail: detail) }
        return DoctorCheck(
            check: "connected_peers", state: .failed, detail: detail, hint: "`lanyard why` names the first broken link."
        )
    }

    private func clockCheck(_ now: AgentSnapshot) -> DoctorCheck {
        let skews = journal.clockSkews
        guard let worst = skews.max(by: { abs($0.value) < abs($1.value) }) else {
            return DoctorCheck(
                check: "clock_skew", state: .skipped, detail: "no other device's clock was seen yet",
                hint: "Connect another device first.")
        }
        let detail = "the clock of \(now.name(of: worst.key)) differs by \(abs(worst.value)) ms"
        guard abs(worst.value) > AgentJournal.toleratedSkewMilliseconds else {
            return DoctorCheck(check: "clock_skew", state: .ok, detail: detail)
        }
        return DoctorCheck(
            check: "clock_skew", state: .warning, detail: detail,
            hint: "Set both clocks, for example with systemd-timesyncd.")
    }

    private var identityCheck: DoctorCheck {
        guard let twin = journal.duplicateIdentities.min() else {
            return DoctorCheck(
                check: "duplicate_identity", state: .ok, detail: "no second agent with this identity was seen")
        }
        return DoctorCheck(
            check: "duplicate_identity", state: .failed, detail: "two agents run with the identity of \(twin.shortID)",
            hint: AgentError.rekeyingHint)
    }

    /// Checks that a write would succeed now; `deep` also computes the state digest anew from what is stored.
    private func storeCheck(deep: Bool) async throws(ControlError) -> DoctorCheck {
        do {
            try await update { store throws(StoreError) in try store.probe() }
            guard deep else { return DoctorCheck(check: "store", state: .ok, detail: "a write was made durable") }
            let before = try await snapshot()
            let recomputed = try await stored { () throws(StoreError) in try store.recomputedDigest(of: .home) }
            let after = try await snapshot()
            guard before.stateDigest == after.stateDigest else {
                return DoctorCheck(
                    check: "store", state: .skipped, detail: "the store changed while it was checked",
                    hint: "Run it again when less is written.")
            }
            guard recomputed == after.stateDigest else {
                return DoctorCheck(
                    check: "store", state: .failed, detail: "what is stored does not give the digest that was kept",
                    hint: "Keep this data directory and report it; the data on other devices is not affected.")
            }
            return DoctorCheck(
                check: "store", state: .ok, detail: "all events were read again and give the digest kept")
        } catch {
            let reason = ControlError(agent: error, directory: configuration.dataDirectory)
            return DoctorCheck(check: "store", state: .failed, detail: reason.message, hint: reason.hint)
        }
    }

    /// Returns the newest `limit` lines of the log, oldest of them first.
    package func recentLogLines(limit: Int) async -> [String] { log.recentLines(limit: limit) }
}
