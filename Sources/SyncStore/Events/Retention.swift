package import SyncModel

/// What a node goes by when it lets events go.
package struct RetentionTerms: Sendable {
    /// What every member has acknowledged.
    package var stable: VersionVector
    /// How long superseded events stay of a `latestOnly` stream that says nothing of it itself; nil: for ever.
    package var supersededMilliseconds: UInt64?
    /// Events that one step lets go at most, over all streams.
    package var limit: Int

    /// Of payloads that are read at once.
    static let pageBytes = 1 << 20

    package init(stable: VersionVector, supersededMilliseconds: UInt64?, limit: Int = 4_096) {
        self.stable = stable
        self.supersededMilliseconds = supersededMilliseconds
        self.limit = limit
    }
}

/// What one step of letting events go did.
package struct RetentionStep: Sendable {
    /// Nil: nothing was due.
    package let commit: Commit?
    package let droppedCount: Int
    package let hasMore: Bool
}

extension ReplicaStore {
    /// Writes down which events the retention of their streams lets go: those that are older, that every member has acknowledged, and
    /// that every snapshot of the stream holds. The greatest per type of a `latestOnly` stream stays.
    ///
    /// Nothing is due before the oldest that may go is a sixteenth older than it may be: so of a stream that is kept for a week it is
    /// written down twice a day, by whoever looks first.
    package func dropEvents(
        _ terms: RetentionTerms, of space: SpaceID, wallMilliseconds: Int64
    ) throws(StoreError) -> RetentionStep {
        var writes: [LocalWrite] = []
        var counts: [Int] = []
        for stream in try streams(of: space) where counts.reduce(0, +) < terms.limit {
            guard let setting = stream.setting,
                let age = setting.retainMilliseconds ?? (setting.latestOnly ? terms.supersededMilliseconds : nil)
            else { continue }
            let now = UInt64(max(0, wallMilliseconds))
            let before = Stamp(age: age, at: now)
            let oldest = try keptEvents(of: stream.name, space: space, after: nil, limit: 1).first?.stamp
            guard let oldest, oldest < before, let held = try snapshotCover(of: setting, space, terms.stable)
            else { continue }
            let shown = setting.latestOnly ? try shownDots(of: stream.name, space) : []
            guard shown.count <= Self.mostShown else { continue }
            let expired = try expired(
                before: before, of: stream.name, space, heldBy: held, but: Set(shown),
                limit: terms.limit - counts.reduce(0, +))
            guard let first = expired.first, first < Stamp(age: age + age / 16, at: now) else { continue }
            let events = DroppedEvents(before: expired.vector, but: shown)
            writes.append(.operations([.dropEvents(.init(stream: setting.stream, events: events))]))
            counts.append(expired.count)
        }
        if writes.isEmpty { return RetentionStep(commit: nil, droppedCount: 0, hasMore: false) }
        let result = try append(writes, wallMilliseconds: wallMilliseconds)
        var droppedCount = 0
        for (outcome, count) in zip(result.outcomes, counts) {
            if case .success = outcome { droppedCount += count }
        }
        return RetentionStep(
            commit: result.commit, droppedCount: droppedCount, hasMore: droppedCount >= terms.limit)
    }

    /// Of a stream with more types than this nothing is dropped: each drop names those that stay.
    private static var mostShown: Int { 1_024 }
    private static var pageCount: Int { 1_024 }
    /// Of events that nobody may drop yet.
    private static var mostPages: Int { 16 }

    private func shownDots(of stream: String, _ space: SpaceID) throws(StoreError) -> [Dot] {
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
    private func expired(
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

    /// What is stable and in every snapshot of the stream; nil where one is not known to everybody, or its bytes are not here, or a
    /// newer version wrote it. One that nobody may begin with holds nothing back.
    private func snapshotCover(
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
                let attached = reading.attachments.first {
                    $0.file.blob == record.blob && $0.file.size == record.size
                }
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
    fileprivate init(age: UInt64, at milliseconds: UInt64) {
        self.init(rawValue: (milliseconds > age ? milliseconds - age : 0) << 16)
    }
}
