package import SyncModel

/// The terms by which a node drops events.
package struct RetentionTerms: Sendable {
    /// The changes that every member has acknowledged.
    package var stable: VersionVector
    /// The time for which superseded events stay in a `latestOnly` stream without a setting of its own; nil: for ever.
    package var supersededMilliseconds: UInt64?
    /// Events that one step lets go at most, over all streams.
    package var limit: Int

    /// The number of payload bytes read at once.
    static let pageBytes = 1 << 20

    package init(stable: VersionVector, supersededMilliseconds: UInt64?, limit: Int = 4_096) {
        self.stable = stable
        self.supersededMilliseconds = supersededMilliseconds
        self.limit = limit
    }

    /// Returns how long events of the stream stay, in milliseconds; nil: for ever.
    func age(of setting: SyncModel.Operation.StreamSetting) -> UInt64? {
        setting.retainMilliseconds ?? (setting.latestOnly ? supersededMilliseconds : nil)
    }
}

/// The result of one step of dropping events.
package struct RetentionStep: Sendable {
    /// Nil: nothing was due.
    package let commit: Commit?
    package let droppedCount: Int
    package let hasMore: Bool
}

extension SQLiteStore {
    /// Writes down which events the retention of their streams lets go: those that are older, that every member has
    /// acknowledged, and that every snapshot of the stream holds. The greatest per type of a `latestOnly` stream stays.
    ///
    /// Nothing is due before the oldest that may go is a sixteenth older than it may be: so for a stream that is kept for a
    /// week it is written down twice a day, by the first member that looks.
    package func dropEvents(
        _ terms: RetentionTerms, of space: SpaceID, wallMilliseconds: Int64
    ) throws(StoreError) -> RetentionStep {
        var writes: [LocalWrite] = []
        var counts: [Int] = []
        for stream in try streams(of: space) where counts.reduce(0, +) < terms.limit {
            guard let setting = stream.setting, let age = terms.age(of: setting) else { continue }
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
}
