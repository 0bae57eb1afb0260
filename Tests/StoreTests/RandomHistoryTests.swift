import SyncModel
import SyncStore
import Testing

/// Stores on two kinds of disk side by side through the same random history, compared after every step.
@Suite("Random histories")
struct RandomHistoryTests {
    @Test(arguments: 1...12)
    func `both stores tell the same at every step`(seed: Int) throws {
        var pair = try StorePair(seed: UInt64(seed))
        for step in 0..<120 {
            let action = try pair.step()
            try pair.compare("seed \(seed), step \(step): \(action)")
        }
    }
}

private struct StorePair {
    private var random: SeededGenerator
    private let beds: [StoreBed]
    private var stores: [SQLiteStore]
    private var backups: [StoreBed] = []
    /// Peers whose changes arrive, and that also hear of each other.
    private let peers: [SQLiteStore]
    private var wall: Int64 = 1_000

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        beds = [StoreBed(.memory), StoreBed(.sqliteInTmpfs)]
        stores = try beds.map { try $0.open() }
        peers = try (2..<5).map { try StoreBed(.memory, device: TestDevice($0)).open() }
    }

    private mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

    private mutating func group() -> [Operation] {
        (0...below(3)).map { _ in
            switch below(20) {
            case 0: .unknown(kind: 50, span: UInt64(2 + below(9)), body: [1, 2])
            case 1: .addMember(TestDevice(UInt8(10 + below(5))).fact)
            case 2: .unknown(kind: Operation.Kind.appendEvent, span: 1, body: [0])
            case let other:
                .event(["a", "b", "caf\u{e9}"][other % 3], "\(below(1000))", type: other % 2 == 0 ? "t" : nil)
            }
        }
    }

    private mutating func groups() -> [[Operation]] { (0...below(6)).map { _ in group() } }

    /// Does one thing to both stores and says what.
    mutating func step() throws -> String {
        wall += Int64(below(3)) - 1
        switch below(16) {
        case 0..<5:
            let batch = groups()
            return try both("append") { "\(try $0.append(batch, wallMilliseconds: wall))" }
        case 5..<9: return try deliver()
        case 9:
            let (position, isRewinding) = (Int64(below(60)), below(2) == 0)
            return try both("acknowledge") {
                try $0.acknowledge(
                    consumer: "c", stream: "a", space: .home, position: position, rewinding: isRewinding)
                return ""
            }
        case 10:
            let position = Int64(below(60))
            return try both("deliver") {
                try $0.recordDelivered(consumer: "d", stream: "b", space: .home, position: position)
                return ""
            }
        case 11: return try both("remove a consumer") { "\(try $0.removeConsumer("c", space: .home))" }
        case 12:
            stores.forEach { $0.close() }
            return try reopen("close")
        case 13:
            for (bed, store) in zip(beds, stores) { bed.crash(store) }
            return try reopen("crash")
        case 14:
            stores.forEach { $0.close() }
            beds.forEach { $0.reboot() }
            return try reopen("reboot")
        default: return try backUpOrRestore()
        }
    }

    private mutating func reopen(_ what: String) throws -> String {
        stores = try beds.map { try $0.open() }
        return what
    }

    private mutating func backUpOrRestore() throws -> String {
        stores.forEach { $0.close() }
        if backups.isEmpty || below(2) == 0 {
            backups = beds.map { $0.copy(sharingLeases: false) }
            return try reopen("back up")
        }
        for (bed, backup) in zip(beds, backups) { bed.restore(backup) }
        return try reopen("restore")
    }

    /// A peer writes, perhaps after hearing of another; what it holds of a replica arrives, in part again.
    private mutating func deliver() throws -> String {
        let peer = peers[below(peers.count)]
        let heard = peers[below(peers.count)]
        _ = try Self.pull(from: heard, into: peer)
        _ = try peer.append(groups(), wallMilliseconds: wall + Int64(below(50)))
        let old = try peer.state().tips.first.map { try Self.verified(peer, $0.replica, on: .empty) } ?? []
        for store in stores {
            let pulled = try Self.pull(from: peer, into: store)
            if !pulled.isEmpty { _ = try store.apply(Array(old.prefix(1)), wallMilliseconds: 0) }
        }
        return "deliver"
    }

    private enum Start {
        case empty
        case tip(ReplicaTip)
    }

    private static func verified(_ store: SQLiteStore, _ replica: ReplicaID, on start: Start) throws
        -> [VerifiedSegment]
    {
        var tip: ReplicaTip
        switch start {
        case .empty: tip = .empty(space: .home, replica: replica)
        case .tip(let known): tip = known
        }
        return try store.segments(of: replica, from: tip.next, byteBudget: .max).map { segment in
            let verified = try segment.walked(from: tip)
            tip = verified.tip
            return verified
        }
    }

    /// Applies everything `target` lacks, in an order its contexts allow.
    private static func pull(from source: SQLiteStore, into target: SQLiteStore) throws -> [VerifiedSegment] {
        var waiting: [VerifiedSegment] = []
        let held = try target.state().tips
        for known in try source.state().tips {
            let tip = held.first { $0.replica == known.replica }?.tip
            if (tip?.next ?? 0) >= known.tip.next { continue }
            waiting += try verified(
                source, known.replica, on: .tip(tip ?? .empty(space: .home, replica: known.replica)))
        }
        var applied: [VerifiedSegment] = []
        var vector = VersionVector(held.map { VersionVector.Entry(replica: $0.replica, next: $0.tip.next) })
        while let index = waiting.firstIndex(where: { candidate in
            candidate.segment.start == vector.next(of: candidate.segment.replica)
                && candidate.context.allSatisfy { vector.next(of: $0.replica) >= $0.next }
        }) {
            let next = waiting.remove(at: index)
            vector.advance(next.segment.replica, to: next.segment.end)
            applied.append(next)
        }
        if !applied.isEmpty { _ = try target.apply(applied, wallMilliseconds: 0) }
        return applied
    }

    private func both(_ what: String, _ body: (SQLiteStore) throws -> String) throws -> String {
        let results = try stores.map(body)
        #expect(results[0] == results[1], "\(what)")
        return what
    }

    mutating func compare(_ comment: String) throws {
        let state = try stores[0].state()
        #expect(try stores[1].state() == state, "\(comment)")
        for store in stores {
            #expect(try store.recomputedDigest(of: .home) == state.digest, "\(comment)")
        }
        try same(comment) { try $0.streams(of: .home) }
        try same(comment) { try $0.consumers(of: .home) }
        let stream = ["a", "b", "caf\u{e9}"][below(3)]
        try same(comment) { try $0.allEvents(stream) }
        try same(comment) { try $0.canonicalEvents(stream) }
        let all = try stores[0].allEvents(stream)
        #expect(
            try stores[0].canonicalEvents(stream) == all.sorted { $0.canonicalKey < $1.canonicalKey }, "\(comment)")
        let after = Int64(below(50))
        let (limit, byteBudget) = (1 + below(20), below(200))
        let page = EventQuery(
            space: .home, stream: stream, order: .arrival(after: after), limit: limit, byteBudget: byteBudget)
        try same(comment) { try $0.events(page) }
        let found = try stores[0].events(page)
        #expect(found == Array(all.filter { $0.position > after }.prefix(found.count)), "\(comment)")
        let keys = try stores[0].canonicalEvents(stream).map(\.canonicalKey)
        if !keys.isEmpty {
            let key = keys[below(keys.count)]
            try same(comment) { try $0.canonicalEvents(stream, after: key, limit: limit) }
        }
        for known in state.tips {
            try same(comment) { try $0.segments(of: known.replica, from: 0, byteBudget: byteBudget * 10) }
        }
    }

    private func same<Value: Equatable>(_ comment: String, _ body: (SQLiteStore) throws -> Value) throws {
        let values = try stores.map(body)
        #expect(values[0] == values[1], "\(comment)")
    }
}
