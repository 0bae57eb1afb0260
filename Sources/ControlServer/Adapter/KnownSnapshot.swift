import ControlAPI
import SyncAgent
import SyncModel
import SyncStore

/// What snapshots are judged against, read once for many.
struct SnapshotContext {
    private let devices: Set<DeviceID>

    init(_ agent: Agent) throws(ControlError) {
        let state = try agent.stored { () throws(StoreError) in try agent.store.state() }
        devices = Set(state.tips.map(\.replica.device)).union(state.additions.map(\.fact.device)).union([agent.device])
    }

    /// Whether all histories that a vector names are of devices of this space. Another space's events may be here under other
    /// names, after an import; whoever restored that snapshot would count them twice.
    func knows(_ vector: VersionVector) -> Bool { vector.entries.allSatisfy { devices.contains($0.replica.device) } }
}

/// A snapshot whose record reads as somebody wrote it.
struct KnownSnapshot {
    let owner: ObjectKey
    let record: SnapshotRecord
    let attachment: Attachment
    /// Why nobody may restore it.
    let problem: ControlError?

    /// Nil for an object that is none.
    init?(_ object: StoredObject, _ context: SnapshotContext) {
        let reading = object.reading(nil) { _ in true }
        guard let record = SnapshotRecord(reading.fields), let newest = reading.attachments.first else { return nil }
        let own = reading.attachments.first { $0.file.blob == record.blob && $0.file.size == record.size }
        owner = object.key
        attachment = own ?? newest
        self.record = record
        if record.space != .home || !context.knows(record.vector) {
            problem = .snapshotForeign
        } else {
            problem = own == nil ? .snapshotDamaged : nil
        }
    }

    var candidate: SnapshotChoice.Candidate {
        SnapshotChoice.Candidate(key: attachment.key, vector: record.vector)
    }

    /// What a reader holds who begins with it.
    var cursor: ConsumerCursor {
        ConsumerCursor(
            order: record.isCanonical ? .canonical : .arrival, position: 0, key: record.key, snapshot: record.vector)
    }

    /// Whether it does the same for the same readers.
    func isAlike(_ other: KnownSnapshot) -> Bool {
        record.stream == other.record.stream && record.schema == other.record.schema
            && record.isCanonical == other.record.isCanonical
    }
}
