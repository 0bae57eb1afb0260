import SyncModel
import SyncStore

extension OtherHistory {
    /// What a store holds of a replica, as a peer shows it: from its first change on, or from where on it is asked for.
    init(of replica: ReplicaID, in store: SQLiteStore, from start: UInt64 = 0) throws {
        let heads = try store.heads(at: [.init(replica: replica, next: start)])
        let begin = ChainEnd(end: start, head: heads[0] ?? ChainHead(space: .home, replica: replica))
        var tip = ReplicaTip(next: start, head: begin.head, stamp: .zero)
        var ends: [ChainEnd] = []
        let segments = try store.segments(of: replica, from: start, byteBudget: .max)
        for segment in segments {
            ends += segment.ends(from: tip.head)
            tip = try segment.walked(from: tip).tip
        }
        self.init(
            replica: replica, start: begin, ends: ends, segments: segments, tip: tip,
            elsewhere: try store.state().tips)
    }
}
