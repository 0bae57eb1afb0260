package import ControlAPI
package import NIOCore
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Snapshots of streams: saving and listing them.
extension Agent {
    /// Returns snapshots, newest first; of all streams and all schema versions if none is given.
    package func snapshots(
        space: String, stream: String?, schema: Int64?
    ) async throws(ControlError) -> [SnapshotEntry] {
        try checkSpace(space)
        return try await reading { () throws(ControlError) in try entries(of: stream, schema: schema) }
    }

    private func entries(of stream: String?, schema: Int64?) throws(ControlError) -> [SnapshotEntry] {
        let exact = stream.map { ExactString($0) }
        var entries: [SnapshotEntry] = []
        for snapshot in try snapshotShelf().known {
            if let exact, snapshot.record.stream != exact { continue }
            if let schema, snapshot.record.schema != schema { continue }
            var entry = try entry(of: snapshot)
            if entry.problem == nil, try !stands(snapshot) {
                entry.problem = ControlError.outrun(of: entry.stream).code.rawValue
            }
            entries.append(entry)
        }
        return entries
    }

    func snapshotShelf() throws(ControlError) -> SnapshotShelf {
        let context = try SnapshotContext(self)
        var shelf = SnapshotShelf()
        let query = SyncStore.ObjectQuery(
            space: .home, collection: SnapshotRecord.collection, selection: .standing(.live), limit: 1_000)
        try forEachObject(of: query) { object in shelf.add(object, context) }
        shelf.known.sort { $0.attachment.key > $1.attachment.key }
        return shelf
    }

    func entry(of snapshot: KnownSnapshot) throws(ControlError) -> SnapshotEntry {
        let record = snapshot.record
        let attached = try entry(of: StoredAttachment(owner: snapshot.owner, attachment: snapshot.attachment))
        return SnapshotEntry(
            id: attached.record.id, stream: record.stream.string, schema: record.schema,
            consumer: record.consumer.string, order: record.isCanonical ? .canonical : .arrival,
            time: Timestamp(millisecondsSinceEpoch: record.wallMilliseconds),
            device: "\(snapshot.attachment.id.replica.device)", size: record.blob.size,
            hash: record.blob.hash.bytes.hexadecimal, state: attached.state,
            versionVector: VersionVectorText(
                record.vector.entries.map { .init(replica: "\($0.replica)", next: $0.next) }),
            problem: snapshot.problem?.code.rawValue, owner: attached.owner)
    }

    /// Begins a snapshot of the events that the consumer has acknowledged at this moment: its bytes are to follow. Throws
    /// `unknown_consumer`, `restore_unfinished`, and the errors of an attachment.
    package func beginSnapshot(_ draft: SnapshotDraft) async throws(ControlError) -> ReceivedSnapshot {
        try checkSpace(draft.space)
        // Now, and not when the bytes are here: what is acknowledged meanwhile is not in the state.
        let (cursor, vector) = try await reading { () throws(ControlError) in try place(of: draft) }
        do throws(BlobError) {
            let upload = try await attachments.begin(size: draft.size)
            return ReceivedSnapshot(agent: self, upload: upload, draft: draft, cursor: cursor, vector: vector)
        } catch {
            throw await refusal(of: error, size: draft.size)
        }
    }

    /// Returns the cursor at which the state stands, and the events that it holds.
    private func place(
        of draft: SnapshotDraft
    ) throws(ControlError) -> (cursor: ConsumerCursor, vector: VersionVector) {
        let found = try read { () throws(StoreError) in
            try store.findConsumer(draft.consumer, stream: draft.stream, space: .home)
        }
        guard let consumer = found else { throw .noSuchReader(draft.consumer, of: draft.stream) }
        guard consumer.restore == nil else {
            throw .restoreUnfinished(consumer: consumer.name, stream: consumer.stream)
        }
        let cursor = try cursor(of: consumer, upTo: draft.position)
        let vector = try read { () throws(StoreError) in
            try store.vector(of: cursor, stream: draft.stream, space: .home)
        }
        return (cursor, vector)
    }

