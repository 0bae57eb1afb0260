package import SyncModel

/// What an agent keeps: the log of every replica, what it shows of it, and what it remembers of its peers.
///
/// All calls are synchronous and safe from any thread; writes run one after the other. A write that returns is durable
/// (`SQLiteStore`: fdatasync done), a write that throws left nothing behind. One contract test suite runs against
/// every implementation.
package protocol ReplicaStore: AnyObject, Sendable {
    /// What the agent must know before its first step. Memory needed does not grow with the log.
    func state() throws(StoreError) -> StoreState

    // Log

    /// Authors one change per group of operations, chains, signs and commits all of them in one transaction.
    /// Mints a new incarnation first when the lease does not prove that this store lost nothing.
    func append(_ groups: [[Operation]], wallMilliseconds: Int64) throws(StoreError) -> Commit

    /// Applies verified segments in one transaction, in the order given: each begins at its replica's tip and its
    /// context is covered by what is held or comes before it. Idempotent: a segment that is wholly held is skipped.
    func apply(_ segments: [VerifiedSegment], wallMilliseconds: Int64) throws(StoreError) -> Commit

    /// The next append begins a new incarnation: called when a verified signature of our own key shows our current one
    /// with a greater end or another head. Applying segments of our current incarnation has the same effect.
    func closeIncarnation() throws(StoreError)

    /// Consecutive segments of `replica` from counter `start` (where a change begins), whole ones, up to about
    /// `byteBudget` bytes but at least one; neighbours are merged while the rules of `Segment` allow it.
    /// Empty when `start` is the tip. Served from readers: never waits for a write.
    func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment]

    // Events

    func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent]
    /// Retained events of the stream that arrived after `position`.
    func eventCount(stream: String, space: SpaceID, after position: Int64) throws(StoreError) -> Int64
    func streams(of space: SpaceID) throws(StoreError) -> [StreamSummary]

    // Consumers: durable cursors

    func consumers(of space: SpaceID) throws(StoreError) -> [Consumer]
    /// Creates the consumer at position 0 when it is unknown.
    func consumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer
    /// Moves the cursor to where the client acknowledged; never backwards unless `rewinding`.
    func acknowledge(consumer: String, stream: String, space: SpaceID, position: Int64, rewinding: Bool)
        throws(StoreError)
    /// Notes how far events were handed out, so that the ones given twice can be marked `redelivered`.
    func noteDelivered(consumer: String, stream: String, space: SpaceID, position: Int64) throws(StoreError)
    /// - Returns: false when there was none.
    func removeConsumer(_ name: String, space: SpaceID) throws(StoreError) -> Bool

    // Peers and tickets

    func addresses() throws(StoreError) -> [PeerAddress]
    func remember(_ address: PeerAddress) throws(StoreError)
    func forget(host: String, port: UInt16) throws(StoreError) -> Bool
    func tickets() throws(StoreError) -> [TicketRecord]
    func save(_ ticket: TicketRecord) throws(StoreError)

    // Health

    /// Sizes and condition, cheap.
    func health() -> StoreHealth
    /// Recomputes the state digest from what is stored; equals the one kept step by step.
    func recomputedDigest(of space: SpaceID) throws(StoreError) -> Sum256
    /// Writes, syncs and removes a probe: whether a write would succeed now. Clears a past disk-full refusal if so.
    func probe() throws(StoreError)
    /// Checkpoints and closes; later calls throw `.closed`. Idempotent.
    func close()
}

/// Every refusal of a store. Reads go on after `diskFull`; nothing acknowledged is lost by any of them.
package enum StoreError: Error, Hashable, Sendable {
    /// No space left (SQLITE_FULL, ENOSPC, quota). Retried when the next write or probe comes.
    case diskFull
    /// The disk reported an error; after a failed sync the connection is reopened before anything else is written.
    case inputOutput(code: Int32)
    /// The file is no database any more, or a check of its structure failed.
    case corrupt(detail: String)
    /// Written by a newer version of this program: its schema number and ours.
    case schemaNewer(found: Int, known: Int)
    /// Another agent holds the lock; its process id when the lock file tells it.
    case locked(processID: Int32?)
    /// The directory or a file in it cannot be read or written: path and errno.
    case unreadable(path: String, code: Int32)
    /// A segment that does not begin at the tip, or whose context is not covered: a bug of the caller.
    case notApplicable(ReplicaID, at: UInt64)
    /// Stamps are used up: a member's clock is forged to the end of time.
    case stampsExhausted
    case closed
}

/// What a start finds.
package struct StoreState: Sendable, Equatable {
    /// Sorted by replica.
    package var tips: [KnownReplica]
    /// Every add-fact held, in arrival order.
    package var additions: [Membership.Addition]
    package var digest: Sum256
    package var counts: StoreCounts
    /// The replica the next append writes under, if the lease allows to go on with one.
    package var ownReplica: ReplicaID?
    package var addresses: [PeerAddress]
    /// Arrival number of the newest event, 0 before the first.
    package var lastPosition: Int64

    package init(
        tips: [KnownReplica], additions: [Membership.Addition], digest: Sum256, counts: StoreCounts,
        ownReplica: ReplicaID?, addresses: [PeerAddress], lastPosition: Int64
    ) {
        self.tips = tips
        self.additions = additions
        self.digest = digest
        self.counts = counts
        self.ownReplica = ownReplica
        self.addresses = addresses
        self.lastPosition = lastPosition
    }
}

