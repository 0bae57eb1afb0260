import ControlAPI
import ControlServer
import NIOCore
import Synchronization

/// Snapshots of an agent in memory: what routes, client and command do is judged here, what an agent does in `StoreTests` and
/// on the rig.
struct MemorySnapshots {
    var entries: [SnapshotEntry] = []
    var drafts: [SnapshotDraft] = []
    /// The restore that was begun for each consumer.
    var begun: [String: String] = [:]
    var finished: [String] = []
}

extension MemoryAgent {
    func snapshots(space: String, stream: String?, schema: Int64?) throws(ControlError) -> [SnapshotEntry] {
        try check(space)
        return snapshots.entries.filter { entry in
            (stream.map { entry.stream == $0 } ?? true) && (schema.map { entry.schema == $0 } ?? true)
        }
    }

    func beginSnapshot(_ draft: SnapshotDraft) throws(ControlError) -> any SnapshotReceiving {
        try check(draft.space)
        if draft.consumer == "stranger" { throw .noSuchReader(draft.consumer, of: draft.stream) }
        return MemorySnapshotReceiver(agent: self, draft: draft)
    }

    fileprivate func save(_ bytes: [UInt8], _ draft: SnapshotDraft) throws(ControlError) -> SavedSnapshot {
        snapshots.drafts.append(draft)
        let owner = try ObjectName(collection: "lanyard.snapshots", id: "\(snapshots.drafts.count)")
        let attached = attachments.add(
            bytes, AttachmentDraft(space: "home", owner: owner, name: "\(draft.stream)-\(draft.schema)"))
        let entry = SnapshotEntry(
            id: attached.record.id, stream: draft.stream, schema: draft.schema, consumer: draft.consumer,
            order: .arrival, time: MemoryObjects.time, device: ownDevice, size: UInt64(bytes.count),
            hash: attached.record.hash, state: .present, versionVector: VersionVectorText([]), owner: "\(owner)")
        snapshots.entries.insert(entry, at: 0)
        let removed = snapshots.entries.dropFirst(draft.keepMostRecent ?? .max).map(\.id)
        snapshots.entries.removeAll { removed.contains($0.id) }
        return SavedSnapshot(snapshot: entry, removed: removed)
    }

    func beginRestoring(
        space: String, consumer: String, _ request: RestoreRequest, progress: @escaping @Sendable (ByteProgress) -> Void
    ) throws(ControlError) -> RestoredSnapshot {
        let known = try snapshots(space: space, stream: request.stream, schema: nil)
        guard let found = known.first(where: { $0.schema == request.schema }) else {
            throw known.isEmpty
                ? .noSnapshot(of: request.stream, schema: request.schema)
                : .otherSchema(of: request.stream, schema: request.schema, known: known.map(\.schema).sorted())
        }
        snapshots.begun[consumer] = found.id
        return RestoredSnapshot(snapshot: found)
    }

    func finishRestoring(
        space: String, consumer: String, _ request: RestoredRequest
    ) throws(ControlError) -> ConsumerEntry {
        try check(space)
        guard snapshots.begun[consumer] == request.snapshot else { throw .restoreSuperseded }
        snapshots.begun[consumer] = nil
        snapshots.finished.append(consumer)
        return ConsumerEntry(name: consumer, stream: request.stream, position: nil, behind: 0)
    }

    func damage(_ id: String, at offset: Int) {
        guard let place = try? attachments.place(id) else { return }
        attachments.stored[place].damagedAt = offset
        attachments.stored[place].entry.state = .partial
    }
}

private final class MemorySnapshotReceiver: SnapshotReceiving {
    private let agent: MemoryAgent
    private let draft: SnapshotDraft
    private let bytes = Mutex<[UInt8]>([])

    init(agent: MemoryAgent, draft: SnapshotDraft) {
        self.agent = agent
        self.draft = draft
    }

    func append(_ bytes: ByteBuffer) async throws(ControlError) {
        self.bytes.withLock { $0 += bytes.readableBytesView }
    }

    func finish() async throws(ControlError) -> SavedSnapshot { try await agent.save(bytes.withLock(\.self), draft) }

    func giveUp() {}
}
