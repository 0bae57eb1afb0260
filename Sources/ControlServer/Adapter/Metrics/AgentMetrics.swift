import ControlAPI
import SyncAgent
import SyncCore
import SyncDiscovery
import SyncModel
import SyncStore

/// The samples of one scrape. Labels are members of the space, our own codes and our own names, so their number is
/// bounded.
struct AgentMetrics {
    let agent: Agent
    let figures: AgentFigures
    let stored: StoredFigures?
    /// All that is stored, changes that are not signed included.
    let held: VersionVector
    /// The times of operations from before the start, in milliseconds since 1970.
    var earlyTimes: [VersionVector.Entry: Int64] = [:]
    /// The changes here that each member lacks; a member of which that is unknown is left out.
    private let unsent: [DeviceID: LagMeter.Unsent]

    private static let space = "home"
    private var now: AgentSnapshot { figures.snapshot }

    init(agent: Agent, figures: AgentFigures, stored: StoredFigures?, held: VersionVector) {
        self.agent = agent
        self.figures = figures
        self.stored = stored
        self.held = held
        let known = figures.snapshot.standings.compactMap { member in member.known.map { (member.device, $0) } }
        unsent = Dictionary(
            known.map { device, known in
                (device, figures.lag.unsent(beyond: known, of: held, openSince: figures.openSince))
            }, uniquingKeysWith: { first, _ in first })
    }

    /// The operations whose age only the log knows.
    var earlyOperations: Set<VersionVector.Entry> {
        var operations = Set(unsent.values.flatMap(\.early))
        for member in now.stability.heldBackBy {
            for entry in member.missing where figures.lag.moment(of: entry.replica, at: entry.next) == .early {
                operations.insert(entry)
            }
        }
        return operations
    }

    var text: MetricsText {
        var text = MetricsText()
        addAgent(to: &text)
        addPeers(to: &text)
        addSpace(to: &text)
        addSessions(to: &text)
        addAttachments(to: &text)
        addStore(to: &text)
        addQueues(to: &text)
        return text
    }

    private func addAgent(to text: inout MetricsText) {
        let process = ProcessFigures()
        text.add("build", [agent.version, "\(now.own)", now.name], 1)
        text.add("uptime_seconds", now.uptimeSeconds)
        text.add("start_time_seconds", Double(agent.startedWallMilliseconds) / 1_000)
        text.add("process_cpu_seconds", process.cpuSeconds)
        text.add("process_resident_memory_bytes", process.residentBytes)
        text.add("process_threads", process.threads)
        text.add("process_open_descriptors", process.openDescriptors)
        text.add("process_max_descriptors", process.maxDescriptors)
        text.add("discovery_running", now.discovery == .running)
        text.add("stranger_agents", now.strangers.count)
        var warnings: [String: Int] = [:]
        for warning in agent.warnings(now) { warnings[warning.code, default: 0] += 1 }
        text.addEach("warnings", warnings)
        for error in agent.journal.occurrences { text.add("errors", [error.code], error.count) }
        if let stored {
            text.add("stored_figures_age_seconds", (ContinuousClock.now - stored.takenAt) / .seconds(1))
        }
    }

    // MARK: Peers

    private func addPeers(to text: inout MetricsText) {
        let (skews, diverged, seen) = (agent.journal.clockSkews, agent.journal.divergedPeers, agent.journal.lastSeen)
        for peer in now.peers {
            guard let device = peer.device else { continue }
            let labels = [peer.name, "\(device)"]
            addLag(of: peer, device, labels: [Self.space] + labels, to: &text)
            text.add("peer_connected", labels, peer.state == .connected)
            if let span = peer.roundTrip {
                text.add("peer_round_trip_seconds", labels, Double(span.nanoseconds) / 1e9)
            }
            if let skew = skews[device] { text.add("peer_clock_skew_seconds", labels, Double(skew) / 1_000) }
            text.add("peer_sessions", labels, figures.sessions.begun[device] ?? 0)
            if let traffic = peer.connection.flatMap({ now.traffic[$0] }) {
                text.add("peer_session_received_bytes", labels, Int(traffic.bytesIn))
                text.add("peer_session_sent_bytes", labels, Int(traffic.bytesOut))
            }
            let heard = peer.lastHeardAt.map { now.wallMilliseconds(at: $0) } ?? seen[device]
            if let heard { text.add("peer_last_heard_timestamp_seconds", labels, Double(heard) / 1_000) }
            text.add("peer_diverged", labels, diverged.contains(device))
        }
    }

    private func addLag(of peer: PeerView, _ device: DeviceID, labels: [String], to text: inout MetricsText) {
        if let unsent = unsent[device] {
            text.add("peer_unsent_changes", labels, Int(unsent.changes.rounded(.up)))
            text.add("peer_unsent_bytes", labels, Int(unsent.bytes.rounded(.up)))
            text.add("peer_unsent_seconds", labels, age(of: unsent, device))
        }
        if let lacking = peer.weLack {
            text.add("peer_wanted_operations", labels, Int(clamping: lacking))
            let since = figures.lag.wantedSince(from: device) { held.next(of: $0) }
            text.add("peer_wanted_seconds", labels, lacking == 0 ? 0 : since.map(age) ?? 0)
        }
        text.add("peer_requested_bytes", labels, peer.outstandingBytes)
        guard now.standings.contains(where: { $0.device == device }) else { return }
        text.add("peer_unacknowledged_seconds", labels, unacknowledgedAge(device))
    }

