package import ControlAPI
package import SyncAgent
import SyncCore
import SyncDiscovery
import SyncModel
import SyncStore

/// The control API's calls, in the types of `ControlAPI`.
///
/// Every method may be called from any task, any number at once. Names have been checked against `NameRule` and sizes
/// against `ControlLimits` before a call; the agent checks that a space, stream, peer or consumer exists. Errors carry a
/// code, a sentence and a hint. A cancelled call may return early with whatever it has.
extension Agent {
    /// The only space there is so far.
    static let homeName = "home"

    func checkSpace(_ space: String) throws(ControlError) {
        guard space == Self.homeName else {
            throw ControlError(
                .unknownSpace, "There is no space \"\(space)\" here.", hint: "Every device has the space \"home\".")
        }
    }

    /// Runs a call into the agent and gives its errors their codes.
    func controlled<Value: Sendable>(_ body: () async throws -> Value) async throws(ControlError) -> Value {
        do { return try await body() } catch {
            throw ControlError(agent: error, directory: configuration.dataDirectory)
        }
    }

    /// Returns the state of the node and of `space`; nil: of all spaces. Throws `unknown_space`.
    package func status(space: String?) async throws(ControlError) -> StatusResponse {
        if let space { try checkSpace(space) }
        let now = try await controlled { try await snapshot() }
        let incomplete = try await controlled { try await missingCount(of: .home) }
        let (heldBackBy, standings, conflicts, transfers, ofAgents) = try await reading { () throws(ControlError) in
            let ofAgents = try read { () throws(StoreError) in try store.agentObjectCount(of: .home) }
            return (
                try self.heldBackBy(now), try self.standings(now), try conflictCount(upTo: 256), transferList, ofAgents
            )
        }
        let step = step(now, standings: standings, incomplete: incomplete)
        let home = StatusResponse.Space(
            name: Self.homeName, id: SpaceID.home.bytes.hexadecimal, changes: Int(now.counts.changes),
            objects: max(Int(now.counts.objects) - ofAgents, 0), events: Int(now.counts.events),
            attachments: Int(now.counts.attachments),
            deletedObjects: Int(now.counts.deletedObjects),
            versionVector: VersionVectorText(now.tips.map { .init(replica: "\($0.replica)", next: $0.tip.next) }),
            digest: "\(now.stateDigest)", incomplete: incomplete,
            stable: .init(
                heldBackBy: heldBackBy,
                versionVector: VersionVectorText(
                    now.stability.stable.entries.map { .init(replica: "\($0.replica)", next: $0.next) })),
            droppedChanges: Int(now.counts.droppedChanges),
            inStep: step.isInStep, standings: standings, conflicts: conflicts,
            role: now.role(of: now.own).map { Role($0) }, sentence: step.sentence)
        let connected = now.peers.count { $0.state == .connected }
        return StatusResponse(
            device: .init(id: "\(device)", shortID: device.shortID, name: now.name), version: version,
            uptimeSeconds: now.uptimeSeconds, discovery: now.discoveryResponse, spaces: [home],
            peers: .init(connected: connected, discovered: now.foundByMDNS, paired: now.members.count - 1),
            store: storeResponse, transfers: transfers,
            warnings: try await revokedWarning(now) + warnings(now)
                + SilentMember.warnings(heldBackBy, now: now.wallMilliseconds),
            backups: backups.view.plan == nil ? nil : backupsResponse,
            addresses: addresses, logLevel: LogLevelResponse(logLevel))
    }

    /// Returns the members whose acknowledgement is missing, and since when: the time of the oldest change that the member has
    /// not acknowledged. The log knows it, also after a restart. To be called on a reading thread.
    private func heldBackBy(_ now: AgentSnapshot) throws(ControlError) -> [StatusResponse.Space.Stable.Member] {
        guard !now.stability.heldBackBy.isEmpty else { return [] }
        let seen = lastSeen(now, try read { () throws(StoreError) in try store.addresses() })
        return now.stability.heldBackBy.compactMap { member in
            let times = member.missing.compactMap { entry in
                let first = try? store.segments(of: entry.replica, from: entry.next, byteBudget: 1).first
                return first.flatMap { segment in
                    var reader = ByteReader(segment.bytes)
                    return try? ChangeView(&reader).wallMilliseconds
                }
            }
            // A member cannot have acknowledged what was written before it was one.
            let admitted = now.membership.admission(of: member.device)?.wallMilliseconds
            guard let oldest = times.min() else { return nil }
            let since = max(oldest, admitted ?? oldest)
            // Members say a minute's work at a time: less than two such minutes is no delay.
            guard now.wallMilliseconds - since > Self.acknowledgementPatience, !hasJustArrived(member.device, now)
            else {
                return nil
            }
            return .init(
                id: "\(member.device)", shortID: member.device.shortID, name: now.name(of: member.device),
                since: Timestamp(millisecondsSinceEpoch: since),
                lastSeen: seen[member.device].map(Timestamp.init(millisecondsSinceEpoch:)))
        }
    }

