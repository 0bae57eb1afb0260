public import ControlAPI

extension LanyardClient {
    // MARK: This node

    /// Returns the status of this node; of one space or, with nil, of all.
    public func status(space: String? = nil) async throws(ControlError) -> StatusResponse {
        var request = ClientRequest(.GET, "v1", "status")
        request.query = [("space", space)]
        return try await value(request)
    }

    /// The agent's version.
    public func version() async throws(ControlError) -> VersionResponse {
        try await value(ClientRequest(.GET, "v1", "version"))
    }

    /// Returns the configuration that the agent runs with.
    public func configuration() async throws(ControlError) -> ConfigurationResponse {
        try await value(ClientRequest(.GET, "v1", "configuration"))
    }

    /// Has the agent read its configuration again, and take over what can change while it runs.
    public func reloadConfiguration() async throws(ControlError) -> ReloadResponse {
        try await value(ClientRequest(.POST, "v1", "configuration", "reload"))
    }

    /// Sets the level from which on the agent logs, for some time (ten minutes with nil), of one component or of all; then, and after
    /// a restart, the configured one counts again.
    public func setLogLevel(
        _ level: String, forMilliseconds: Int? = nil, of component: LogComponent? = nil
    ) async throws(ControlError) -> LogLevelResponse {
        try await value(
            ClientRequest(.PUT, "v1", "log-level"),
            body: LogLevelRequest(
                level: level, forMilliseconds: forMilliseconds, component: component?.rawValue))
    }

    /// Returns the agent's metrics in OpenMetrics, as they are scraped.
    package func metrics() async throws(ControlError) -> [UInt8] { try await bytes(ClientRequest(.GET, "metrics")) }

    /// Returns the readiness of the agent for work.
    public func readiness() async throws(ControlError) -> Readiness {
        try await withConnection { connection in
            // 503 is an answer here, not a failure.
            _ = try await connection.send(ClientRequest(.GET, "readyz"))
            return try JSONDecoding.value(
                Readiness.self, from: try await connection.collect(), unknownKeys: .ignore)
        }
    }

    /// Returns what keeps the node (nil), a peer, an object or an attachment from being in step; `space` is `home` if nil.
    public func why(_ target: String? = nil, space: String? = nil) async throws(ControlError) -> WhyResponse {
        var request = ClientRequest(.GET, "v1", "why")
        request.query = [("target", target), ("space", space)]
        return try await value(request)
    }

    /// Waits until this node holds all that it should, no device that was not retired lacks anything of it, and at least `peers` are
    /// connected. With `connectedOnly`, devices without a session do not count. After the timeout the answer says `inStep` false and
    /// which devices were waited for.
    public func wait(
        peers: Int? = nil, connectedOnly: Bool = false, timeoutMilliseconds: Int = 30_000
    ) async throws(ControlError) -> WaitResponse {
        var request = ClientRequest(.GET, "v1", "wait")
        request.query = [
            ("peers", peers.map(String.init)), ("connected", connectedOnly ? "true" : nil),
            ("timeoutMilliseconds", String(timeoutMilliseconds)),
        ]
        return try await value(request)
    }

    /// Waits until `devices` devices, this one included, have said that a write is on their disks. `version` is that of the
    /// object or the dot of the event as the write returned it. After the timeout the answer says `reached` false; the write
    /// stays, and goes on to the others.
    public func untilDurable(
        _ version: DotText, on devices: Int, timeoutMilliseconds: Int = 30_000
    ) async throws(ControlError) -> DurabilityResponse {
        var request = ClientRequest(.GET, "v1", "durability")
        request.query = [
            ("version", version.description), ("devices", String(devices)),
            ("timeoutMilliseconds", String(timeoutMilliseconds)),
        ]
        return try await value(request)
    }

    /// The checks only the agent can make.
    public func doctorChecks() async throws(ControlError) -> [DoctorCheck] {
        try await value(ClientRequest(.GET, "v1", "doctor"))
    }

    /// The same, with all that is stored read again; `progress` is told how far that is, a few times a second.
    public func deepDoctorChecks(
        progress: (ByteProgress) async throws -> Void = { _ in }
    ) async throws -> [DoctorCheck] {
        var request = ClientRequest(.GET, "v1", "doctor")
        request.query = [("deep", "true")]
        return try await result(of: request, progress)
    }

    /// Calls `body` with a backup of all that the agent has, its keys too, piece by piece; a slow `body` holds back the agent.
    /// It is whole only if this returns. Only for the agent's user and root.
    public func backup(_ body: ([UInt8]) async throws -> Void) async throws {
        try await withCaller { connection in
            try await connection.check(try await connection.send(ClientRequest(.POST, "v1", "backup")))
            while let chunk = try await connection.nextChunk() {
                try await ClientConnection.handing { try await body(chunk) }
            }
        }
    }

    /// The backups that the agent makes by itself.
    public func backups() async throws(ControlError) -> BackupsResponse {
        try await value(ClientRequest(.GET, "v1", "backups"))
    }

    /// Has the agent make backups by itself from now on; the first begins at once. Only for the agent's user and root.
    public func setBackups(_ plan: BackupPlanEntry) async throws(ControlError) -> BackupsResponse {
        try await value(ClientRequest(.PUT, "v1", "backups"), body: plan)
    }

    /// Ends that; the files stay.
    public func endBackups() async throws(ControlError) -> BackupsResponse {
        try await value(ClientRequest(.DELETE, "v1", "backups"))
    }

