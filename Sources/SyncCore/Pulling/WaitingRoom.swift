import SyncModel

/// Verified segments that are not durable yet: they wait for their context, or for the transaction before theirs.
///
/// Volatile: nothing in here is acknowledged or announced; what is dropped becomes wanted again. Per replica the
/// segments are consecutive and begin where the durable tip (or the batch being persisted) ends.
struct WaitingRoom: Sendable {
    private struct Queue: Sendable {
        let replica: ReplicaID
        var segments: [VerifiedSegment]
    }

    /// The queues, sorted by replica, none empty.
    private var queues: [Queue] = []
    private(set) var bytes = 0
    /// The waiting bytes by the device that wrote them.
    private var deviceBytes: [DeviceID: Int] = [:]
    /// A number that grows with every change of what waits.
    private(set) var version: UInt64 = 0

    var isEmpty: Bool { queues.isEmpty }
    var replicaCount: Int { queues.count }

    /// The tip after the last waiting segment; nil when nothing of this replica waits.
    func tip(of replica: ReplicaID) -> ReplicaTip? {
        position(of: replica).flatMap { queues[$0].segments.last?.tip }
    }

    /// True if a segment that begins there waits.
    func contains(_ start: Dot) -> Bool {
        position(of: start.replica).map { queues[$0].segments.contains { $0.segment.start == start.counter } } ?? false
    }

    /// True if changes of another device wait for more of the replica than its operations before `start`.
    func isNamedByOthers(_ replica: ReplicaID, beyond start: UInt64) -> Bool {
        queues.contains { queue in
            queue.replica.device != replica.device
                && queue.segments.contains { $0.context.contains { $0.replica == replica && $0.next > start } }
        }
    }

    /// The bytes that may not be asked for because of waiting segments: all of the device, and of each other device at most
    /// `limit`. A device whose changes wait for what never comes does not keep those of others away.
    func occupiedBytes(for device: DeviceID, atMost limit: Int) -> Int {
        deviceBytes.reduce(0) { $0 + ($1.key == device ? $1.value : min($1.value, limit)) }
    }

    private mutating func count(_ byteCount: Int, of replica: ReplicaID) {
        bytes += byteCount
        let sum = deviceBytes[replica.device, default: 0] + byteCount
        deviceBytes[replica.device] = sum == 0 ? nil : sum
    }

    /// The bytes of the replica that wait.
    func bytes(of replica: ReplicaID) -> Int {
        position(of: replica).map { queues[$0].segments.reduce(0) { $0 + $1.segment.bytes.count } } ?? 0
    }

    /// The number of waiting replicas of the device of which nothing is held.
    func newReplicas(of device: DeviceID, held: TipTable) -> Int {
        let first = firstIndex { !($0 < ReplicaID(device: device, incarnation: 0)) }
        return queues[first...].lazy.prefix { $0.replica.device == device }.count { held[$0.replica] == nil }
    }

