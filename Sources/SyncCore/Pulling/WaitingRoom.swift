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

    /// Sorted by replica, none empty.
    private var queues: [Queue] = []
    private(set) var bytes = 0

    var isEmpty: Bool { queues.isEmpty }

    /// The tip after the last waiting segment; nil when nothing of this replica waits.
    func tip(of replica: ReplicaID) -> ReplicaTip? {
        queues.first { $0.replica == replica }?.segments.last?.tip
    }

    mutating func append(_ segment: VerifiedSegment) {
        bytes += segment.segment.bytes.count
        if let index = queues.firstIndex(where: { $0.replica == segment.segment.replica }) {
            queues[index].segments.append(segment)
        } else {
            let index = queues.firstIndex { segment.segment.replica < $0.replica } ?? queues.count
            queues.insert(Queue(replica: segment.segment.replica, segments: [segment]), at: index)
        }
    }

    /// Takes, in causal order, what is covered by `held` and by what was taken before, up to about `byteBudget`.
    mutating func takeReady(held: TipTable, byteBudget: Int, ignoringContext: Bool) -> [VerifiedSegment] {
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
                            || segment.context.allSatisfy(isCovered) && segment.isReachable(from: greatest)
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
        bytes -= takenBytes
        return taken
    }

    /// Replicas that waiting segments name beyond what is held or waits here too: what must come first. Sorted.
    func missing(held: TipTable) -> [VersionVector.Entry] {
        var missing = VersionVector()
        for queue in queues {
            guard let first = queue.segments.first else { continue }
            for entry in first.context {
                let known = max(held.next(of: entry.replica), tip(of: entry.replica)?.next ?? 0)
                if known < entry.next { missing.advance(entry.replica, to: entry.next) }
            }
        }
        return missing.entries
    }

    /// Of these replicas.
    mutating func remove(_ replicas: [ReplicaID]) {
        for queue in queues where replicas.contains(queue.replica) {
            bytes -= queue.segments.reduce(0) { $0 + $1.segment.bytes.count }
        }
        queues.removeAll { replicas.contains($0.replica) }
    }

    mutating func removeAll() {
        queues = []
        bytes = 0
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
            bytes -= size(largest)
            queues.remove(at: largest)
        }
    }
}
