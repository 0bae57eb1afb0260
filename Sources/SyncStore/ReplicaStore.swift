package import SyncModel

/// The storage of an agent: the log of every replica, the objects and events shown from it, and the knowledge of its peers.
///
/// All calls are synchronous and safe from any thread; writes run one after the other. A write that returns is durable
/// (`SQLiteStore`: fdatasync done), a write that throws left nothing behind. One contract test suite runs against every
/// implementation.
package protocol ReplicaStore: AnyObject, Sendable {
    /// Returns the state that the agent needs before its first step. Memory needed does not grow with the log.
    func state() throws(StoreError) -> StoreState

    // Log

    /// Plans each write against what is stored by then, authors one change for each that has something to write, chains,
    /// signs and commits all of them in one transaction. A refused write leaves nothing behind; the others stand.
    /// Mints a new incarnation first when the lease does not prove that this store lost nothing.
    /// After `leaveOpen` a commit may stay open: its segments are then no part of the result.
    func append(_ writes: [LocalWrite], wallMilliseconds: Int64) throws(StoreError) -> AppendResult

    /// Returns the answer to an earlier write with a key of this name (`WriteKey`), while it is remembered.
    func answeredWrite(_ name: [UInt8], wallMilliseconds: Int64) throws(StoreError) -> AnsweredWrite?

    /// Applies verified segments in one transaction, in the order given: each begins at its replica's tip and its
    /// context is covered by what is held or comes before it. Idempotent: a segment that is wholly held is skipped.
    func apply(_ segments: [VerifiedSegment], wallMilliseconds: Int64) throws(StoreError) -> Commit

    /// Lets commits of objects and events stay open from now on: durable and shown, but not signed and not served.
    func leaveOpen() throws(StoreError)

    /// Folds and signs what is open, in one transaction; from now on every commit is sealed at once, also when this fails.
    /// Nothing that was shown changes. So do a commit that cannot stay open, `apply` and `close`, which come first.
    /// - Returns: the segments that may be served now, none when nothing was open. What was sealed by a call that then
    ///   failed is part of the next answer.
    func seal() throws(StoreError) -> Commit

    /// The next append begins a new incarnation: called when a verified signature of our own key shows our current one
    /// with a greater end or another head. Applying segments of our current incarnation has the same effect.
    func closeIncarnation() throws(StoreError)

    /// Consecutive segments of `replica` from the change on that counter `start` belongs to, whole ones, up to about
    /// `byteBudget` bytes but at least one; neighbours are merged while the rules of `Segment` allow it.
    /// Empty when `start` is the tip. Served from readers: never waits for a write.
    func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment]

    /// Returns the number of stored changes, open ones included, that `vector` does not cover. For changes that came as state
    /// or were dropped from the log, their operations count.
    func changeCount(beyond vector: VersionVector) throws(StoreError) -> Int64

    // Events

    func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent]
    /// Returns the place where the last events of a stream begin. Costs what it counts, not what the stream holds.
    func start(of last: LastEvents, space: SpaceID) throws(StoreError) -> LastEvents.Place
    /// Retained events of the stream that arrived after `position`.
    func eventCount(stream: String, space: SpaceID, after position: Int64) throws(StoreError) -> Int64
    /// Returns the events that the retention of streams has dropped.
    func dropped(of space: SpaceID) throws(StoreError) -> DroppedByStream
    /// Returns events in canonical order behind `key`; for a stream that shows only the greatest event per type, also those
    /// that it no longer shows. At most `limit` events, and about a mebibyte of payloads, but at least one.
    func keptEvents(
        of stream: String, space: SpaceID, after key: CanonicalKey?, limit: Int
    ) throws(StoreError) -> [StoredEvent]
    func streams(of space: SpaceID) throws(StoreError) -> [StreamSummary]

    // Objects

    /// Returns the membership facts, with the operations that admitted each member.
    func members() throws(StoreError) -> MemberFacts
    /// Returns what the author of the replica's newest stored change had seen.
    func context(of replica: ReplicaID) throws(StoreError) -> VersionVector
    /// Returns the position of the newest change to an object, 0 before the first.
    func objectPosition() throws(StoreError) -> Int64

    func object(_ key: ObjectKey, space: SpaceID) throws(StoreError) -> StoredObject?
    /// Returns objects in the order of (collection, id).
    func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject]
    /// Returns the first places of objects in the query's own order. Looks at every object of the collection.
    func places(_ query: ObjectQuery) throws(StoreError) -> [ObjectOrder.Place]
    /// Objects that changed behind `position`, each once and as it is now, by the position of its newest change.
    func changedObjects(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject]
    /// Returns the collections in the order of their names.
    func collections(of space: SpaceID) throws(StoreError) -> [StoredCollection]
    func schema(of collection: ExactString, space: SpaceID) throws(StoreError) -> CollectionSchema?
    /// Every operation on the object, in the order in which they arrived here; none for an object that never was.
    func touches(of key: ObjectKey, space: SpaceID) throws(StoreError) -> [PastOperation]
    /// Returns the object's state at the beginning of the stored part of its history; nil if all of its history is stored.
    /// Read after `touches`: changes dropped in between are in both, and told apart by their dots.
    func beginning(of key: ObjectKey, space: SpaceID) throws(StoreError) -> ObjectBeginning?

    // Attachments: records. Kept in the transaction of the change that they came or went with.

    /// Returns the attachments that a reader sees, newest first.
    func attachments(_ query: AttachmentQuery) throws(StoreError) -> [StoredAttachment]
    /// Nil when no attachment ever needed the blob, or it was forgotten since.
    func reference(to blob: BlobHash, space: SpaceID) throws(StoreError) -> BlobReference?
    /// Returns the references to every blob behind `blob`, needed or not, in the order of hashes.
    func references(of space: SpaceID, after blob: BlobHash?, limit: Int) throws(StoreError) -> [BlobReference]
    /// Returns the blobs unneeded since a time before `wallMilliseconds`, longest first.
    func releasedBlobs(
        of space: SpaceID, before wallMilliseconds: Int64, limit: Int
    ) throws(StoreError) -> [BlobReference]
    /// Forgets the references of blobs whose bytes are about to be removed.
    /// - Returns: the unneeded ones among them; blobs that are attached again by now stay.
    func forgetReleased(_ blobs: [BlobHash], of space: SpaceID) throws(StoreError) -> [BlobHash]

    // Fetching. Local to this node: no peer hears of it.

    /// `all` at first.
    func fetchPolicy(of space: SpaceID) throws(StoreError) -> FetchPolicy
    func setFetchPolicy(_ policy: FetchPolicy, space: SpaceID) throws(StoreError)
    /// Returns the space that the blobs named by records of the space may take together, in bytes; nil: as much as the disk
    /// holds.
    func quota(of space: SpaceID) throws(StoreError) -> UInt64?
    func setQuota(_ bytes: UInt64?, space: SpaceID) throws(StoreError)
    /// Has a blob fetched whatever the policy says, while a record names it.
    /// - Returns: false if no record does, and nothing is pinned.
    func pin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool
    /// - Returns: false if it was not pinned.
    func unpin(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool
    /// False also for a blob that was pinned and that no record names now; within the grace period it may be named again.
    func isPinned(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> Bool
    /// Returns the blobs that policy or pins want and that are missing here, in the order in which to fetch them: small
    /// before large, newest first. Costs what it returns and the size of `except`, however many are missing.
    func missingBlobs(
        of space: SpaceID, except: Set<BlobHash>, limit: Int
    ) throws(StoreError) -> [MissingBlob]
    /// Returns the number of missing blobs in all.
    func missingCount(of space: SpaceID) throws(StoreError) -> Int
    /// The blob as it would be asked for, whatever the policy; nil: no record names it, or it is here as a whole.
    func missingBlob(_ blob: BlobHash, space: SpaceID) throws(StoreError) -> MissingBlob?
    /// Returns the blobs among these that a record of the space names, in the same order: a member may fetch them.
    func allowed(_ blobs: [BlobHash], space: SpaceID) throws(StoreError) -> [BlobHash]
    /// Notes that a device said that it holds all of these, in one transaction, or none where it said so just before.
    /// Nothing is noted of a blob that no record named.
    func recordHolders(_ blobs: [BlobHash], device: DeviceID, at wallMilliseconds: Int64) throws(StoreError)
    /// Returns the peers that last claimed to hold the blob, the newest claim first.
    func lastHolders(of blob: BlobHash) throws(StoreError) -> [BlobHolder]

    // Acknowledgements and collection

    /// Completes our own acknowledgement with the ends of our histories as they are now, signs it and keeps it. Whatever
    /// is appended later knows all that it covers.
    func acknowledge(_ acknowledgement: Acknowledgement) throws(StoreError) -> SignedAcknowledgement
    /// Keeps the newest of each member; an older one than what is kept changes nothing. Signatures are the caller's.
    func keep(_ acknowledgements: [SignedAcknowledgement]) throws(StoreError)
    /// The chain heads at these counters, in their order; nil where no change ends or nothing is held.
    func heads(at entries: [VersionVector.Entry]) throws(StoreError) -> [ChainHead?]
    /// Runs one step of collection in one transaction: looks at no more than `limit` objects, in the order of their newest
    /// deletions' dots behind `after`, and forgets the deletions of those whose deletions `stable` covers. What readers see,
    /// the digest and positions in the feed stay.
    /// - Throws: also `notApplicable` while changes of our own are open: what they are folded into must be what they saw.
    func collect(upTo stable: VersionVector, after: Dot?, limit: Int) throws(StoreError) -> CollectionStep

    /// Runs one step of rewriting what this device had written beyond the end of a history that was cut: at most `limit`
    /// changes, in one transaction. No change is written twice, whatever happens in between.
    /// - Throws: also `retired` until the device is admitted again.
    func rewriteVoid(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep

    // Forks

    /// Takes back the stored changes of a replica beyond its last common change with another history of it, in one
    /// transaction. This device's work among them is kept aside, to be done again. Changes of other authors that had seen
    /// them wait until the other history is as long as theirs was; then `apply` applies them. Waiting work of this device is
    /// kept aside as well, if it counts nowhere there because the device was not admitted.
    ///
    /// - Returns: false if one history is the beginning of the other: nothing has changed then.
    /// - Throws: `notApplicable` if the changes that go cannot be told apart from those that came as state or were dropped
    ///   from the log, and if a device that has no part in the fork would lose something.
    func takeBack(_ other: OtherHistory, wallMilliseconds: Int64) throws(StoreError) -> Bool
    /// Runs one step of doing again what was taken back: at most `limit` changes, in one transaction. No change is done
    /// twice, whatever happens in between. The step ends before a change that would count nowhere, and is `isWaiting` if it
    /// would begin with one: until the owner of the object worked on admits the device again.
    /// - Throws: also `retired` until the device is admitted again.
    func redoTakenBack(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep

    // Consumers: durable cursors

    func consumers(of space: SpaceID) throws(StoreError) -> [Consumer]
    /// Nil when it never read the stream.
    func findConsumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer?
    /// Changes a consumer in one transaction, made when it is unknown. `change` is told the newest arrival number; it may be
    /// called twice, and what it leaves as it was costs no write.
    /// - Returns: the consumer as it is now.
    func changeConsumer(
        _ name: String, stream: String, space: SpaceID, _ change: (inout Consumer, _ newest: Int64) -> Void
    ) throws(StoreError) -> Consumer
    /// The next events that a reader's state does not hold. What a snapshot covers as a whole is passed over unread.
    func read(_ query: ConsumerQuery) throws(StoreError) -> ConsumerPage
    /// Returns the number of the stream's events that the cursor does not hold.
    func eventCount(stream: String, space: SpaceID, beyond cursor: ConsumerCursor) throws(StoreError) -> Int64
    /// Exactly the stream's events that the state holds, as a vector: of each replica all up to the last one held. Events that
    /// are kept and not shown (of a `latestOnly` stream) count, because elsewhere they may be shown yet.
    func vector(of cursor: ConsumerCursor, stream: String, space: SpaceID) throws(StoreError) -> VersionVector
    /// - Returns: false when there was none.
    func removeConsumer(_ name: String, space: SpaceID) throws(StoreError) -> Bool

    // Peers and tickets

    func addresses() throws(StoreError) -> [PeerAddress]
    func remember(_ address: PeerAddress) throws(StoreError)
    func forget(host: String, port: UInt16) throws(StoreError) -> Bool
    func tickets() throws(StoreError) -> [TicketRecord]
    func save(_ ticket: TicketRecord) throws(StoreError)
    /// Devices that this node has nothing to do with, sorted.
    func blockedDevices() throws(StoreError) -> [DeviceID]
    /// Idempotent.
    func setBlocked(_ device: DeviceID, _ isBlocked: Bool) throws(StoreError)

    // Health

    /// Sizes and condition, cheap.
    func health() -> StoreHealth
    /// Recomputes the state digest from what is stored; equals the one kept step by step.
    func recomputedDigest(of space: SpaceID) throws(StoreError) -> Sum256
    /// Writes, syncs and removes a probe: whether a write would succeed now. Clears a past disk-full refusal if so.
    func probe() throws(StoreError)
    /// Lets go of memory that is only held to be faster the next time.
    func rest()
    /// Checkpoints and closes; later calls throw `.closed`. Idempotent.
    func close()
}

extension ReplicaStore {
    package func rest() {}

    /// `closeIncarnation`, if it is this one.
    package func closeIncarnation(of replica: ReplicaID) throws(StoreError) {
        if try state().ownReplica == replica { try closeIncarnation() }
    }

    /// Returns nil, for stores that keep every change.
    package func beginning(of key: ObjectKey, space: SpaceID) throws(StoreError) -> ObjectBeginning? { nil }

    package func recordHolder(_ blob: BlobHash, device: DeviceID, at wallMilliseconds: Int64) throws(StoreError) {
        try recordHolders([blob], device: device, at: wallMilliseconds)
    }

    /// Creates the consumer at position 0 when it is unknown.
    package func consumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer {
        if let known = try findConsumer(name, stream: stream, space: space) { return known }
        return try changeConsumer(name, stream: stream, space: space) { _, _ in }
    }

    /// Moves the cursor to where the client acknowledged; never backwards unless `rewinding`.
    package func acknowledge(
        consumer: String, stream: String, space: SpaceID, position: Int64, rewinding: Bool
    ) throws(StoreError) {
        _ = try changeConsumer(consumer, stream: stream, space: space) { known, newest in
            if rewinding {
                known.move(to: ConsumerCursor(position: position), newest: newest)
            } else {
                known.acknowledge(position, newest: newest)
            }
        }
    }

    /// Notes how far events were handed out, so that the ones given twice can be marked `redelivered`.
    package func recordDelivered(
        consumer: String, stream: String, space: SpaceID, position: Int64
    ) throws(StoreError) {
        _ = try changeConsumer(consumer, stream: stream, space: space) { $0.deliver(position, newest: $1) }
    }

    /// Writes one change per group of operations, unchanged.
    package func append(_ groups: [[Operation]], wallMilliseconds: Int64) throws(StoreError) -> Commit {
        try append(groups.map { .operations($0) }, wallMilliseconds: wallMilliseconds).commit
    }
}