    /// Returns the first index where the condition holds, by binary search.
    private func firstIndex(where holds: (ReplicaID) -> Bool) -> Int {
        var (low, high) = (0, queues.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(queues[middle].replica) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func position(of replica: ReplicaID) -> Int? {
        let index = firstIndex { !($0 < replica) }
        return index < queues.count && queues[index].replica == replica ? index : nil
    }

    mutating func append(_ segment: VerifiedSegment) {
        count(segment.segment.bytes.count, of: segment.segment.replica)
        version += 1
        if let index = position(of: segment.segment.replica) {
            queues[index].segments.append(segment)
        } else {
            let index = firstIndex { segment.segment.replica < $0 }
            queues.insert(Queue(replica: segment.segment.replica, segments: [segment]), at: index)
        }
    }

    /// Takes, in causal order, what is covered by `held` and by what was taken before, up to about `byteBudget`.
    ///
    /// - Parameter isHeldUp: asked of a segment that could be taken.
    mutating func takeReady(
        held: TipTable, byteBudget: Int, ignoringContext: Bool, unless isHeldUp: (VerifiedSegment) -> Bool
    ) -> [VerifiedSegment] {
        var taken: [VerifiedSegment] = []
        var reached = VersionVector()
        var takenBytes = 0
        var progressed = true
        var greatest = held.greatestStamp
        func isCovered(_ entry: VersionVector.Entry) -> Bool {
            max(held.next(of: entry.replica), reached.next(of: entry.replica)) >= entry.next
        }
        while progressed, takenBytes < byteBudget {
            progressed = false
            for index in queues.indices {
                var count = 0
                for segment in queues[index].segments {
                    guard takenBytes < byteBudget,
                        ignoringContext
                            || segment.context.allSatisfy(isCovered) && segment.isReachable(from: greatest),
                        !isHeldUp(segment)
                    else { break }
                    taken.append(segment)
                    greatest = max(greatest, segment.tip.stamp)
                    takenBytes += segment.segment.bytes.count
                    reached.advance(segment.segment.replica, to: segment.tip.next)
                    count += 1
                }
                if count > 0 {
                    queues[index].segments.removeFirst(count)
                    progressed = true
                }
            }
            queues.removeAll { $0.segments.isEmpty }
        }
        for segment in taken { count(-segment.segment.bytes.count, of: segment.segment.replica) }
        if !taken.isEmpty { version += 1 }
        return taken
    }

    /// Returns the device's replicas of which more waits than these tips say.
    func replicas(of device: DeviceID, beyond tips: TipTable) -> [ReplicaID] {
        let first = firstIndex { !($0 < ReplicaID(device: device, incarnation: 0)) }
        return queues[first...].prefix { $0.replica.device == device }.filter { queue in
            queue.segments.last.map { $0.tip.next > tips.next(of: queue.replica) } ?? false
        }.map(\.replica)
    }

    /// Returns what is not held of the context of the replica's first waiting segment.
    func missing(of replica: ReplicaID, held: TipTable) -> [VersionVector.Entry] {
        let first = position(of: replica).flatMap { queues[$0].segments.first }
        return (first?.context ?? []).filter { held.next(of: $0.replica) < $0.next }
    }

    /// Returns the replicas that waiting segments name beyond what is held or waits here too: they must come first. Sorted.
    func missing(held: TipTable) -> [Missing] {
        var missing: [ReplicaID: Bool] = [:]
        for queue in queues {
            guard let first = queue.segments.first else { continue }
            for entry in first.context {
                let known = max(held.next(of: entry.replica), tip(of: entry.replica)?.next ?? 0)
                guard known < entry.next else { continue }
                let isNamed = queue.replica.device != entry.replica.device
                missing[entry.replica] = missing[entry.replica] ?? false || isNamed
            }
        }
        return missing.map { Missing(replica: $0.key, isNamedByOthers: $0.value) }.sorted { $0.replica < $1.replica }
    }

    /// A replica that waiting segments build on.
    struct Missing: Sendable, Equatable {
        let replica: ReplicaID
        /// True if waiting segments of another device than the replica's build on it.
        let isNamedByOthers: Bool
    }

    /// Removes the segments of these replicas.
    mutating func remove(_ replicas: [ReplicaID]) {
        for replica in replicas {
            guard let index = position(of: replica) else { continue }
            count(-queues[index].segments.reduce(0) { $0 + $1.segment.bytes.count }, of: replica)
            queues.remove(at: index)
            version += 1
        }
    }

    mutating func removeAll() {
        queues = []
        (bytes, deviceBytes) = (0, [:])
        version += 1
    }

    /// Makes room by dropping what waits longest for others: whole queues that are not ready, the largest first.
    mutating func evict(to limit: Int, held: TipTable) {
        let greatest = held.greatestStamp
        func isReady(_ segment: VerifiedSegment) -> Bool {
            held.covers(segment.context) && segment.isReachable(from: greatest)
        }
        while bytes > limit {
            let blocked = queues.indices.filter { !(queues[$0].segments.first.map(isReady) ?? true) }
            func size(_ index: Int) -> Int { queues[index].segments.reduce(0) { $0 + $1.segment.bytes.count } }
            guard let largest = blocked.max(by: { size($0) < size($1) }) else { return }
            count(-size(largest), of: queues[largest].replica)
            queues.remove(at: largest)
            version += 1
        }
    }
}
