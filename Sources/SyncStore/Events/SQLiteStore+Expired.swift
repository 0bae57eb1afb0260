import SyncModel

// The events of a stream that are old enough to be dropped.
extension SQLiteStore {
    /// The greatest number of types in a stream of which events are dropped: each drop names the events that stay.
    static var mostShown: Int { 1_024 }
    private static var pageCount: Int { 1_024 }
    /// The greatest number of pages read of events that must not be dropped yet.
    private static var mostPages: Int { 16 }

    func shownDots(of stream: String, _ space: SpaceID) throws(StoreError) -> [Dot] {
        var shown: [Dot] = []
        var key: CanonicalKey?
        while shown.count <= Self.mostShown {
            let page = try events(
                EventQuery(
                    space: space, stream: stream, order: .canonical(after: key), limit: Self.pageCount,
                    byteBudget: RetentionTerms.pageBytes))
            guard let last = page.last else { break }
            shown += page.map(\.dot)
            key = last.canonicalKey
        }
        return shown
    }

    /// The first of each replica, up to one that is not held; the oldest come first. `first` is the stamp of the oldest one that goes.
    func expired(
        before: Stamp, of stream: String, _ space: SpaceID, heldBy held: VersionVector, but shown: Set<Dot>, limit: Int
    ) throws(StoreError) -> (vector: VersionVector, count: Int, first: Stamp?) {
        var (vector, count, first) = (VersionVector(), 0, Stamp?.none)
        var blocked: Set<ReplicaID> = []
        var key: CanonicalKey?
        for _ in 0..<Self.mostPages {
            let page = try keptEvents(of: stream, space: space, after: key, limit: Self.pageCount)
            for event in page where !blocked.contains(event.dot.replica) {
                guard event.stamp < before, count < limit else { return (vector, count, first) }
                guard held.covers(event.dot) else {
                    blocked.insert(event.dot.replica)
                    continue
                }
                vector.advance(event.dot.replica, to: event.dot.counter + 1)
                if shown.contains(event.dot) { continue }
                count += 1
                first = first ?? event.stamp
            }
            guard let last = page.last else { break }
            key = last.canonicalKey
        }
        return (vector, count, first)
    }

    /// Returns the changes that are stable and in every snapshot of the stream. Nil if a snapshot is not known to every
    /// member, its bytes are not stored here, or a newer version wrote it. A snapshot that no reader may begin with holds
    /// nothing back.
    func snapshotCover(
        of setting: SyncModel.Operation.StreamSetting, _ space: SpaceID, _ stable: VersionVector
    ) throws(StoreError) -> VersionVector? {
        let stream = setting.stream
        let dropped = setting.latestOnly ? DroppedEvents() : try self.dropped(of: space)[stream]
        let state = try state()
        let devices = Set(state.tips.map(\.replica.device)).union(state.additions.map(\.fact.device))
        var cover = stable
        var after: ObjectKey?
        while true {
            let page = try objects(
                ObjectQuery(
                    space: space, collection: SnapshotRecord.collection, selection: .standing(.live), after: after,
                    limit: Self.pageCount))
            for object in page {
                let reading = object.reading(nil) { _ in true }
                guard let record = SnapshotRecord(reading.fields) else {
                    let said = SnapshotRecord.Unreadable(reading.fields)
                    if said.newerFormat != nil, said.stream == stream { return nil }
                    continue
                }
                guard record.stream == stream else { continue }
                switch record.problem(in: space, devices: devices, holding: stable, dropped: dropped) {
                case .foreign?, .outdated?: continue
                case .ahead?, nil: break
                }
                let attached = reading.attachments.first { $0.file.blob == record.blob }
                guard let attached else { continue }
                guard stable.covers(attached.id), try missingBlob(record.blob, space: space) == nil else { return nil }
                cover = cover.meet(record.vector)
            }
            guard page.count == Self.pageCount else { return cover }
            after = page.last?.key
        }
    }
}

extension Stamp {
    /// The first that is no older.
    init(age: UInt64, at milliseconds: UInt64) {
        self.init(rawValue: (milliseconds > age ? milliseconds - age : 0) << 16)
    }
}