    private static let acknowledgementPatience: Int64 = 120_000
    static let discoveryPatienceSeconds = 5

    /// Returns true if the member lacks nothing, and its session is too young for an acknowledgement to be due.
    private func hasJustArrived(_ device: DeviceID, _ now: AgentSnapshot) -> Bool {
        guard let peer = now.peers.first(where: { $0.device == device }), let since = peer.connectedAt,
            peer.theyLack == 0
        else { return false }
        return (now.now - since).nanoseconds < Self.acknowledgementPatience * 1_000_000
    }

    /// Returns the time at which each member was last heard from, by this node's clock, also before a restart.
    func lastSeen(_ now: AgentSnapshot, _ remembered: [SyncStore.PeerAddress]) -> [DeviceID: Int64] {
        var seen: [DeviceID: Int64] = [:]
        for address in remembered {
            guard let device = address.device, let met = address.lastConnectedMilliseconds else { continue }
            seen[device] = max(met, seen[device] ?? .min)
        }
        for (device, met) in journal.lastSeen { seen[device] = met }
        for peer in now.peers {
            if let device = peer.device, let heard = peer.lastHeardAt {
                seen[device] = now.wallMilliseconds(at: heard)
            }
        }
        return seen
    }

    private var storeResponse: StatusResponse.Store {
        let health = storeHealth
        switch health.condition {
        case .ok: return .init(bytes: health.bytes, state: "ok")
        case .refusing(let error): return .init(bytes: health.bytes, state: StoreDriver.code(of: error))
        }
    }