    private func age(of unsent: LagMeter.Unsent, _ device: DeviceID) -> Double {
        let early = unsent.early.map { earlyAge($0) }.max() ?? 0
        return bounded(max(early, unsent.since.map(age) ?? 0), device)
    }

    private func unacknowledgedAge(_ device: DeviceID) -> Double {
        guard let member = now.stability.heldBackBy.first(where: { $0.device == device }) else { return 0 }
        let ages = member.missing.map { entry in
            switch figures.lag.moment(of: entry.replica, at: entry.next) {
            case .at(let tick): age(tick)
            case .early: earlyAge(entry)
            case .open: figures.openSince.map(age) ?? 0
            }
        }
        return bounded(ages.max() ?? 0, device)
    }

    private func age(_ tick: Tick) -> Double { max(0, Double((now.now - tick).nanoseconds) / 1e9) }

    /// The age by the author's clock; of what the log does not hold any more, at least the time since the start.
    private func earlyAge(_ entry: VersionVector.Entry) -> Double {
        guard let time = earlyTimes[entry] else { return Double(now.uptimeSeconds) }
        return max(Double(now.uptimeSeconds), Double(now.wallMilliseconds - time) / 1_000)
    }

    /// A device cannot have been late before it was a member.
    private func bounded(_ age: Double, _ device: DeviceID) -> Double {
        guard let admitted = now.membership.admission(of: device)?.wallMilliseconds else { return age }
        return min(age, max(0, Double(now.wallMilliseconds - admitted) / 1_000))
    }

    // MARK: Spaces

    private func addSpace(to text: inout MetricsText) {
        let (home, counts) = ([Self.space], now.counts)
        text.add("changes", home, Int(counts.changes))
        text.add("dropped_changes", home, Int(counts.droppedChanges))
        let stable = now.stability.stable
        let operations = held.entries.reduce(UInt64(0)) { $0 &+ $1.next }
        let unstable = held.entries(beyond: stable).reduce(UInt64(0)) { $0 &+ $1.next &- stable.next(of: $1.replica) }
        text.add("operations", home, Int(clamping: operations))
        text.add("unstable_operations", home, Int(clamping: unstable))
        text.add("holding_back_members", home, now.stability.heldBackBy.count)
        text.add("late_operations", home, Int(counts.lateOperations))
        text.add("events", home, Int(counts.events))
        text.add("objects", home, Int(counts.objects))
        text.add("deleted_objects", home, Int(counts.deletedObjects))
        text.add("attachments", home, Int(counts.attachments))
        text.add("newest_change_timestamp_seconds", home, Double(now.newestStampMilliseconds) / 1_000)
        text.add("replicas", home, now.tips.count)
        text.add("members", home, now.members.count)
        let areOthersInStep = now.standings.allSatisfy { $0.known?.covers(held) ?? false }
        let isWhole = stored.map { $0.missing.count == 0 } ?? false
        text.add(
            "in_step", home, areOthersInStep && isWhole && now.isInStepWithConnected && !now.isWritingAgain)
        text.add("in_step_connected", home, now.isInStepWithConnected)
        guard let stored else { return }
        text.add("conflicts", home, stored.conflicts)
        text.add("wanted_attachments", home, stored.missing.count)
        text.add("wanted_attachment_bytes", home, Int(stored.missing.bytes))
    }

    // MARK: The rest

    private func addSessions(to text: inout MetricsText) {
        let (core, traffic) = (now.core, now.traffic.values)
        text.add("peers_connected", now.peers.count { $0.state == .connected })
        text.add("blocked_devices", now.blocked.count)
        text.add("sessions", core.sessionsOpened)
        text.addEach("ended_sessions", figures.sessions.endedByReason)
        text.addEach("reconnects", figures.sessions.resumedByReason)
        for refusal in figures.refusals { text.add("refusals", [refusal.code], refusal.count) }
        text.add("offences", core.offences)
        text.add("session_received_bytes", traffic.reduce(0) { $0 + Int($1.bytesIn) })
        text.add("session_sent_bytes", traffic.reduce(0) { $0 + Int($1.bytesOut) })
        text.add("segments_received", core.segmentsReceived)
        text.add("segments_duplicate", core.segmentsDuplicate)
        text.add("segments_evicted", core.segmentsEvicted)
        text.add("pushes", core.pushesSent)
        text.add("wants", core.wantsSent)
        text.add("wants_reassigned", core.wantsReassigned)
        text.add("haves", core.havesSent)
        text.add("acknowledgements_sent", core.acknowledgementsSent)
        text.add("acknowledgements_refused", core.acknowledgementsRefused)
        text.add("states_offered", core.statesOffered)
        text.add("states_handed", core.statesHanded)
        text.add("states_taken", core.statesTaken)
        text.add("states_dropped", core.statesDropped)
        text.add("states_refused", core.statesRefused)
        text.add("state_received_bytes", core.stateBytesReceived)
        text.add("presences_received", core.presencesReceived)
        text.add("presences_sent", core.presencesSent)
        text.add("presences_dropped", core.presencesDropped)
        text.add("presences_refused", core.presencesRefused)
    }

