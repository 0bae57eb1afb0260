/// The metrics by the part of the agent that they describe.
package enum MetricTable {
    package struct Group: Sendable {
        package let title: String
        package let metrics: [Metric]
    }

    package static let groups = [
        Group(title: "The agent", metrics: agent), Group(title: "Peers", metrics: peers),
        Group(title: "Spaces", metrics: spaces), Group(title: "Sessions and changes", metrics: sessions),
        Group(title: "Attachments", metrics: attachments), Group(title: "The store", metrics: store),
        Group(title: "Queues", metrics: queues),
    ]

    package static let all = groups.flatMap(\.metrics)

    private static let agent = [
        Metric(
            "build", .info, "The version of the agent, and the device that it runs on.",
            labels: ["version", "device", "name"]),
        Metric("uptime_seconds", .gauge, "seconds", "Time since the agent started."),
        Metric("start_time_seconds", .gauge, "seconds", "Time at which the agent started, since 1970."),
        Metric("process_cpu_seconds", .counter, "seconds", "Processor time used by the agent."),
        Metric("process_resident_memory_bytes", .gauge, "bytes", "Memory of the agent that is in RAM."),
        Metric("process_threads", .gauge, "threads", "Threads of the agent."),
        Metric("process_open_descriptors", .gauge, "descriptors", "Files and sockets that the agent has open."),
        Metric("process_max_descriptors", .gauge, "descriptors", "Files and sockets that the agent may have open."),
        Metric("discovery_running", .gauge, "1 if mDNS runs, so that other devices are found by themselves."),
        Metric("stranger_agents", .gauge, "agents", "Agents seen on the network that are not paired with this device."),
        Metric("warnings", .gauge, "warnings", "Warnings that lanyard status shows now.", labels: ["code"]),
        Metric("errors", .counter, "errors", "Errors, ends of sessions included.", labels: ["code"]),
        Metric(
            "stored_figures_age_seconds", .gauge, "seconds",
            "Age of the figures that are counted on the disk: conflicts and attachments. A scrape has them counted anew "
                + "when they are older than 5 seconds, and does not wait for it."),
    ]

    private static let device = ["peer", "device"]
    private static let link = ["space", "peer", "device"]

    private static let peers = [
        Metric(
            "peer_unsent_changes", .gauge, "changes",
            "Changes stored here that the peer has not announced. Estimated where they came before the agent started. "
                + "Absent while it is unknown what the peer holds.", labels: link),
        Metric("peer_unsent_bytes", .gauge, "bytes", "The same in bytes of the log.", labels: link),
        Metric(
            "peer_unsent_seconds", .gauge, "seconds",
            "Time for which the oldest of them has been stored here, since the peer was admitted at most; "
                + "0 if there is none.",
            labels: link),
        Metric(
            "peer_wanted_operations", .gauge, "operations",
            "Operations that the peer announced and that are not stored here. A change has one or more. "
                + "Absent without a session.", labels: link),
        Metric(
            "peer_wanted_seconds", .gauge, "seconds",
            "Time since the peer first announced the oldest of them; 0 if there is none.", labels: link),
        Metric(
            "peer_requested_bytes", .gauge, "bytes", "Bytes of changes that are asked of the peer and under way.",
            labels: link),
        Metric(
            "peer_unacknowledged_seconds", .gauge, "seconds",
            "Time for which the oldest change that the peer has not acknowledged has been stored here: until then "
                + "history and deletions are kept. A peer acknowledges once a minute.", labels: link),
        Metric("peer_connected", .gauge, "1 if there is a session with the peer.", labels: device),
        Metric(
            "peer_round_trip_seconds", .gauge, "seconds", "Round trip time of the session. Absent without one.",
            labels: device),
        Metric(
            "peer_clock_skew_seconds", .gauge, "seconds",
            "How far the peer's clock was ahead of this one when its last session began.", labels: device),
        Metric("peer_sessions", .counter, "sessions", "Sessions with the peer.", labels: device),
        Metric("peer_session_received_bytes", .gauge, "bytes", "Bytes read on the session, below TLS.", labels: device),
        Metric("peer_session_sent_bytes", .gauge, "bytes", "Bytes written on the session, below TLS.", labels: device),
        Metric(
            "peer_last_heard_timestamp_seconds", .gauge, "seconds",
            "Time at which the peer was last heard, since 1970. Absent before the first time since the agent started.",
            labels: device),
        Metric(
            "peer_diverged", .gauge, "1 if the peer shows another state, or another history, of what both hold.",
            labels: device),
    ]

    private static let space = ["space"]

    private static let spaces = [
        Metric("changes", .gauge, "changes", "Changes in the log.", labels: space),
        Metric(
            "dropped_changes", .counter, "changes",
            "Changes that were dropped from the log, since every device has them.", labels: space),
        Metric("operations", .gauge, "operations", "Operations of all changes that were ever stored.", labels: space),
        Metric(
            "unstable_operations", .gauge, "operations", "Operations that not every device has acknowledged.",
            labels: space),
        Metric(
            "holding_back_members", .gauge, "members",
            "Devices that have not acknowledged all changes: each has a peer_unacknowledged_seconds above 0.",
            labels: space),
        Metric(
            "late_operations", .counter, "operations",
            "Operations that came for something that was forgotten, and were dropped.", labels: space),
        Metric("events", .gauge, "events", "Events stored.", labels: space),
        Metric("objects", .gauge, "objects", "Objects that are not deleted.", labels: space),
        Metric(
            "deleted_objects", .gauge, "objects", "Deletions that are kept, so that no device brings the object back.",
            labels: space),
        Metric(
            "conflicts", .gauge, "conflicts", "Objects and schemas with conflicts that wait for a person; 256 at most.",
            labels: space),
        Metric("attachments", .gauge, "attachments", "Attachments that a reader sees.", labels: space),
        Metric(
            "newest_change_timestamp_seconds", .gauge, "seconds",
            "Stamp of the newest change, since 1970; 0 before the first.", labels: space),
        Metric("replicas", .gauge, "replicas", "Replicas in the version vector.", labels: space),
        Metric("members", .gauge, "members", "Devices of the space, this one included.", labels: space),
        Metric(
            "in_step", .gauge,
            "1 if this device lacks nothing, and no device that was not retired lacks anything, connected or not.",
            labels: space),
        Metric("in_step_connected", .gauge, "1 if every connected device holds the same.", labels: space),
    ]

    private static let sessions = [
        Metric("peers_connected", .gauge, "Devices with a session."),
        Metric("blocked_devices", .gauge, "devices", "Devices that this one has nothing to do with."),
        Metric("sessions", .counter, "sessions", "Sessions opened."),
        Metric("ended_sessions", .counter, "sessions", "Sessions that ended, by the reason.", labels: ["reason"]),
        Metric(
            "reconnects", .counter, "reconnects",
            "Sessions that followed another one with the same device, by the reason for which that one ended.",
            labels: ["reason"]),
        Metric("refusals", .counter, "refusals", "Connections refused.", labels: ["code"]),
        Metric("offences", .counter, "offences", "Sessions ended because the peer broke the protocol."),
        Metric("session_received_bytes", .gauge, "bytes", "Bytes read by open sessions, below TLS."),
        Metric("session_sent_bytes", .gauge, "bytes", "Bytes written by open sessions, below TLS."),
        Metric("segments_received", .counter, "Segments received."),
        Metric("segments_duplicate", .counter, "Segments received that were stored already."),
        Metric("segments_evicted", .counter, "Times the waiting room was cleared, since it was full."),
        Metric("pushes", .counter, "pushes", "Segments sent without being asked for."),
        Metric("wants", .counter, "wants", "Stretches of changes asked for."),
        Metric("wants_reassigned", .counter, "Stretches asked of another peer, since the first was late."),
        Metric("haves", .counter, "haves", "Announcements sent."),
        Metric("acknowledgements_sent", .counter, "Acknowledgements sent, to all peers."),
        Metric("acknowledgements_refused", .counter, "Acknowledgements with a wrong signature."),
        Metric("states_offered", .counter, "States offered to peers in place of changes."),
        Metric("states_handed", .counter, "States sent to their end."),
        Metric("states_taken", .counter, "States received and joined."),
        Metric("states_dropped", .counter, "States that ended before all came."),
        Metric("states_refused", .counter, "States received of which nothing was used."),
        Metric("state_received_bytes", .counter, "bytes", "Bytes of states received."),
        Metric("presences_received", .counter, "Presence records taken."),
        Metric("presences_sent", .counter, "Presence records sent, to all peers."),
        Metric("presences_dropped", .counter, "Presence records beyond their rate."),
        Metric("presences_refused", .counter, "Presence records with a wrong signature."),
    ]

    private static let attachments = [
        Metric(
            "wanted_attachments", .gauge, "attachments",
            "Attachments whose bytes should be here, by policy or pin, and are not.", labels: space),
        Metric("wanted_attachment_bytes", .gauge, "bytes", "Their sizes.", labels: space),
        Metric("whole_blobs", .gauge, "blobs", "Contents of attachments that are here as a whole."),
        Metric("whole_blob_bytes", .gauge, "bytes", "Their sizes."),
        Metric("partial_blobs", .gauge, "blobs", "Contents of attachments of which some is here, or will be next."),
        Metric("partial_blob_bytes", .gauge, "bytes", "Bytes of them that are stored."),
        Metric("partial_blob_missing_bytes", .gauge, "bytes", "Bytes of them that are not stored."),
        Metric("blobs_fetched", .counter, "Contents of attachments that came from other devices."),
        Metric("blob_received_bytes", .counter, "bytes", "Bytes of attachments received."),
        Metric("blob_sent_bytes", .counter, "bytes", "Bytes of attachments sent."),
        Metric("blob_in_flight_bytes", .gauge, "bytes", "Bytes of attachments asked for and not written yet."),
        Metric("chunks_received", .counter, "Chunks of attachments received."),
        Metric("chunks_duplicate", .counter, "Chunks received that were stored already."),
        Metric("chunks_wrong", .counter, "Chunks and small attachments that were not what was asked for."),
        Metric("chunks_served", .counter, "Chunks sent to other devices."),
    ]

    private static let store = [
        Metric("store_ok", .gauge, "1 if the store takes writes."),
        Metric(
            "store_bytes", .gauge, "bytes",
            "Size of the database, its write-ahead log included; attachments are beside it."),
        Metric("store_log_bytes", .gauge, "bytes", "Size of the database's write-ahead log."),
        Metric(
            "disk_free_bytes", .gauge, "bytes",
            "Bytes that the agent may still write to the disk of its data directory."),
        Metric("disk_size_bytes", .gauge, "bytes", "Size of that disk."),
        Metric(
            "store_sync_seconds", .histogram, "seconds",
            "Time of the end of a transaction: the write-ahead log is written and synced to the disk."),
        Metric(
            "commit_seconds", .histogram, "seconds",
            "Time of a commit of local writes on the store's thread; writes that come meanwhile are the next commit."),
        Metric("apply_seconds", .histogram, "seconds", "Time of a commit of peers' changes on the store's thread."),
        Metric(
            "durable_seconds", .histogram, "seconds",
            "Time from a commit of local writes until so many devices, this one included, announced that they hold it "
                + "on their disks.", labels: ["devices"]),
    ]

    private static let queue = ["queue"]

    private static let queues = [
        Metric(
            "queue_bytes", .gauge, "bytes", "Bytes in a queue; of queues for each peer those of the longest.",
            labels: queue),
        Metric("queue_limit_bytes", .gauge, "bytes", "Bytes that may be in it.", labels: queue),
        Metric("queue_entries", .gauge, "entries", "Entries in a queue.", labels: queue),
        Metric(
            "queue_limit_entries", .gauge, "entries",
            "Entries that may be in it. Absent where what waits is bounded by its callers, "
                + "of which each waits for one.",
            labels: queue),
    ]
}