    /// Returns what a person should know of, with the next step of each.
    package func warnings(_ now: AgentSnapshot) -> [StatusResponse.Warning] {
        var warnings = startWarnings.map { StatusResponse.Warning(code: $0.code, message: $0.message, hint: $0.hint) }
        // At the start of a machine avahi-daemon may be starting as well.
        if case .unavailable(let trouble) = now.discovery, now.uptimeSeconds >= Self.discoveryPatienceSeconds {
            warnings.append(
                .init(
                    code: "discovery_unavailable", message: "New devices are not found: \(trouble.message).",
                    hint: trouble.hint))
        }
        if now.cuts.isAway(now.own), !now.isRevoked {
            warnings.append(
                .init(
                    code: "retired", message: "This device was retired while it was away; it is being admitted again.",
                    hint: "It takes a moment with a session. Until then nothing can be written here; nothing is lost."))
        }
        if now.hasVoidWork, now.role(of: now.own) == .reader {
            warnings.append(
                .init(
                    code: "waits_for_role",
                    message:
                        "What had not arrived elsewhere when this device was retired shows here alone: this device may only read.",
                    hint: "It is written again once an admin makes it a writer: lanyard devices role "
                        + "\(now.typedWord(for: now.own)) writer"))
        } else if now.hasVoidWork, !now.isRevoked {
            warnings.append(
                .init(
                    code: "writing_again",
                    message:
                        "What had not arrived elsewhere when this device was retired is being written again. Until then it shows here "
                        + "alone, and objects that it is on cannot be changed here.",
                    hint: "It waits until all other devices have heard that it was retired; those that do not come back"
                        + " can be retired, too: lanyard devices retire"))
        }
        if now.isWritingAgain, !now.hasVoidWork, !now.cuts.isAway(now.own) {
            warnings.append(
                .init(
                    code: "writing_again",
                    message:
                        "A machine was put back to an earlier state while it ran. What this device wrote on the history that "
                        + "gave way is being written again; until then it does not show.",
                    hint: "If it takes longer than a moment, connect the devices that hold the other history "
                        + "(lanyard devices), or see: lanyard logs"))
        }
        if now.isIncomplete {
            warnings.append(
                .init(
                    code: "incomplete",
                    message:
                        "What another device wrote counts no more, and could not all be undone here: it came without its "
                        + "single changes. So some of it still shows, and no device takes a state from this one.",
                    hint:
                        "It is put right by the first device that could undo it. Connect one that has been here for longer: "
                        + "lanyard devices. If all writers say this, none can, and a new space is the way out: save what each "
                        + "device shows (lanyard export FILE), stop all agents and remove their data folders, begin on the one "
                        + "that shows what you want (lanyard import FILE), pair the others with it, and import on each what it had"
                ))
        }
        let waited = now.members.filter { member in
            let holding = now.cuts.cuts(holdingAway: member.device)
            return !holding.isEmpty && !holding.contains { now.cuts.isSettled($0.dot) }
        }
        if !waited.isEmpty {
            warnings.append(
                .init(
                    code: "not_settled",
                    message:
                        "Retirement of \(waited.map(\.fact.name).joined(separator: ", ")) is not complete: the other "
                        + "devices must learn of it first.",
                    hint:
                        "They must be more than those that are away. If the device that retired it is lost, retire it "
                        + "here, too: lanyard devices retire"))
        }
        warnings += wipedWarnings(now)
        warnings += now.blocked.map { blockedWarning($0, now) }
        if case .refusing(let error) = storeHealth.condition {
            let reason = ControlError(agent: error, directory: configuration.dataDirectory)
            warnings.append(.init(code: reason.code.rawValue, message: reason.message, hint: reason.hint))
        }
        warnings += backupWarnings(now: now.wallMilliseconds)
        for (peer, skew) in journal.clockSkews.sorted(by: { $0.key < $1.key })
        where abs(skew) > AgentJournal.toleratedSkewMilliseconds {
            warnings.append(
                .init(
                    code: "clock_skew",
                    message: "The clock of \(peer.shortID) is \(abs(skew) / 1_000) s \(skew > 0 ? "ahead" : "behind").",
                    hint: "Set both clocks, for example with systemd-timesyncd; nothing is lost meanwhile."))
        }
        if let lead = ClockLead(newest: now.newestStampMilliseconds, now: now.wallMilliseconds) {
            warnings.append(lead.warning)
        }
        for peer in journal.duplicateIdentities.sorted() {
            warnings.append(
                .init(
                    code: "duplicate_identity",
                    message: peer == device
                        ? "Another agent runs with this device's identity; nothing is written here until one has a new one."
                        : "Two agents run with the identity of \(now.name(of: peer)); of one of them nothing comes.",
                    hint: AgentError.rekeyingHint))
        }
        if journal.haveOwnReturned {
            warnings.append(
                .init(
                    code: "own_changes_returned",
                    message: "This disk was older than the network; missing changes were recovered.",
                    hint:
                        "It was put back to an earlier state, lost its end, or was copied. Nothing is lost. If it was none of these on "
                        + "purpose, look at the disk: lanyard doctor --deep"))
        }
        warnings += memberWarnings(now)
        for peer in journal.divergedPeers.sorted() {
            warnings.append(
                .init(
                    code: "diverged",
                    message: "\(now.name(of: peer)) shows another state, or another history, of what both hold.",
                    hint:
                        "If a device was put back to an earlier moment while it ran, one of the two holds what it had written before, "
                        + "which the other devices do not have: pair that one again. " + Self.pairAgain
                        + " Otherwise keep both data directories and report it; this is a fault of Lanyard."))
        }
        if !journal.tookBack.isEmpty {
            warnings.append(
                .init(
                    code: "history_taken_back",
                    message: "This device was put back to an earlier moment while it ran, and wrote on from there.",
                    hint:
                        "What other devices had of it before is here again, and what it wrote since was written once more. "
                        + "Nothing is lost. After putting back a device, start it anew."))
        }
        for (replica, holder) in journal.forks.sorted(by: { $0.key < $1.key }) {
            warnings.append(
                .init(
                    code: "forked",
                    message:
                        "Two histories of \(replica) were seen, here and on \(now.name(of: holder)); neither is extended here.",
                    hint: forkHint(replica.device, seenFrom: holder, now)))
        }
        return warnings
    }

    private static let pairAgain =
        "To pair a device again: save what it holds (lanyard export), revoke it on another one, stop its agent, remove its data folder, and "
        + "join. Once it is in step (lanyard wait --connected --peers 1), bring back what only it held (lanyard import)."

    private func forkHint(_ author: DeviceID, seenFrom holder: DeviceID, _ now: AgentSnapshot) -> String {
        if author == device {
            return
                "This device was put back to an earlier moment while it ran. This ends by itself once it is connected with one that keeps all "
                + "changes (keep-history forever). If none does, pair \(now.name(of: holder)) again if all others show what this device "
                + "shows, and otherwise this one. " + Self.pairAgain
        }
        let name = now.name(of: author)
        guard now.cuts.isBarred(author) else {
            return
                "Its device was put back to an earlier moment while it ran. This ends by itself once this one is connected with "
                + "\(name), if both keep the changes since the two histories part. If it does not, pair this device again; if \(name) is gone for "
                + "good, pair it again with the one that holds more. " + Self.pairAgain
        }
        return
            "Only \(name) could resolve this, and it may not connect any more. Devices differ in what it wrote last, and what builds "
            + "on the part that one of them lacks waits there. To end it, choose the device that shows the wrong one, look there for what "
            + "counts no more (lanyard devices review \(author.shortID)), and pair it again. " + Self.pairAgain
    }

