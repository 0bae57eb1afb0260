import LawHistories
import SyncCore
import SyncModel
import Testing

/// A network of peers that send what they are asked for, late, wrong, or not at all.
struct FetchPlannerTests {
    private static func device(_ number: Int) -> DeviceID {
        DeviceID(bytes: [UInt8](repeating: UInt8(number), count: DeviceID.byteCount))!
    }

    private static func blob(_ number: Int) -> BlobHash {
        BlobHash(bytes: [UInt8](repeating: 0, count: 31) + [UInt8(number)])!
    }

    private struct Peer {
        var isConnected = true
        /// Chunks a step; 0: it went quiet.
        var speed: Int
        /// Of a hundred chunks so many are wrong.
        var lies = 0
        var queue: [(id: UInt64, blob: BlobHash, chunk: Int)] = []
    }

    private struct Network {
        var random: SeededGenerator
        var planner: FetchPlanner
        let configuration: FetchPlanner.Configuration
        var peers: [DeviceID: Peer] = [:]
        var layouts: [BlobHash: BlobLayout] = [:]
        var holders: [BlobHash: [DeviceID: ChunkSet?]] = [:]
        var here: [BlobHash: Set<Int>] = [:]
        var finished: [BlobHash] = []
        /// Of each chunk, who was asked and has not answered.
        var asked: [BlobHash: [Int: DeviceID]] = [:]
        var sentChunks = 0
        var wrongChunks = 0
        var now: Int64 = 0

        init(seed: UInt64, _ configuration: FetchPlanner.Configuration) {
            random = SeededGenerator(seed: seed)
            self.configuration = configuration
            planner = FetchPlanner(configuration)
        }

        mutating func connect(_ number: Int, speed: Int, lies: Int = 0) {
            let peer = FetchPlannerTests.device(number)
            peers[peer] = Peer(speed: speed, lies: lies)
            planner.connected(peer, at: now)
            for (blob, held) in holders { if let chunks = held[peer] { planner.offered(blob, by: peer, chunks) } }
        }

        mutating func disconnect(_ number: Int) {
            let peer = FetchPlannerTests.device(number)
            peers[peer]?.isConnected = false
            peers[peer]?.queue = []
            for blob in asked.keys { asked[blob] = asked[blob]?.filter { $0.value != peer } }
            planner.disconnected(peer)
        }

        mutating func want(
            _ number: Int, size: UInt64, _ urgency: FetchPlanner.Urgency = .background, stamp: UInt64 = 1,
            of owners: [Int]
        ) {
            let (blob, layout) = (FetchPlannerTests.blob(number), BlobLayout(size: size)!)
            layouts[blob] = layout
            here[blob] = []
            planner.want(
                blob, layout, present: ChunkSet(count: layout.chunkCount), urgency, stamp: Stamp(rawValue: stamp))
            for owner in owners {
                holders[blob, default: [:]][FetchPlannerTests.device(owner)] = .some(nil)
                planner.offered(blob, by: FetchPlannerTests.device(owner), nil)
            }
        }

        mutating func perform(_ effects: [FetchPlanner.Effect]) throws {
            for effect in effects {
                switch effect {
                case .ask(let request):
                    let peer = try #require(peers[request.peer])
                    #expect(peer.isConnected)
                    for chunk in request.chunks {
                        #expect(asked[request.blob]?[chunk] == nil, "asked of two at once")
                        #expect(here[request.blob]?.contains(chunk) == false, "asked for what is here")
                        asked[request.blob, default: [:]][chunk] = request.peer
                        peers[request.peer]?.queue.append((request.id, request.blob, chunk))
                    }
                case .cancel(let request):
                    peers[request.peer]?.queue.removeAll { $0.id == request.id }
                    for chunk in request.chunks where asked[request.blob]?[chunk] == request.peer {
                        asked[request.blob]?[chunk] = nil
                    }
                }
            }
            for (peer, state) in peers where state.isConnected {
                let bytes = state.queue.reduce(0) { $0 + layouts[$1.blob]!.range(of: $1.chunk).count }
                #expect(bytes <= configuration.windowBytes, "\(peer) has \(bytes) bytes in flight")
            }
        }

        /// Everybody sends what a step allows.
        mutating func step() throws {
            now += 100
            for peer in peers.keys.sorted() where peers[peer]!.isConnected {
                for _ in 0..<min(peers[peer]!.speed, peers[peer]!.queue.count) {
                    guard let next = peers[peer]!.queue.first else { break }
                    peers[peer]!.queue.removeFirst()
                    asked[next.blob]?[next.chunk] = nil
                    sentChunks += 1
                    if Int.random(in: 0..<100, using: &random) < peers[peer]!.lies {
                        wrongChunks += 1
                        try perform(planner.rejected(next.chunk, of: next.id, at: now))
                    } else if planner.received(next.chunk, of: next.id, at: now) {
                        #expect(here[next.blob]?.insert(next.chunk).inserted == true)
                    }
                }
            }
            finished += planner.finished()
            try perform(planner.plan(at: now))
        }

        mutating func run(until done: (Network) -> Bool, limit: Int) throws -> Int {
            try perform(planner.plan(at: now))
            for step in 1...limit {
                try self.step()
                if done(self) { return step }
            }
            Issue.record("not done after \(limit) steps: \(here.mapValues(\.count))")
            return limit
        }
    }

    private static let chunk = UInt64(BlobLayout.chunkBytes)