    private func addAttachments(to text: inout MetricsText) {
        if let blobs = stored?.blobs {
            text.add("whole_blobs", blobs.wholeCount)
            text.add("whole_blob_bytes", Int(clamping: blobs.wholeBytes))
            text.add("partial_blobs", blobs.partialCount)
            text.add("partial_blob_bytes", Int(clamping: blobs.partialBytes))
            let missing = blobs.partialSizeBytes - min(blobs.partialBytes, blobs.partialSizeBytes)
            text.add("partial_blob_missing_bytes", Int(clamping: missing))
        }
        text.add("blobs_fetched", now.bulk.blobsFetched)
        text.add("blob_received_bytes", Int(clamping: now.blobs.bytesIn))
        text.add("blob_sent_bytes", Int(clamping: now.blobs.bytesOut))
        text.add("blob_in_flight_bytes", now.bulkLoad.inFlightBytes)
        text.add("chunks_received", now.bulk.chunksReceived)
        text.add("chunks_duplicate", now.bulk.chunksDuplicate)
        text.add("chunks_wrong", now.bulk.chunksWrong + now.bulk.smallWrong)
        text.add("chunks_served", now.bulk.chunksServed)
    }

    private func addStore(to text: inout MetricsText) {
        let health = agent.storeHealth
        text.add("store_ok", health.condition == .ok)
        text.add("store_bytes", Int(health.bytes))
        text.add("store_log_bytes", Int(health.logBytes))
        if let free = health.freeDiskBytes { text.add("disk_free_bytes", Int(free)) }
        if let size = health.diskBytes { text.add("disk_size_bytes", Int(size)) }
        text.add("store_sync_seconds", [], figures.syncs)
        text.add("commit_seconds", [], figures.commits)
        text.add("apply_seconds", [], figures.applies)
        for level in figures.durability { text.add("durable_seconds", ["\(level.devices)"], level.counts) }
    }

    /// The bounds are those that the simulator holds the core to (`BoundedMemoryChecker`, `BulkMemoryChecker`).
    private func addQueues(to text: inout MetricsText) {
        let (load, bounds, segment) = (figures.load, figures.bounds, Limits.segmentBytes)
        let (bulk, bulkBounds) = (now.bulkLoad, figures.bulkBounds)
        let presence = (bounds.presencesKept + 1) * (Limits.presenceRecordBytes + ChainSignature.byteCount)
        let bytes = [
            ("waiting_room", load.waitingRoomBytes, bounds.waitingRoomBytes + 2 * segment),
            ("unconfirmed_pushes", load.unconfirmedBytes, bounds.inFlightBytesPerPeer),
            (
                "outbound", load.bufferedBytes,
                bounds.inFlightBytesPerPeer + bounds.outboundBufferBytes + 2 * segment
            ),
            ("wants", load.outstandingWantBytes, bounds.waitingRoomBytes + 16 * segment),
            ("states", load.stateBytes, bounds.stateWindowBytes + segment),
            ("presence", load.presenceBytes, presence),
            ("blobs_in_flight", bulk.inFlightBytes, bulkBounds.windowBytes + BlobLayout.chunkBytes),
            ("blobs_unwritten", bulk.unwrittenBytes, bulkBounds.windowBytes + BlobLayout.chunkBytes),
            ("blob_hashes", bulk.hashBytes, bulkBounds.hashBytes),
        ]
        for (queue, count, limit) in bytes {
            text.add("queue_bytes", [queue], count)
            text.add("queue_limit_bytes", [queue], limit)
        }
        let entries = [
            ("addresses", load.dialTargets, bounds.dialTargets), ("states_served", load.outlets, bounds.statesServed),
            ("blobs_wanted", bulk.wants, nil), ("blobs_at_work", bulk.blobsAtWork, bulkBounds.blobsAtWork),
            ("read_threads", figures.readThreads.busy, figures.readThreads.count),
            ("reads", figures.waitingReads, nil), ("writes", figures.waitingWrites, nil),
            ("served_reads", load.reads, nil),
        ]
        for (queue, count, limit) in entries {
            text.add("queue_entries", [queue], count)
            if let limit { text.add("queue_limit_entries", [queue], limit) }
        }
    }
}

extension MetricsText {
    /// Adds a sample for each code, sorted.
    fileprivate mutating func addEach(_ name: String, _ counts: [String: Int]) {
        for (code, count) in counts.sorted(by: { $0.key < $1.key }) { add(name, [code], count) }
    }
}