    /// Returns when a backup of the plan was made now, or one that was under way is done; throws what kept it from being made.
    public func backUpNow() async throws(ControlError) -> BackupsResponse {
        var request = ClientRequest(.POST, "v1", "backups")
        request.isRepeatable = false
        return try await value(request)
    }

    // MARK: Dashboard

    /// Returns all that the dashboard shows of this node at once.
    public func overview() async throws(ControlError) -> Overview {
        try await value(ClientRequest(.GET, "v1", "overview"))
    }

    /// Returns an address that signs one browser in to the dashboard. Throws `not_found` if the agent serves none.
    public func dashboardLink() async throws(ControlError) -> DashboardLink {
        var request = ClientRequest(.POST, "v1", "dashboard")
        request.isRepeatable = false
        return try await value(request)
    }

    /// Signs all browsers out of the dashboard.
    public func signOutOfDashboard() async throws(ControlError) -> DashboardSignOut {
        try await value(ClientRequest(.DELETE, "v1", "dashboard"))
    }

    // MARK: Peers

    /// Returns the other agents as this node sees them.
    public func peers() async throws(ControlError) -> [Peer] {
        try await value(ClientRequest(.GET, "v1", "peers"))
    }

    /// Calls `body` with the list of peers now and after every change, until it throws or the task is cancelled. A slow
    /// body is given the newest list only.
    public func watchPeers(_ body: ([Peer]) async throws -> Void) async throws {
        try await watch(ClientRequest(.GET, "v1", "peers"), body)
    }

    /// Measures the way to a device once: a round trip of the session, and the time until the device says that the newest change of
    /// this one is on its disk. It is named by its name, short id or id.
    public func ping(_ peer: String, timeoutMilliseconds: Int = 5_000) async throws(ControlError) -> PingResponse {
        var request = ClientRequest(.GET, "v1", "peers", .name(peer), "ping")
        request.query = [("timeoutMilliseconds", String(timeoutMilliseconds))]
        return try await value(request)
    }

    /// Returns the round trip between two devices, as `other` measured it last. Each is named by its name, short id or id. Throws
    /// `timed_out` if `other` did not answer.
    public func roundTrip(
        to peer: String, from other: String, timeoutMilliseconds: Int = 5_000
    ) async throws(ControlError) -> RoundTripResponse {
        var request = ClientRequest(.GET, "v1", "peers", .name(peer), "round-trip")
        request.query = [("from", other), ("timeoutMilliseconds", String(timeoutMilliseconds))]
        return try await value(request)
    }

    /// Keeps an address to dial; `changed` is false when it was known.
    public func addPeer(_ address: HostPort) async throws(ControlError) -> PeerChange {
        try await value(
            ClientRequest(.POST, "v1", "peers"), body: PeerAddress(address: address.description))
    }

    /// Forgets an address that was added.
    public func removePeer(_ address: HostPort) async throws(ControlError) -> PeerChange {
        try await value(ClientRequest(.DELETE, "v1", "peers", .name(address.description)))
    }

    // MARK: Membership

    /// A one-time ticket that lets another device in.
    public func invite(_ invitation: InviteRequest = InviteRequest()) async throws(ControlError) -> InviteResponse {
        var request = ClientRequest(.POST, "v1", "invitations")
        request.isRepeatable = false
        return try await value(request, body: invitation)
    }

    /// Joins with a ticket made elsewhere; returns when the other side has let us in.
    public func join(ticket: String) async throws(ControlError) -> JoinResponse {
        var request = ClientRequest(.POST, "v1", "join")
        request.isRepeatable = false
        return try await value(request, body: JoinRequest(ticket: ticket))
    }

    /// Retires a member: no other member waits for it any more. `device` is its name, a beginning of its id, or the id. If the
    /// device comes back, it is admitted again, and what it wrote meanwhile is written again.
    public func retire(device: String, space: String = "home") async throws(ControlError) -> DeviceEntry {
        try await value(
            ClientRequest(.POST, "v1", "spaces", .name(space), "devices", .name(device), "retirement"))
    }

    /// Blocks a member, on this node only: no sessions, no dials, no pairing from now on. It is named as in `retire`; better by
    /// its id, for a name is chosen by its device.
    public func block(device: String, space: String = "home") async throws(ControlError) -> BlockedDevice {
        try await value(ClientRequest(.PUT, "v1", "spaces", .name(space), "devices", .name(device), "block"))
    }

    /// Undoes `block`.
    public func unblock(device: String, space: String = "home") async throws(ControlError) -> DeviceEntry {
        try await value(ClientRequest(.DELETE, "v1", "spaces", .name(space), "devices", .name(device), "block"))
    }

    /// The members of a space.
    public func devices(space: String = "home") async throws(ControlError) -> [DeviceEntry] {
        try await value(ClientRequest(.GET, "v1", "spaces", .name(space), "devices"))
    }

    /// Calls `body` with batches of the log of trust: which device admitted, retired or blocked which, in the order in which
    /// this node learned of it.
    public func readDeviceLog(
        limit: Int? = nil, space: String = "home", _ body: ([TrustEntry]) async throws -> Void
    ) async throws {
        var request = ClientRequest(.GET, "v1", "spaces", .name(space), "devices", "log")
        request.query = [("limit", limit.map(String.init))]
        try await readLines(request, body)
    }
}
