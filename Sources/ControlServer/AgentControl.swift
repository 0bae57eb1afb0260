package import ControlAPI

/// The interface of an agent to the control server: all that the control API offers, in the types of `ControlAPI`.
///
/// Every method may be called from any task, any number at once. Names have been checked against `NameRule` and sizes
/// against `ControlLimits` before a call; whether a space, stream, peer or consumer exists is the agent's to say.
/// Errors carry a code, a sentence and a hint. A cancelled call may return early with whatever it has.
package protocol AgentControl: ObjectControl, AttachmentControl, BackupControl, SnapshotControl {
    // MARK: The node

    /// `space` nil: all spaces. Throws `unknown_space`.
    func status(space: String?) async throws(ControlError) -> StatusResponse

    func peers() async throws(ControlError) -> [Peer]

    /// The list of peers now, and again after every change. Make it with `.bufferingNewest(1)`: a slow reader skips
    /// states instead of making memory grow. Ends when the agent stops.
    func peerUpdates() async -> AsyncStream<[Peer]>

    /// Keeps the address and dials it at once. `changed` is false when it was known.
    func addPeer(_ address: HostPort) async throws(ControlError) -> PeerChange

    /// Throws `unknown_peer` when the address was not added before.
    func removePeer(_ address: HostPort) async throws(ControlError) -> PeerChange

    /// `target`: nil for the node, else a peer (name, unique short id or id), `COLLECTION/ID` or an attachment's id.
    /// Throws `unknown_peer` or `not_found`.
    func why(_ target: String?, space: String?) async throws(ControlError) -> WhyResponse

    /// Returns when this node holds all that it should, no device that was not retired lacks anything of it and at least `peers` are
    /// connected, or with `inStep` false after `timeoutMilliseconds`.
    ///
    /// - Parameter connectedOnly: devices without a session do not count.
    func wait(
        peers: Int?, connectedOnly: Bool, timeoutMilliseconds: Int64
    ) async throws(ControlError) -> WaitResponse

    // MARK: Membership

    /// `expiresSeconds` is within 1 to 86,400. Throws `read_only`.
    func invite(
        space: String, role: Role, expiresSeconds: Int
    ) async throws(ControlError) -> InviteResponse

    /// Throws `ticket_invalid`, `ticket_expired`, `ticket_used`, `unreachable`, `version_mismatch`.
    func join(ticket: String) async throws(ControlError) -> JoinResponse

    func devices(space: String) async throws(ControlError) -> [DeviceEntry]

    /// Retires a member: no other member waits for it any more. `device` is a name, a unique beginning of its id, or the id;
    /// `unknown_device`, `ambiguous_device`, or `forbidden` for this one. A device that was retired before is returned
    /// unchanged.
    func retire(space: String, device: String) async throws(ControlError) -> DeviceEntry

    /// Blocks a device: durable, and on this node only. Named as in `retire`, with the same errors.
    func block(space: String, device: String) async throws(ControlError) -> BlockedDevice

    /// Undoes `block`. A device that is not blocked is answered as it is.
    func unblock(space: String, device: String) async throws(ControlError) -> DeviceEntry

    // MARK: Events

    /// Writes each event as a change of its own, in this order, in as few durable commits as it takes. At most
    /// `ControlLimits.groupEvents`; returns after the last commit is durable. When a commit fails, what earlier
    /// commits wrote stays, and the error's `written` counts it.
    func emit(
        space: String, stream: String, events: [EventDraft]
    ) async throws(ControlError) -> EmitResponse

    /// The next events of `query`, at most `limit` and `ControlLimits.pagePayloadBytes` of payload (one event may be
    /// larger), without waiting for more than are there. An empty page means the end. An unknown stream gives an
    /// empty page with `streamExists` false. A consumer is given what its state does not hold: throws `consumer_bound` for
    /// one that reads in the other order, `restore_unfinished`.
    func events(_ query: EventQuery, limit: Int) async throws(ControlError) -> EventPage

    /// Returns the place where the last `count` events of the stream begin in arrival order: of one type or all, before
    /// `before` or up to the end.
    func start(ofLast count: Int, _ query: EventQuery, before: EventPosition?) async throws(ControlError) -> EventStart

    /// The same, but an empty page is not returned: the call waits until there is an event, the agent stops, or the task
    /// is cancelled (then the page is empty). A stream that does not exist yet is waited for. The server asks again only
    /// after the reader took the page before, so a slow reader holds back one page and memory does not grow.
    func nextEvents(_ query: EventQuery, limit: Int) async throws(ControlError) -> EventPage

    /// Moves the cursor of (`consumer`, `stream`) to `position`, durably; a position before it changes nothing, except in
    /// canonical order behind a rewind.
    func acknowledge(
        space: String, consumer: String, stream: String, position: EventPosition
    ) async throws(ControlError)

    /// Returns the streams by name.
    func streams(space: String) async throws(ControlError) -> [StreamEntry]

    /// Returns the consumers by name, then stream.
    func consumers(space: String) async throws(ControlError) -> [ConsumerEntry]

    /// Moves a cursor to `position`, also backwards; creates the consumer when `stream` is given. Without `stream` the
    /// consumer must read exactly one: `unknown_consumer` for none, `consumer_bound` for several.
    func setConsumer(
        space: String, name: String, stream: String?, position: EventPosition
    ) async throws(ControlError) -> ConsumerEntry

    /// Forgets its cursors in all streams; false when there were none.
    func removeConsumer(space: String, name: String) async throws(ControlError) -> Bool

    /// Changes a stream's settings on all nodes; a setting that is nil stays as it is. The stream need not have events yet.
    func setStream(space: String, stream: String, settings: StreamSettings) async throws(ControlError) -> StreamEntry

    // MARK: Health

    func readiness() async -> Readiness

    /// The checks only a running agent can make: `listener`, `clock_skew`, `newest_change`, `connected_peers`,
    /// `store`, `discovery`, `duplicate_identity`, `attachments`. The command adds those it can make itself.
    ///
    /// - Parameters:
    ///   - deep: all that is stored is read, the bytes of attachments too.
    ///   - progress: how far that is.
    func doctorChecks(
        deep: Bool, progress: @escaping @Sendable (ByteProgress) -> Void
    ) async throws(ControlError) -> [DoctorCheck]

    /// The newest `limit` lines of the log, oldest of them first.
    func recentLogLines(limit: Int) async -> [String]

    /// Prometheus text format 0.0.4, ending in a line break.
    func metricsText() async -> String
}

/// The place where reading begins, and the number of events from there.
package struct EventStart: Sendable, Equatable {
    package var after: EventPosition
    package var count: Int

    package init(after: EventPosition, count: Int) {
        self.after = after
        self.count = count
    }
}

/// A query for events of a stream.
package struct EventQuery: Sendable, Equatable {
    package var space: String
    package var stream: String
    package var order: EventOrder
    /// The position to read after. Nil: from the consumer's cursor, or from the beginning without a consumer.
    package var after: EventPosition?
    /// Events handed out for a consumer are remembered, durably, before the page is returned: what is handed out again
    /// without having been acknowledged has `redelivered` set, also after a crash of either side.
    package var consumer: String?
    /// The type of events to read; nil for all. The server leaves the others out of the pages that it is given.
    package var type: String?
    /// True to report late events in canonical order, as for a consumer.
    package var rewinds = false

    package init(
        space: String, stream: String, order: EventOrder = .arrival, after: EventPosition? = nil,
        consumer: String? = nil
    ) {
        self.space = space
        self.stream = stream
        self.order = order
        self.after = after
        self.consumer = consumer
    }
}