    @Test func `two peers are faster than one, and no chunk comes twice`() throws {
        var spans: [Int] = []
        for count in 1...2 {
            var network = Network(seed: 1, .init())
            for peer in 1...count { network.connect(peer, speed: 4) }
            network.want(1, size: 400 * Self.chunk, of: Array(1...count))
            spans.append(try network.run(until: { !$0.finished.isEmpty }, limit: 1_000))
            #expect(network.sentChunks == 400)
        }
        #expect(spans[1] * 2 <= spans[0] + 4, "\(spans)")
    }

    @Test func `one that vanishes or goes quiet is replaced, and little is sent again`() throws {
        for isGone in [true, false] {
            var network = Network(seed: 2, .init())
            for peer in 1...3 { network.connect(peer, speed: 3) }
            network.want(1, size: 300 * Self.chunk + 5, of: [1, 2, 3])
            _ = try network.run(until: { $0.sentChunks > 60 }, limit: 1_000)
            if isGone { network.disconnect(2) } else { network.peers[Self.device(2)]!.speed = 0 }
            _ = try network.run(until: { !$0.finished.isEmpty }, limit: 1_000)
            #expect(network.sentChunks == 301)
        }
    }

    @Test func `who sends wrong bytes is not asked for that blob again`() throws {
        var network = Network(seed: 3, .init())
        network.connect(1, speed: 3, lies: 100)
        network.connect(2, speed: 3)
        network.want(1, size: 100 * Self.chunk, of: [1, 2])
        _ = try network.run(until: { !$0.finished.isEmpty }, limit: 1_000)
        #expect(network.wrongChunks == 1)
    }

    @Test func `a person goes first, then what is small, then what is new`() throws {
        var configuration = FetchPlanner.Configuration()
        configuration.activeLimit = 1
        configuration.windowBytes = BlobLayout.chunkBytes
        var network = Network(seed: 4, configuration)
        network.connect(1, speed: 1)
        network.want(1, size: 9 * Self.chunk, stamp: 5, of: [1])
        network.want(2, size: 3 * Self.chunk, stamp: 1, of: [1])
        network.want(3, size: 3 * Self.chunk, stamp: 2, of: [1])
        network.want(4, size: 20 * Self.chunk, .person, of: [1])
        _ = try network.run(until: { $0.finished.count == 4 }, limit: 200)
        #expect(network.finished == [4, 3, 2, 1].map(Self.blob))
    }

    @Test func `none at work waits for another to be whole`() throws {
        var network = Network(seed: 5, .init())
        network.connect(1, speed: 8)
        for blob in 1...3 { network.want(blob, size: 200 * Self.chunk, of: [1]) }
        _ = try network.run(until: { $0.sentChunks >= 300 }, limit: 200)
        for blob in 1...3 {
            #expect((70...130).contains(network.here[Self.blob(blob)]!.count), "\(network.here.mapValues(\.count))")
        }
    }

    @Test func `what nobody has is waited for, and what is forgotten is not`() throws {
        var network = Network(seed: 6, .init())
        network.connect(1, speed: 4)
        network.want(1, size: 10 * Self.chunk, of: [])
        network.want(2, size: 10 * Self.chunk, of: [1])
        network.want(3, size: 0, of: [])
        for _ in 0..<20 { try network.step() }
        #expect(Set(network.finished) == [Self.blob(2), Self.blob(3)])
        network.want(4, size: 500 * Self.chunk, of: [1])
        try network.step()
        try network.perform(network.planner.forget(Self.blob(4)))
        #expect(network.peers[Self.device(1)]!.queue.isEmpty && network.planner.deadline == nil)
        network.planner.offered(Self.blob(1), by: Self.device(1), nil)
        _ = try network.run(until: { $0.finished.contains(Self.blob(1)) }, limit: 50)
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `whatever peers do, all arrives, each chunk once, within the windows`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var configuration = FetchPlanner.Configuration()
        configuration.windowBytes = BlobLayout.chunkBytes * Int.random(in: 1...40, using: &random)
        configuration.requestChunks = Int.random(in: 1...12, using: &random)
        var network = Network(seed: seed, configuration)
        // The first is honest and stays, so that everything can arrive.
        network.connect(1, speed: 2)
        for peer in 2...5 {
            network.connect(
                peer, speed: Int.random(in: 0...4, using: &random),
                lies: Int.random(in: 0..<3, using: &random) == 0 ? 30 : 0)
        }
        for blob in 1...6 {
            network.want(
                blob, size: UInt64.random(in: 0...40 * Self.chunk, using: &random),
                blob % 3 == 0 ? .person : .background, of: [1] + (2...5).filter { _ in Bool.random(using: &random) })
        }
        for _ in 0..<40 {
            let peer = Int.random(in: 2...5, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: network.disconnect(peer)
            case 1:
                if network.peers[Self.device(peer)]!.isConnected { network.disconnect(peer) }
                network.connect(peer, speed: Int.random(in: 0...4, using: &random))
            case _: network.peers[Self.device(peer)]!.speed = Int.random(in: 0...4, using: &random)
            }
            for _ in 0..<5 { try network.step() }
        }
        _ = try network.run(until: { $0.finished.count == 6 }, limit: 2_000)
        for (blob, layout) in network.layouts { #expect(network.here[blob]!.count == layout.chunkCount) }
        #expect(network.planner.deadline == nil, "nothing is waited for any more")
    }
}