    /// - Throws: `invalid_argument` for a position that was not acknowledged.
    private func cursor(of consumer: Consumer, upTo position: EventPosition?) throws(ControlError) -> ConsumerCursor {
        guard let position else { return consumer.cursor }
        let place = try EventPlace(position, consumer.cursor.order.word)
        var cursor = consumer.cursor
        switch cursor.order {
        case .arrival:
            guard let wanted = place.position, wanted <= cursor.position else { throw .beyondAcknowledged }
            cursor.position = wanted
        case .canonical:
            let arrived = place.position ?? cursor.position
            guard arrived <= cursor.position,
                place.key.map({ wanted in cursor.key.map { wanted <= $0 } ?? false }) ?? true
            else { throw .beyondAcknowledged }
            // What a snapshot covers may stand behind an earlier key.
            if place.key != cursor.key { cursor.snapshot = VersionVector() }
            cursor.position = arrived
            cursor.key = place.key
        }
        return cursor
    }

    /// Writes object and attachment in one change: no reader ever sees half of a snapshot.
    fileprivate func save(
        _ record: SnapshotRecord, _ file: AttachedFile
    ) async throws(ControlError) -> KnownSnapshot {
        let id = String((0..<20).map { _ in Array("abcdefghijkmnpqrstuvwxyz23456789")[Int.random(in: 0..<32)] })
        let key = ObjectKey(collection: SnapshotRecord.collection, id: ExactString(id))
        let outcome = try await write([
            .put(key, ObjectWrite.Put(fields: record.fields, ifAbsent: true)), .attach(key, file),
        ])
        return try await reading { () throws(ControlError) in
            let context = try SnapshotContext(self)
            var written = outcome.steps.last?.object
            if written == nil, let known = outcome.steps.last?.unread {
                written = try read { () throws(StoreError) in try store.object(known, space: .home) }
            }
            guard let object = written, let saved = KnownSnapshot(object, context) else {
                throw ControlError(
                    .internalFault, "The store did not say what became of the snapshot.",
                    hint: "See: lanyard snapshot list")
            }
            return saved
        }
    }

    /// Deletes those that need not be kept beside the newest.
    /// - Returns: their ids.
    fileprivate func prune(like saved: KnownSnapshot, keeping count: Int) async throws(ControlError) -> [String] {
        let shelf = try await reading { () throws(ControlError) in try snapshotShelf() }
        let alike = shelf.known.filter { $0.problem == nil && $0.isAlike(saved) }
        var removed: [String] = []
        for index in SnapshotChoice.superfluous(alike.map(\.candidate), keepingNewest: count) {
            let outcome = try await write([.delete(alike[index].owner, ifVersion: nil)], once: false)
            if outcome.steps.first?.changed ?? false { removed.append(alike[index].attachment.label) }
        }
        return removed
    }
}

/// A snapshot on its way in.
package struct ReceivedSnapshot: BytesReceiving {
    fileprivate let agent: Agent
    fileprivate let upload: AttachmentUpload
    fileprivate let draft: SnapshotDraft
    fileprivate let cursor: ConsumerCursor
    fileprivate let vector: VersionVector

    package func append(_ bytes: ByteBuffer) async throws(ControlError) {
        do throws(BlobError) { try await upload.append(bytes) } catch {
            throw await agent.refusal(of: error, size: draft.size)
        }
    }

    /// Finishes the snapshot, durably, and deletes older ones as the draft says. Throws the errors of an attachment's end.
    package func finish() async throws(ControlError) -> SavedSnapshot {
        let blob: UploadedBlob
        do throws(BlobError) { blob = try await upload.finish() } catch {
            throw await agent.refusal(of: error, size: draft.size)
        }
        let record = SnapshotRecord(
            space: .home, stream: ExactString(draft.stream), schema: draft.schema,
            consumer: ExactString(draft.consumer), isCanonical: cursor.order == .canonical, key: cursor.key,
            vector: vector, blob: blob.name, wallMilliseconds: WallClock.milliseconds)
        let file = AttachedFile(
            name: ExactString("\(draft.stream)-\(draft.schema)"),
            mediaType: MediaType(head: blob.head, isWhole: UInt64(blob.head.count) == blob.name.size),
            image: nil, blob: blob.name)
        let saved = try await agent.save(record, file)
        var removed: [String] = []
        if let count = draft.keepMostRecent { removed = try await agent.prune(like: saved, keeping: count) }
        let entry = try await agent.reading { () throws(ControlError) in try agent.entry(of: saved) }
        return SavedSnapshot(snapshot: entry, removed: removed)
    }

    package func giveUp() { upload.giveUp() }
}
