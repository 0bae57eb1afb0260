package import SyncModel

/// Events of a stream that could have gone for a while, and are here.
package struct OverdueEvents: Sendable, Equatable {
    /// The reason why overdue events stay.
    package enum Hindrance: Sendable, Equatable {
        /// Some member has not acknowledged them.
        case members
        /// A snapshot of the stream does not hold them, or cannot be judged: a member does not know of it yet, its bytes are
        /// not stored here, or a newer version wrote it.
        case snapshot
        /// The stream shows the latest of more types than one drop can name.
        case types
        /// The store knows of no reason.
        case none
    }

    package let hindrance: Hindrance
    /// The time at which the oldest of them could have gone, by its author's stamp.
    package let sinceMilliseconds: Int64

    package init(hindrance: Hindrance, sinceMilliseconds: Int64) {
        self.hindrance = hindrance
        self.sinceMilliseconds = sinceMilliseconds
    }
}

extension SQLiteStore {
    /// Nil while what is due may just not have been looked at.
    package func overdueEvents(
        of stream: StreamSummary, _ terms: RetentionTerms, space: SpaceID, wallMilliseconds: Int64
    ) throws(StoreError) -> OverdueEvents? {
        guard let setting = stream.setting, let age = terms.age(of: setting) else { return nil }
        let late = age.addingClamping(age / 16).addingClamping(Self.patienceMilliseconds)
        let before = Stamp(age: late, at: UInt64(max(0, wallMilliseconds)))
        let oldest = try keptEvents(of: stream.name, space: space, after: nil, limit: 1).first?.stamp
        guard let oldest, oldest < before else { return nil }
        func overdue(_ hindrance: OverdueEvents.Hindrance, since stamp: Stamp) -> OverdueEvents {
            OverdueEvents(
                hindrance: hindrance, sinceMilliseconds: Int64(clamping: UInt64(stamp.milliseconds).addingClamping(age))
            )
        }
        let shown = setting.latestOnly ? try shownDots(of: stream.name, space) : []
        guard shown.count <= Self.mostShown else { return overdue(.types, since: oldest) }
        func first(heldBy held: VersionVector) throws(StoreError) -> Stamp? {
            try expired(before: before, of: stream.name, space, heldBy: held, but: Set(shown), limit: 1).first
        }
        let all = VersionVector(try state().tips.map { .init(replica: $0.replica, next: $0.tip.next) })
        guard let since = try first(heldBy: all) else { return nil }
        guard try first(heldBy: terms.stable) != nil else { return overdue(.members, since: since) }
        guard let cover = try snapshotCover(of: setting, space, terms.stable), try first(heldBy: cover) != nil else {
            return overdue(.snapshot, since: since)
        }
        return overdue(.none, since: since)
    }

    /// The time to wait before events count as overdue. Members state their progress a minute's work at a time, and a node
    /// drops events once a minute.
    private static var patienceMilliseconds: UInt64 { 600_000 }
}

extension UInt64 {
    /// A peer may have said any number.
    fileprivate func addingClamping(_ other: UInt64) -> UInt64 {
        let (sum, isOver) = addingReportingOverflow(other)
        return isOver ? .max : sum
    }
}