    private func blockedWarning(_ device: DeviceID, _ now: AgentSnapshot) -> StatusResponse.Warning {
        let others = now.members.map(\.device).filter {
            $0 != now.own && !now.blocked.contains($0) && !now.cuts.isBarred($0)
        }
        let ways = others.isEmpty ? "" : ", and what it writes can still come through " + names(of: others, now)
        return .init(
            code: "blocked_device", message: "\(now.name(of: device)) (\(device.shortID)) is blocked here\(ways).",
            hint: "A block holds on one device: block it on the others, too. "
                + "To end it: lanyard devices unblock \(device)")
    }

    private func names(of devices: [DeviceID], _ now: AgentSnapshot) -> String {
        devices.map { now.name(of: $0) }.joined(separator: ", ")
    }

    // MARK: Peers

    package func peers() async throws(ControlError) -> [Peer] {
        try await controlled { peerList(try await snapshot()) }
    }

    private func peerList(_ now: AgentSnapshot) -> [Peer] {
        let known = now.peers.map { view in
            let traffic = view.connection.flatMap { now.traffic[$0] }
            let seen = view.lastHeardAt ?? view.lastConnectedAt
            let lastSync = seen.map { now.wallMilliseconds(at: $0) } ?? view.device.flatMap { journal.lastSeen[$0] }
            return Peer(
                id: view.device.map { "\($0)" }, shortID: view.device?.shortID, name: view.name,
                state: Peer.State(rawValue: view.state.rawValue) ?? .offline, paired: view.device != nil,
                address: view.endpoint.map(Self.text), via: view.via.flatMap(Peer.Via.init(rawValue:)),
                rttMilliseconds: view.roundTrip.map { Double($0.nanoseconds / 1_000) / 1_000 },
                behind: .init(us: view.weLack, them: view.theyLack), bytesIn: traffic?.bytesIn ?? 0,
                bytesOut: traffic?.bytesOut ?? 0, lastSync: lastSync.map(Timestamp.init(millisecondsSinceEpoch:)),
                version: view.agentVersion.isEmpty ? nil : view.agentVersion,
                connectedSince: view.connectedAt.map {
                    Timestamp(millisecondsSinceEpoch: now.wallMilliseconds(at: $0))
                })
        }
        let strangers = now.strangers.map { stranger in
            Peer(
                id: nil, shortID: nil, name: stranger.hostName, state: .discovered, paired: false,
                address: Self.text(stranger.endpoint), via: .mdns)
        }
        return known + strangers
    }

    static func text(_ endpoint: Endpoint) -> String { text(host: endpoint.host, port: Int(endpoint.port)) }

    static func text(host: String, port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// Returns the list of peers now, and again after every change, until the agent stops. A slow reader skips states instead
    /// of making memory grow.
    package func peerUpdates() async -> AsyncStream<[Peer]> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = Task { [self] in
                var last: [Peer]?
                while !Task.isCancelled, !peerSignal.isFinished {
                    let version = peerSignal.version
                    guard let peers = try? await peers() else { break }
                    if peers != last { continuation.yield(peers) }
                    last = peers
                    await peerSignal.wait(beyond: version)
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Keeps the address and dials it at once. `changed` is false when it was known.
    package func addPeer(_ address: HostPort) async throws(ControlError) -> PeerChange {
        guard let port = UInt16(exactly: address.port) else {
            throw ControlError(.invalidArgument, "This is no port.", hint: "Write HOST:PORT.")
        }
        let changed = try await controlled { try await addAddress(host: address.host, port: port) }
        return PeerChange(address: "\(address)", changed: changed)
    }

    /// Forgets an address. Throws `unknown_peer` when it was not added before.
    package func removePeer(_ address: HostPort) async throws(ControlError) -> PeerChange {
        let port = UInt16(clamping: address.port)
        let wasThere = try await controlled { try await removeAddress(host: address.host, port: port) }
        guard wasThere else {
            throw ControlError(
                .unknownPeer, "The address \(address) was not added.", hint: "`lanyard peers` lists the addresses.")
        }
        return PeerChange(address: "\(address)", changed: true)
    }
}

extension AgentSnapshot.NetworkStranger {
    var endpoint: Endpoint { Endpoint(host: host, port: port) }
}

extension AgentSnapshot {
    var discoveryResponse: StatusResponse.Discovery {
        switch discovery {
        case .running: .init(state: .running, instance: instance.isEmpty ? nil : instance)
        case .unavailable: .init(state: .unavailable, instance: nil)
        case .off: .init(state: .off, instance: nil)
        }
    }
}
