package import ControlAPI
package import SyncAgent
import SyncCore
import SyncModel
import SyncStore

// Streams, how they are kept, and what keeps their events from going.
extension Agent {
    /// Returns the streams by name.
    package func streams(space: String) async throws(ControlError) -> [StreamEntry] {
        try checkSpace(space)
        let terms = try await retentionTerms()
        return try await stored { () throws(StoreError) in
            try store.streams(of: .home).map { stream throws(StoreError) in try entry(of: stream, terms) }
        }
    }

    private func retentionTerms() async throws(ControlError) -> RetentionTerms {
        let now = try await controlled { try await snapshot() }
        return RetentionTerms(
            stable: now.stability.stable, supersededMilliseconds: configuration.historyRetention.milliseconds)
    }

    private func entry(of stream: StreamSummary, _ terms: RetentionTerms) throws(StoreError) -> StreamEntry {
        var entry = StreamEntry(
            name: stream.name, events: Int(stream.events), latestOnly: stream.setting?.latestOnly ?? false,
            retainSeconds: stream.setting?.retainMilliseconds.map { Int(clamping: $0 / 1_000) },
            position: stream.lastPosition > 0 ? .arrival(UInt64(stream.lastPosition)) : nil,
            letGo: stream.hasDropped)
        entry.lastEvent = try lastEvent(of: stream)
        entry.overdue = try overdue(stream, terms)
        guard stream.hasDropped else { return entry }
        let oldest = try store.keptEvents(of: stream.name, space: .home, after: nil, limit: 1).first
        entry.begins = oldest.map { Timestamp(millisecondsSinceEpoch: $0.wallMilliseconds) }
        return entry
    }

    /// Nil where it is not here any more, or is superseded.
    private func lastEvent(of stream: StreamSummary) throws(StoreError) -> Timestamp? {
        guard stream.lastPosition > 0 else { return nil }
        let newest = try store.events(
            SyncStore.EventQuery(
                space: .home, stream: stream.name, order: .arrival(after: stream.lastPosition - 1), limit: 1,
                byteBudget: Self.pageBytes)
        ).first
        return newest.map { Timestamp(millisecondsSinceEpoch: $0.wallMilliseconds) }
    }

    private func overdue(_ stream: StreamSummary, _ terms: RetentionTerms) throws(StoreError) -> ControlAPI
        .OverdueEvents?
    {
        let found = try store.overdueEvents(
            of: stream, terms, space: .home, wallMilliseconds: WallClock.milliseconds)
        guard let found else { return nil }
        let awaited: ControlAPI.OverdueEvents.Awaited =
            switch found.hindrance {
            case .members: .members
            case .snapshot: .snapshot
            case .types: .types
            case .none: journal.isClockDisputed ? .clock : .device
            }
        return .init(since: Timestamp(millisecondsSinceEpoch: found.sinceMilliseconds), waitsFor: awaited)
    }

    /// Changes a stream's settings on all nodes; a setting that is nil stays as it is. The stream need not have events yet.
    package func setStream(
        space: String, stream: String, settings: StreamSettings
    ) async throws(ControlError) -> StreamEntry {
        try checkSpace(space)
        let known = try await stored { () throws(StoreError) in try summary(of: stream) }
        let retain: UInt64? =
            switch settings.retention {
            case nil: known?.setting?.retainMilliseconds
            case .forever: nil
            case .seconds(let seconds): UInt64(seconds) * 1_000
            }
        let setting = SyncModel.Operation.StreamSetting(
            stream: ExactString(stream), latestOnly: settings.latestOnly ?? known?.setting?.latestOnly ?? false,
            retainMilliseconds: retain)
        _ = try await commit([LocalWrite.planned([.setStream(setting)]).once(at: 0)])
        let terms = try await retentionTerms()
        return try await stored { () throws(StoreError) in
            try entry(
                of: try summary(of: stream)
                    ?? StreamSummary(name: stream, events: 0, lastPosition: 0, setting: setting), terms)
        }
    }

    private func summary(of stream: String) throws(StoreError) -> StreamSummary? {
        try store.streams(of: .home).first { $0.name.utf8.elementsEqual(stream.utf8) }
    }
}
