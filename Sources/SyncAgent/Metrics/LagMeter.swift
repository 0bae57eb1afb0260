package import SyncCore
package import SyncModel
package import SyncStore

/// The ages behind the lag in seconds: when changes came to this store, and when peers first claimed what is not here.
///
/// Memory: for each of at most 4,096 replicas at most 64 arrivals; for each peer at most 256 replicas with 8 claims
/// each. With more, old moments are joined: an age is then too great by the time between two of them, never too small.
package struct LagMeter: Sendable {
    /// All operations before `next` came by then. `changes` and `bytes` count from the first arrival of the row on.
    private struct Arrival: Sendable {
        var at: Tick
        var next: UInt64
        var changes: Double
        var bytes: Double
    }

    private struct Claim: Sendable {
        let at: Tick
        var next: UInt64
    }

    /// The changes here that a device lacks.
    package struct Unsent: Sendable, Equatable {
        /// Exact for what came since the agent started, else by the means of the log.
        package var changes: Double
        package var bytes: Double
        /// The time at which the oldest of them came; nil if all came before the agent started, or there is none.
        package var since: Tick?
        /// Operations from before the start, by replica: only the log knows how old they are.
        package var early: [VersionVector.Entry]

        package init(
            changes: Double = 0, bytes: Double = 0, since: Tick? = nil, early: [VersionVector.Entry] = []
        ) {
            self.changes = changes
            self.bytes = bytes
            self.since = since
            self.early = early
        }
    }

    private static let replicaLimit = 4_096
    private static let arrivalLimit = 64
    private static let claimedReplicaLimit = 256
    private static let claimLimit = 8
    /// Arrivals within this time are one.
    private static let grain = Tick.Span.milliseconds(50)

    private var arrivals: [ReplicaID: [Arrival]] = [:]
    private var claims: [DeviceID: [ReplicaID: [Claim]]] = [:]
    package var means = LogMeans()

    package init() {}

    // MARK: What is here

    /// Begins with what was here before anything came.
    package mutating func begin(_ held: some Sequence<VersionVector.Entry>, at now: Tick) {
        arrivals = [:]
        for entry in held where arrivals.count < Self.replicaLimit {
            arrivals[entry.replica] = [Arrival(at: now, next: entry.next, changes: 0, bytes: 0)]
        }
    }

    /// Records a segment that became durable here.
    package mutating func arrived(_ segment: Segment, changes: Int, at now: Tick) {
        guard var row = arrivals[segment.replica] ?? beginning(at: segment.start, now), let last = row.last,
            segment.end > last.next
        else { return }
        let (changes, bytes) = (last.changes + Double(changes), last.bytes + Double(segment.bytes.count))
        if row.count > 1, now - last.at < Self.grain {
            row[row.count - 1] = Arrival(at: last.at, next: segment.end, changes: changes, bytes: bytes)
        } else {
            row.append(Arrival(at: now, next: segment.end, changes: changes, bytes: bytes))
        }
        if row.count > Self.arrivalLimit { row = Self.thinned(row) }
        arrivals[segment.replica] = row
    }

    private func beginning(at counter: UInt64, _ now: Tick) -> [Arrival]? {
        arrivals.count < Self.replicaLimit ? [Arrival(at: now, next: counter, changes: 0, bytes: 0)] : nil
    }

    /// Joins pairs in the older half. The pair keeps the earlier time.
    private static func thinned(_ row: [Arrival]) -> [Arrival] {
        let half = row.count / 2
        var thin = [row[0]]
        var index = 1
        while index < half {
            var pair = row[index + 1]
            pair.at = row[index].at
            thin.append(pair)
            index += 2
        }
        return thin + row[index...]
    }

    /// Returns what `held` has beyond `known`.
    ///
    /// - Parameters:
    ///   - held: what is here, open changes included.
    ///   - openSince: the time of the first change that is open.
    package func unsent(beyond known: VersionVector, of held: VersionVector, openSince: Tick?) -> Unsent {
        var unsent = Unsent()
        for entry in held.entries(beyond: known) {
            add(entry.replica, from: known.next(of: entry.replica), to: entry.next, openSince, to: &unsent)
        }
        return unsent
    }

    private func add(
        _ replica: ReplicaID, from: UInt64, to next: UInt64, _ openSince: Tick?, to unsent: inout Unsent
    ) {
        guard let row = arrivals[replica], let first = row.first, let last = row.last else {
            unsent.addEstimate(next - from, means)
            unsent.early.append(VersionVector.Entry(replica: replica, next: from))
            return
        }
        if next > last.next {
            unsent.addEstimate(next - max(from, last.next), means)
            unsent.cameAt(openSince)
        }
        guard from < last.next else { return }
        guard from >= first.next, let index = row.firstIndex(where: { $0.next > from }), index > 0 else {
            unsent.addEstimate(first.next - min(from, first.next), means)
            unsent.early.append(VersionVector.Entry(replica: replica, next: from))
            unsent.changes += last.changes
            unsent.bytes += last.bytes
            return
        }
        let (before, behind) = (row[index - 1], row[index])
        let part = Double(from - before.next) / Double(behind.next - before.next)
        unsent.changes += last.changes - before.changes - part * (behind.changes - before.changes)
        unsent.bytes += last.bytes - before.bytes - part * (behind.bytes - before.bytes)
        unsent.cameAt(behind.at)
    }

    /// The time at which an operation came.
    package enum Moment: Sendable, Equatable {
        case at(Tick)
        /// Before the agent started: only the log knows when.
        case early
        /// The operation is durable and not signed, or not here.
        case open
    }

    package func moment(of replica: ReplicaID, at counter: UInt64) -> Moment {
        guard let row = arrivals[replica], let first = row.first, counter >= first.next else { return .early }
        return row.first { $0.next > counter }.map { .at($0.at) } ?? .open
    }

    // MARK: What peers claim

    /// Records that a peer said that it has all of a replica before `next`.
    package mutating func claimed(by device: DeviceID, _ replica: ReplicaID, next: UInt64, held: UInt64, at now: Tick) {
        guard next > held else { return }
        var rows = claims[device] ?? [:]
        var row = rows[replica] ?? []
        row.removeAll { $0.next <= held }
        guard row.last.map({ $0.next < next }) ?? true else { return }
        if row.isEmpty, rows[replica] == nil, rows.count >= Self.claimedReplicaLimit { return }
        if row.count == Self.claimLimit {
            row[row.count - 1].next = next
        } else {
            row.append(Claim(at: now, next: next))
        }
        rows[replica] = row
        claims[device] = rows
    }

    /// Forgets the claims that are met.
    package mutating func forgetMet(by device: DeviceID, held: (ReplicaID) -> UInt64) {
        guard let rows = claims[device] else { return }
        let open = rows.filter { replica, row in row.last.map { $0.next > held(replica) } ?? false }
        claims[device] = open.isEmpty ? nil : open
    }

    /// Forgets a peer's claims: its next session makes new ones.
    package mutating func left(_ device: DeviceID) { claims[device] = nil }

    /// Returns the time at which a peer first claimed the oldest of what is not here; nil if it claims nothing that is
    /// not.
    package func wantedSince(from device: DeviceID, held: (ReplicaID) -> UInt64) -> Tick? {
        guard let rows = claims[device] else { return nil }
        return rows.compactMap { replica, row in
            let next = held(replica)
            return row.first { $0.next > next }?.at
        }.min()
    }
}

extension LagMeter.Unsent {
    fileprivate mutating func addEstimate(_ operations: UInt64, _ means: LogMeans) {
        changes += Double(operations) * means.changesPerOperation
        bytes += Double(operations) * means.bytesPerOperation
    }

    fileprivate mutating func cameAt(_ tick: Tick?) {
        guard let tick else { return }
        since = since.map { min($0, tick) } ?? tick
    }
}