package struct KnownReplica: Sendable, Hashable {
    package let replica: ReplicaID
    package let tip: ReplicaTip

    package init(replica: ReplicaID, tip: ReplicaTip) {
        self.replica = replica
        self.tip = tip
    }
}

package struct StoreCounts: Sendable, Hashable {
    package var changes: Int64
    package var events: Int64

    package init(changes: Int64, events: Int64) {
        self.changes = changes
        self.events = events
    }
}

/// What one durable transaction did.
package struct Commit: Sendable, Equatable {
    /// In the order they were applied; for an append, the ones authored.
    package var segments: [VerifiedSegment]
    /// The state digest after it.
    package var digest: Sum256
    package var counts: StoreCounts
    /// Add-facts it brought, in order.
    package var additions: [Membership.Addition]
    package var lastPosition: Int64
    /// Streams that got events, sorted, each once.
    package var streams: [String]

    package init(
        segments: [VerifiedSegment], digest: Sum256, counts: StoreCounts, additions: [Membership.Addition],
        lastPosition: Int64, streams: [String]
    ) {
        self.segments = segments
        self.digest = digest
        self.counts = counts
        self.additions = additions
        self.lastPosition = lastPosition
        self.streams = streams
    }
}

package struct EventQuery: Sendable, Hashable {
    package enum Order: Sendable, Hashable {
        /// By arrival number, greater than `position`.
        case arrival(after: Int64)
        /// By (stamp, replica, counter), greater than the key; nil from the start.
        case canonical(after: CanonicalKey?)
    }

    package var space: SpaceID
    package var stream: String
    package var order: Order
    /// At most this many events, and about this many payload bytes, but at least one event.
    package var limit: Int
    package var byteBudget: Int

    package init(space: SpaceID, stream: String, order: Order, limit: Int, byteBudget: Int) {
        self.space = space
        self.stream = stream
        self.order = order
        self.limit = limit
        self.byteBudget = byteBudget
    }
}

package struct StoredEvent: Sendable, Hashable {
    package let dot: Dot
    package let stamp: Stamp
    package let type: String?
    /// The JSON text as its author wrote it.
    package let payload: [UInt8]
    /// The author's wall clock.
    package let wallMilliseconds: Int64
    /// Arrival number at this node, from 1, growing without reuse over all streams.
    package let position: Int64

    package init(dot: Dot, stamp: Stamp, type: String?, payload: [UInt8], wallMilliseconds: Int64, position: Int64) {
        self.dot = dot
        self.stamp = stamp
        self.type = type
        self.payload = payload
        self.wallMilliseconds = wallMilliseconds
        self.position = position
    }
}

package struct StreamSummary: Sendable, Hashable {
    package let name: String
    package let events: Int64
    package let lastPosition: Int64

    package init(name: String, events: Int64, lastPosition: Int64) {
        self.name = name
        self.events = events
        self.lastPosition = lastPosition
    }
}

package struct Consumer: Sendable, Hashable {
    package let name: String
    package let stream: String
    /// Everything up to here was acknowledged.
    package let position: Int64
    /// Everything up to here was handed out at least once.
    package let delivered: Int64

    package init(name: String, stream: String, position: Int64, delivered: Int64) {
        self.name = name
        self.stream = stream
        self.position = position
        self.delivered = delivered
    }
}

/// An address to dial: where a member was last met, or one a person added.
package struct PeerAddress: Sendable, Hashable {
    package let host: String
    package let port: UInt16
    /// Nil until a device answered there.
    package let device: DeviceID?
    package let isStatic: Bool
    package let lastConnectedMilliseconds: Int64?

    package init(host: String, port: UInt16, device: DeviceID?, isStatic: Bool, lastConnectedMilliseconds: Int64?) {
        self.host = host
        self.port = port
        self.device = device
        self.isStatic = isStatic
        self.lastConnectedMilliseconds = lastConnectedMilliseconds
    }
}

/// An invitation we gave out. The secret itself is kept: proofs are made with it.
package struct TicketRecord: Sendable, Hashable {
    package let secret: [UInt8]
    package let expiresMilliseconds: Int64
    package let usedBy: DeviceID?

    package init(secret: [UInt8], expiresMilliseconds: Int64, usedBy: DeviceID?) {
        self.secret = secret
        self.expiresMilliseconds = expiresMilliseconds
        self.usedBy = usedBy
    }
}

package struct StoreHealth: Sendable, Hashable {
    package enum Condition: Sendable, Hashable {
        case ok
        case refusing(StoreError)
    }

    package let bytes: Int64
    package let condition: Condition

    package init(bytes: Int64, condition: Condition) {
        self.bytes = bytes
        self.condition = condition
    }
}
