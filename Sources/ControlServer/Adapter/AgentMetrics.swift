import SyncAgent
import SyncCore
import SyncDiscovery
import SyncStore

/// The agent's figures in Prometheus' text format 0.0.4. Labels come from our own enums, so their number is bounded.
struct AgentMetrics {
    let now: AgentSnapshot
    /// True if nothing is missing here, and no device that was not retired lacks anything.
    let isInStep: Bool
    let store: StoreHealth
    let occurrences: [AgentJournal.Occurrence]
    let refusals: [(code: String, count: Int)]

    var text: String {
        var text = ""
        func add(_ name: String, _ kind: String, _ help: String, _ samples: [(labels: String, value: Int)]) {
            text += "# HELP lanyard_\(name) \(help)\n# TYPE lanyard_\(name) \(kind)\n"
            for sample in samples { text += "lanyard_\(name)\(sample.labels) \(sample.value)\n" }
        }
        func one(_ value: Int) -> [(labels: String, value: Int)] { [("", value)] }
        let traffic = now.traffic.values
        add("uptime_seconds", "gauge", "Since the agent started.", one(now.uptimeSeconds))
        add("changes", "gauge", "Changes held.", one(Int(now.counts.changes)))
        add("events", "gauge", "Events held.", one(Int(now.counts.events)))
        add("replicas", "gauge", "Replicas in the version vector.", one(now.tips.count))
        add("members", "gauge", "Devices of the space, this one included.", one(now.members.count))
        add("peers_connected", "gauge", "Devices with a session.", one(now.peers.count { $0.state == .connected }))
        add(
            "in_step", "gauge", "1 if no device that was not retired lacks anything, connected or not.",
            one(isInStep ? 1 : 0))
        add(
            "in_step_connected", "gauge", "1 if every connected device holds the same.",
            one(now.isInStepWithConnected ? 1 : 0))
        add("store_bytes", "gauge", "Size of the database.", one(Int(store.bytes)))
        add("store_ok", "gauge", "1 if the store takes writes.", one(store.condition == .ok ? 1 : 0))
        add("discovery_running", "gauge", "1 if mDNS runs.", one(now.discovery == .running ? 1 : 0))
        add(
            "session_bytes_in", "gauge", "Read by open sessions, below TLS.",
            one(traffic.reduce(0) { $0 + Int($1.bytesIn) }))
        add(
            "session_bytes_out", "gauge", "Written by open sessions, below TLS.",
            one(traffic.reduce(0) { $0 + Int($1.bytesOut) }))
        add("sessions_total", "counter", "Sessions opened.", one(now.core.sessionsOpened))
        add("segments_received_total", "counter", "Segments received.", one(now.core.segmentsReceived))
        add("segments_duplicate_total", "counter", "Segments received twice.", one(now.core.segmentsDuplicate))
        add("segments_evicted_total", "counter", "Times the waiting room was cleared.", one(now.core.segmentsEvicted))
        add("pushes_total", "counter", "Segments pushed.", one(now.core.pushesSent))
        add("wants_total", "counter", "Ranges asked for.", one(now.core.wantsSent))
        add("wants_reassigned_total", "counter", "Ranges asked for again.", one(now.core.wantsReassigned))
        add("haves_total", "counter", "Announcements sent.", one(now.core.havesSent))
        add("presences_received_total", "counter", "Presence records taken.", one(now.core.presencesReceived))
        add("presences_dropped_total", "counter", "Presence beyond its rate.", one(now.core.presencesDropped))
        add("presences_refused_total", "counter", "Presence badly signed.", one(now.core.presencesRefused))
        add("offences_total", "counter", "Sessions ended for an offence.", one(now.core.offences))
        add("blob_bytes_in_total", "counter", "Bytes of blobs received.", one(Int(clamping: now.blobs.bytesIn)))
        add("blob_bytes_out_total", "counter", "Bytes of blobs sent.", one(Int(clamping: now.blobs.bytesOut)))
        add("blobs_fetched_total", "counter", "Blobs that came from other devices.", one(now.bulk.blobsFetched))
        add("chunks_received_total", "counter", "Chunks of blobs received.", one(now.bulk.chunksReceived))
        add("chunks_duplicate_total", "counter", "Chunks that were here.", one(now.bulk.chunksDuplicate))
        add(
            "chunks_wrong_total", "counter", "Chunks and small blobs that were not what was asked for.",
            one(now.bulk.chunksWrong + now.bulk.smallWrong))
        add("blob_bytes_in_flight", "gauge", "Asked for and not kept yet.", one(now.bulkLoad.inFlightBytes))
        add("refusals_total", "counter", "Connections refused.", refusals.map { ("{code=\"\($0.code)\"}", $0.count) })
        add("errors_total", "counter", "Errors by code.", occurrences.map { ("{code=\"\($0.code)\"}", $0.count) })
        return text
    }
}
