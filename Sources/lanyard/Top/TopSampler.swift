import ControlAPI
import Glibc
import LanyardClient
import Synchronization

/// A look at the agent, and how fast its counts grew since the look before.
struct TopSample {
    /// A peer, with its rates in bytes a second.
    struct Peer {
        let peer: ControlAPI.Peer
        let inPerSecond: UInt64
        let outPerSecond: UInt64
    }

    let time: Timestamp
    let status: StatusResponse
    let peers: [Peer]
    let changesPerSecond: Double
}

/// Looks at the agent.
struct TopSampler {
    let client: LanyardClient
    let space: String
    private var last: (seconds: Double, changes: Int, bytes: [String: (Int64, Int64)])?

    init(client: LanyardClient, space: String) {
        self.client = client
        self.space = space
    }

    mutating func sample() async throws(ControlError) -> TopSample {
        let status = try await client.status(space: space)
        let peers = try await client.peers()
        let now = Self.seconds
        let changes = status.spaces.reduce(0) { $0 + $1.changes + $1.droppedChanges }
        let elapsed = last.map { max(now - $0.seconds, 0.001) } ?? 1
        let rated = peers.map { peer in
            let before = last?.bytes[Self.key(peer)]
            return TopSample.Peer(
                peer: peer, inPerSecond: Self.rate(peer.bytesIn, before?.0, elapsed),
                outPerSecond: Self.rate(peer.bytesOut, before?.1, elapsed))
        }
        let growth = last.map { Double(max(0, changes - $0.changes)) / elapsed } ?? 0
        last = (
            now, changes,
            Dictionary(peers.map { (Self.key($0), ($0.bytesIn, $0.bytesOut)) }) { first, _ in first }
        )
        return TopSample(time: .now, status: status, peers: rated, changesPerSecond: growth)
    }

    private static func key(_ peer: ControlAPI.Peer) -> String { peer.id ?? peer.address ?? peer.name }

    /// A session that is new counts from 0 again.
    private static func rate(_ bytes: Int64, _ before: Int64?, _ seconds: Double) -> UInt64 {
        guard let before, bytes > before else { return 0 }
        return UInt64(Double(bytes - before) / seconds)
    }

    private static var seconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

/// The objects that changed last, as `watch` tells of them.
final class TopFeed: Sendable {
    private static let most = 10
    private let changes = Mutex<[ObjectChange]>([])

    /// The newest first.
    var newest: [ObjectChange] { changes.withLock { $0.reversed() } }

    /// Goes on until the task is cancelled; begins with the last few changes that there were.
    func follow(_ client: LanyardClient, space: String) async throws {
        var position: UInt64 = 0
        // The agent says where "now" is; the watch begins some changes before it.
        struct Known: Error {}
        do {
            try await client.watchObjects(
                space: space,
                onStart: { now in
                    position = now
                    throw Known()
                }
            ) { _ in }
        } catch is Known {}
        let start = position > UInt64(Self.most) ? position - UInt64(Self.most) : 0
        try await client.watchObjects(after: start, space: space) { batch in
            changes.withLock { $0 = Array(($0 + batch).suffix(Self.most)) }
        }
    }
}
