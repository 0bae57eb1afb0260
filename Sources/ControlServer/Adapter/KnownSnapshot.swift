import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

/// The facts that snapshots are judged by, read once for many.
struct SnapshotContext {
    private let devices: Set<DeviceID>
    private let held: VersionVector
    /// The events that retention dropped, for streams that show all events.
    private let dropped: [ExactString: DroppedEvents]

    init(_ agent: Agent) throws(ControlError) {
        let state = try agent.read { () throws(StoreError) in try agent.store.state() }
        dropped = try agent.read { () throws(StoreError) in
            let latestOnly = Set(
                try agent.store.streams(of: .home).compactMap(\.setting).filter(\.latestOnly).map(\.stream))
            return try agent.store.dropped(of: .home).streams.filter { !latestOnly.contains($0.key) }
        }
        devices = Set(state.tips.map(\.replica.device)).union(state.additions.map(\.fact.device)).union([agent.device])
        held = VersionVector(state.tips.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) })
    }

    func problem(of record: SnapshotRecord) -> ControlError? {
        let dropped = dropped[record.stream] ?? DroppedEvents()
        return switch record.problem(in: .home, devices: devices, holding: held, dropped: dropped) {
        case nil: nil
        case .foreign?: .snapshotForeign
        case .ahead?: .snapshotAhead
        case .outdated?: .snapshotOutdated
        }
    }
}

/// All objects of the collection, read at one time.
struct SnapshotShelf {
    /// The readable snapshots, newest first.
    var known: [KnownSnapshot] = []
    var unreadable: [UnreadableSnapshot] = []

    mutating func add(_ object: StoredObject, _ context: SnapshotContext) {
        if let snapshot = KnownSnapshot(object, context) {
            known.append(snapshot)
        } else {
            unreadable.append(UnreadableSnapshot(object))
        }
    }
}

/// An object of the collection that is not as this version of Lanyard writes it.
struct UnreadableSnapshot {
    let said: SnapshotRecord.Unreadable
    let labels: [String]
    let problem: ControlError

    init(_ object: StoredObject) {
        let reading = object.reading(nil) { _ in true }
        said = SnapshotRecord.Unreadable(reading.fields)
        labels = reading.attachments.map(\.label)
        let owner = "\(SnapshotRecord.collection.string)/\(object.key.id.string)"
        problem =
            said.newerFormat.map { .snapshotNewer(owner: owner, format: $0, known: SnapshotRecord.format) }
            ?? .snapshotChanged(owner: owner)
    }
}

/// A snapshot whose record is as an agent wrote it.
struct KnownSnapshot {
    let owner: ObjectKey
    let record: SnapshotRecord
    let attachment: Attachment
    /// The reason why it cannot be restored; nil if it can.
    let problem: ControlError?

    /// Nil for an object that is none.
    init?(_ object: StoredObject, _ context: SnapshotContext) {
        let reading = object.reading(nil) { _ in true }
        guard let record = SnapshotRecord(reading.fields), let newest = reading.attachments.first else { return nil }
        let own = reading.attachments.first { $0.file.blob == record.blob }
        owner = object.key
        attachment = own ?? newest
        self.record = record
        problem = context.problem(of: record) ?? (own == nil ? .snapshotDamaged : nil)
    }

    var candidate: SnapshotChoice.Candidate {
        SnapshotChoice.Candidate(key: attachment.key, vector: record.vector)
    }

    /// The cursor of a consumer that begins with this snapshot.
    var cursor: ConsumerCursor {
        ConsumerCursor(
            order: record.isCanonical ? .canonical : .arrival, position: 0, key: record.key, snapshot: record.vector)
    }

    /// Returns true if both serve the same readers: same stream, same schema version and same order.
    func isAlike(_ other: KnownSnapshot) -> Bool {
        record.stream == other.record.stream && record.schema == other.record.schema
            && record.isCanonical == other.record.isCanonical
    }
}
