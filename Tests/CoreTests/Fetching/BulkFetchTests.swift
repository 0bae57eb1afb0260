import SyncCore
import SyncModel
import Testing

/// What arrives, from whom, in which order, and how often.
struct BulkFetchTests {
    static let chunk = UInt64(BlobLayout.chunkBytes)

    private func expectClean(_ world: BulkWorld, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(world.check.violations.isEmpty, sourceLocation: sourceLocation)
        for node in world.nodes {
            let load = node.core.load
            #expect(load.inFlightBytes == 0 && load.unwrittenBytes == 0, "\(load)", sourceLocation: sourceLocation)
        }
    }

    @Test func `all that is missing arrives, each byte once, and the connection ends when nothing is wanted`() {
        var world = BulkWorld(nodes: 2)
        let wants =
            [0, 1, Self.chunk / 4, Self.chunk / 4 + 1, Self.chunk, 5 * Self.chunk + 3, 70 * Self.chunk]
            .enumerated().map { BulkWorld.want($0.offset, size: $0.element) }
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list(wants, at: 1)
        world.reach(within: 10_000) { $0.nodes[1].disk.whole.count == wants.count }
        _ = world.run(milliseconds: 1_000)
        expectClean(world)
        let hashes = wants.filter { $0.blob.size > 64 << 10 }.reduce(0) { $0 + 32 * $1.blob.layout.chunkCount }
        #expect(world.nodes[1].received == wants.reduce(hashes) { $0 + Int($1.blob.size) })
        #expect(world.nodes[1].core.load.wants == 0)
        #expect(world.nodes[1].core.peerViews.map(\.isConnected) == [true])
        _ = world.run(milliseconds: 62_000)
        #expect(world.nodes[1].core.peerViews.map(\.isConnected) == [false])
        #expect(world.pipes.count == 1, "it is not dialled again for nothing")
    }

    @Test func `nothing is dialled while nothing is missing, and whoever may not dial asks for it`() {
        var world = BulkWorld(nodes: 2)
        world.connect(0, 1)
        _ = world.run(milliseconds: 5_000)
        #expect(world.pipes.isEmpty)
        let want = BulkWorld.want(1, size: 10)
        world.give(want, to: 0)
        world.list([want], at: 1)
        world.reach(within: 1_000) { $0.nodes[1].disk.whole.count == 1 }
        #expect(world.pipes.first?.ends.first?.node == 0, "the side that dialled the session")
    }

    @Test(arguments: [false, true])
    func `what came before an interruption is not sent again`(isRestarted: Bool) {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 300 * Self.chunk + 7)
        world.give(want, to: 0)
        world.connect(0, 1)
        world.list([want], at: 1)
        for part in 1...10 {
            _ = world.run(milliseconds: 10_000) {
                ($0.nodes[1].disk.partial[want.blob]?.presentCount ?? 0) >= 25 * part
            }
            world.disconnect(0, 1)
            if isRestarted {
                _ = world.run(milliseconds: 50)
                let configuration = BulkConfiguration(seed: UInt64(part))
                world.nodes[1].core = BulkCore(configuration: configuration, at: Tick(nanoseconds: world.now))
            }
            world.connect(0, 1)
            world.hear(1, .missingChanged)
        }
        world.reach(within: 20_000) { $0.nodes[1].disk.whole.contains(want.blob) }
        #expect(world.nodes[1].wasted == 0, "what was under way is lost, what was here is not sent again")
        #expect(world.nodes[1].received <= Int(want.blob.size) + 64 * 1_024)
        expectClean(world)
    }

    @Test func `what is all here but for its end is finished though nobody else has it`() {
        var world = BulkWorld(nodes: 1)
        let want = BulkWorld.want(1, size: 20 * Self.chunk)
        world.nodes[0].disk.partial[want.blob] = Self.chunks(0..<20, of: 20)
        world.list([want], at: 0)
        world.reach(within: 1_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        expectClean(world)
    }

    @Test func `two that have a half each make a whole of it`() {
        var world = BulkWorld(nodes: 2) { configuration, _ in configuration.bounds.blobsAtWork = 2 }
        let wants = (1...6).map { BulkWorld.want($0, size: 20 * Self.chunk) }
        for (node, half) in [(0, 0..<10), (1, 10..<20)] {
            for want in wants { world.nodes[node].disk.partial[want.blob] = Self.chunks(half, of: 20) }
            world.list(wants, at: node)
        }
        world.connect(0, 1)
        for node in 0...1 { world.reach(within: 10_000) { $0.nodes[node].disk.whole.count == wants.count } }
        #expect(world.nodes.allSatisfy { $0.received == 6 * 10 * BlobLayout.chunkBytes })
        expectClean(world)
    }

    @Test func `two that make up for each other's gaps know what is here, and that neither has the rest`() {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 20 * Self.chunk)
        for (node, part) in [(0, 0..<7), (1, 5..<13)] {
            world.nodes[node].disk.partial[want.blob] = Self.chunks(part, of: 20)
            world.list([want], at: node)
        }
        world.connect(0, 1)
        _ = world.run(milliseconds: 5_000)
        for (node, other) in [(0, 1), (1, 0)] {
            let here = world.nodes[node]
            #expect(here.disk.partial[want.blob] == Self.chunks(0..<13, of: 20))
            #expect(here.progress[want.blob] == 13 * Self.chunk)
            let view = here.core.view(of: want.blob)
            #expect(view.holders == [world.nodes[other].device] && view.spentHolders == view.holders)
        }
        expectClean(world)
    }

    private static func chunks(_ present: Range<Int>, of count: Int) -> ChunkSet {
        var chunks = ChunkSet(count: count)
        for chunk in present { chunks.insert(chunk) }
        return chunks
    }

    @Test func `two sources are faster than one`() throws {
        var spans: [Int64] = []
        for count in 1...2 {
            var world = BulkWorld(nodes: 3)
            let want = BulkWorld.want(1, size: 160 * Self.chunk)
            for source in 1...count {
                world.nodes[source].bytesPerMillisecond = 12_500
                world.give(want, to: source)
                world.connect(source, 0)
            }
            world.list([want], at: 0)
            spans.append(
                try world.mustReach(within: 20_000) { $0.nodes[0].disk.whole.contains(want.blob) })
            #expect(world.nodes[0].wasted == 0)
            expectClean(world)
        }
        #expect(spans[1] * 10 <= spans[0] * 6, "\(spans)")
    }

    @Test(arguments: [false, true])
    func `one that vanishes or goes quiet is replaced within seconds`(isQuiet: Bool) throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 200 * Self.chunk)
        for source in 1...2 {
            world.nodes[source].bytesPerMillisecond = 12_500
            world.give(want, to: source)
            world.connect(source, 0)
        }
        world.list([want], at: 0)
        _ = world.run(milliseconds: 10_000) { ($0.nodes[0].disk.partial[want.blob]?.presentCount ?? 0) > 60 }
        if isQuiet {
            world.nodes[1].isQuiet = true
        } else {
            for pipe in world.pipes.indices where world.pipes[pipe].ends[0].node == 1 {
                world.pipes[pipe].isPartitioned = true
            }
        }
        let span = try world.mustReach(within: 30_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(span < 8_000)
        #expect(world.nodes[0].reports.contains(.slow(world.nodes[1].device)))
        #expect(world.nodes[0].wasted == 0)
        #expect(world.check.violations.isEmpty)
    }

    @Test func `a connection on which nothing comes any more is dialled anew`() {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 200 * Self.chunk)
        world.give(want, to: 1)
        world.connect(0, 1)
        world.list([want], at: 0)
        world.reach(within: 10_000) { ($0.nodes[0].disk.partial[want.blob]?.presentCount ?? 0) > 60 }
        world.pipes[0].isPartitioned = true
        world.reach(within: 30_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(world.pipes.count == 2)
        let silent = BulkReport.disconnected(world.nodes[1].device, code: CloseReason.suspected.rawValue)
        #expect(world.nodes[0].reports.contains(silent))
        #expect(world.check.violations.isEmpty)
    }

    @Test func `who asks for a connection though one is up has lost it`() {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 10)
        world.connect(0, 1)
        world.list([want], at: 0)
        world.reach(within: 1_000) { $0.nodes[0].core.peerViews.map(\.isConnected) == [true] }
        world.hear(0, .bulkWanted(world.nodes[1].device))
        _ = world.run(milliseconds: 6_000)
        #expect(world.pipes.count == 1, "it was on its way")
        world.hear(0, .bulkWanted(world.nodes[1].device))
        world.reach(within: 100) { $0.pipes.count == 2 && $0.nodes[0].core.peerViews.map(\.isConnected) == [true] }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `one that is slow and alone is not cancelled again and again`() throws {
        var world = BulkWorld(nodes: 2)
        // Thirteen seconds a chunk.
        world.nodes[0].bytesPerMillisecond = 20
        let want = BulkWorld.want(1, size: 4 * Self.chunk)
        world.give(want, to: 0)
        world.connect(0, 1)
        world.list([want], at: 1)
        world.reach(within: 120_000) { $0.nodes[1].disk.whole.contains(want.blob) }
        #expect(world.nodes[1].core.counters.requestsCancelled == 0)
        expectClean(world)
    }

    @Test func `one that gets stuck does not keep all places from those who go on`() {
        var world = BulkWorld(nodes: 3)
        let stuck = (1...20).map { BulkWorld.want($0, size: 200 * Self.chunk) }
        let there = (21...24).map { BulkWorld.want($0, size: 201 * Self.chunk) }
        for want in stuck { world.give(want, to: 1) }
        for want in there { world.give(want, to: 2) }
        world.nodes[1].bytesPerMillisecond = 1_000
        world.connect(1, 0)
        world.connect(2, 0)
        world.list(stuck, at: 0)
        world.reach(within: 5_000) { $0.nodes[0].core.counters.chunksReceived > 8 }
        #expect(world.nodes[0].core.load.blobsAtWork == 8)
        world.nodes[1].isQuiet = true
        world.list(there, at: 0)
        world.reach(within: 12_000) { world in there.allSatisfy { world.nodes[0].disk.whole.contains($0.blob) } }
        world.nodes[1].isQuiet = false
        world.nodes[1].bytesPerMillisecond = 100_000
        world.disconnect(0, 1)
        world.connect(1, 0)
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.count == 24 }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `a slow one is asked again after a while`() throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 2_000 * Self.chunk)
        for source in 1...2 {
            world.nodes[source].bytesPerMillisecond = 12_500
            world.give(want, to: source)
            world.connect(source, 0)
        }
        world.list([want], at: 0)
        _ = world.run(milliseconds: 1_000)
        world.nodes[1].isQuiet = true
        _ = world.run(milliseconds: 3_000)
        world.nodes[1].isQuiet = false
        // What it had begun to read when it fell silent is lost for ever; a new connection serves.
        world.disconnect(0, 1)
        world.connect(1, 0)
        let before = world.nodes[1].served
        _ = world.run(milliseconds: 10_000)
        #expect(world.nodes[1].served > before + 50 * BlobLayout.chunkBytes)
        #expect(world.check.violations.isEmpty)
    }

    @Test(arguments: [UInt64(10), 100 * chunk])
    func `who sends wrong bytes is reported once and not asked for that blob again`(size: UInt64) {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: size)
        world.nodes[1].disk.lies = 100
        for source in 1...2 {
            world.give(want, to: source)
            world.connect(source, 0)
        }
        world.list([want], at: 0)
        world.reach(within: 20_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        let wrong = world.nodes[0].reports.filter { if case .wrongBytes = $0 { true } else { false } }
        #expect(wrong.count == 1 && wrong.allSatisfy { $0 == .wrongBytes(world.nodes[1].device, want.blob) })
        _ = world.run(milliseconds: 500)
        expectClean(world)
    }

    @Test func `hashes that are not the blob's are asked of another`() {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 20 * Self.chunk)
        world.nodes[1].disk.liesAboutHashes = true
        world.give(want, to: 1)
        world.connect(1, 0)
        world.list([want], at: 0)
        _ = world.run(milliseconds: 3_000)
        #expect(world.nodes[0].reports.contains(.wrongBytes(world.nodes[1].device, want.blob)))
        #expect(world.nodes[0].core.counters.hashesWrong == 1)
        world.give(want, to: 2)
        world.connect(2, 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        expectClean(world)
    }

    @Test func `what is boasted of and not there is fetched from another`() {
        var world = BulkWorld(nodes: 3)
        let wants = [BulkWorld.want(1, size: 100), BulkWorld.want(2, size: 9 * Self.chunk)]
        world.nodes[1].disk.boasts = Set(wants.map(\.blob))
        for want in wants { world.give(want, to: 2) }
        world.connect(1, 0)
        world.list(wants, at: 0)
        _ = world.run(milliseconds: 2_000)
        world.connect(2, 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.count == 2 }
        expectClean(world)
    }

    @Test func `what is given up while a peer turns out not to have it is said to it once`() {
        var world = BulkWorld(nodes: 3)
        let wants = (1...3).map { BulkWorld.want($0, size: 100) }
        world.nodes[1].disk.boasts = Set(wants.map(\.blob))
        for want in wants { world.give(want, to: 2) }
        world.connect(1, 0)
        world.list(wants, at: 0)
        world.reach(within: 1_000) { $0.nodes[0].core.counters.requestsSent > 0 }
        world.nodes[0].listed = []
        for want in wants { world.hear(0, .unwanted(want.blob)) }
        _ = world.run(milliseconds: 1_000)
        expectClean(world)
    }

    @Test func `a blob flows on while it is still arriving`() throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 400 * Self.chunk)
        world.give(want, to: 0)
        for node in 0...1 { world.nodes[node].bytesPerMillisecond = 12_500 }
        world.connect(0, 1)
        world.connect(1, 2)
        world.list([want], at: 1)
        world.list([want], at: 2)
        let first = try world.mustReach(within: 60_000) { $0.nodes[1].disk.whole.contains(want.blob) }
        let second = try world.mustReach(within: 60_000) { $0.nodes[2].disk.whole.contains(want.blob) }
        #expect(second < first / 2, "\(first) then \(second) ms")
        expectClean(world)
    }

    @Test func `thousands of small ones come in few transactions, from all who have them`() {
        var world = BulkWorld(nodes: 3)
        let wants = (0..<5_000).map { BulkWorld.want($0, size: 1_024, stamp: UInt64($0)) }
        for source in 1...2 {
            world.nodes[source].bytesPerMillisecond = 12_500
            for want in wants { world.give(want, to: source) }
            world.connect(source, 0)
        }
        world.list(wants, at: 0)
        world.reach(within: 2_000) { $0.nodes[0].disk.whole.count == wants.count }
        #expect(world.nodes[0].received == 5_000 * 1_024)
        #expect(world.nodes[0].disk.batches.count <= 60, "\(world.nodes[0].disk.batches)")
        #expect(world.nodes[1].served > 1 << 20 && world.nodes[2].served > 1 << 20)
        #expect(world.nodes[0].listCount < 25)
        expectClean(world)
    }

    @Test func `what nobody has does not hide what is there`() {
        var world = BulkWorld(nodes: 2)
        let lost = (0..<3_000).map { BulkWorld.want($0, size: 10, stamp: 9) }
        let there = (3_000..<3_500).map { BulkWorld.want($0, size: 20, stamp: 1) }
        for want in there { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list(lost + there, at: 1)
        world.reach(within: 20_000) { $0.nodes[1].disk.whole.count == there.count }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `what was given up is fetched when a connected peer gets it after all`() {
        var world = BulkWorld(nodes: 2)
        let lost = (0..<6_000).map { BulkWorld.want($0, size: 10, stamp: 9) }
        world.connect(0, 1)
        world.list(lost, at: 1)
        _ = world.run(milliseconds: 30_000)
        for want in lost {
            world.give(want, to: 0)
            world.hear(0, .holdingChanged(want.blob))
        }
        world.reach(within: 120_000) { $0.nodes[1].disk.whole.count == lost.count }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `a person goes first, then what is small, then what is new`() {
        var world = BulkWorld(nodes: 2) { configuration, _ in
            configuration.bounds.blobsAtWork = 1
        }
        world.nodes[0].bytesPerMillisecond = 5_000
        let wants = [
            BulkWorld.want(1, size: 9 * Self.chunk, stamp: 5), BulkWorld.want(2, size: 3 * Self.chunk, stamp: 1),
            BulkWorld.want(3, size: 3 * Self.chunk, stamp: 2), BulkWorld.want(4, size: 1_000),
        ]
        let asked = BulkWorld.want(5, size: 20 * Self.chunk)
        for want in wants + [asked] { world.give(want, to: 0) }
        world.list(wants, at: 1)
        world.connect(0, 1)
        _ = world.run(milliseconds: 30)
        world.hear(1, .fetch(asked))
        world.reach(within: 20_000) { $0.nodes[1].disk.whole.count == 5 }
        #expect(world.nodes[1].fetchedOrder == [wants[3], asked, wants[2], wants[1], wants[0]].map(\.blob))
        expectClean(world)
    }

    @Test func `none at work waits for another to be whole`() {
        var world = BulkWorld(nodes: 2)
        let wants = (1...3).map { BulkWorld.want($0, size: 200 * Self.chunk) }
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list(wants, at: 1)
        _ = world.run(milliseconds: 20_000) { world in
            wants.reduce(0) { $0 + (world.nodes[1].disk.partial[$1.blob]?.presentCount ?? 0) } >= 300
        }
        for want in wants {
            #expect((80...120).contains(world.nodes[1].disk.partial[want.blob]?.presentCount ?? 0))
        }
        _ = world.run(milliseconds: 20_000)
        expectClean(world)
    }

    @Test func `whoever waits for what nobody has is told once, and again when that changed`() {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 10 * Self.chunk)
        world.hear(0, .fetch(want))
        _ = world.run(milliseconds: 10)
        #expect(world.nodes[0].nobodyHas == [want.blob], "nobody is there")
        _ = world.run(milliseconds: 30_000)
        world.connect(1, 0)
        _ = world.run(milliseconds: 30_000)
        #expect(world.nodes[0].nobodyHas.count == 2)
        world.connect(2, 0)
        world.give(want, to: 2)
        world.hear(2, .holdingChanged(want.blob))
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(world.nodes[0].nobodyHas.count == 2)
        expectClean(world)
    }

    @Test func `an answer that waits behind bytes is waited for`() {
        var world = BulkWorld(nodes: 2)
        // A second and a bit for a chunk.
        world.nodes[1].bytesPerMillisecond = 220
        let (first, second) = (BulkWorld.want(1, size: 40 * Self.chunk), BulkWorld.want(2, size: Self.chunk))
        for want in [first, second] { world.give(want, to: 1) }
        world.connect(1, 0)
        world.list([first], at: 0)
        world.reach(within: 10_000) { $0.nodes[0].core.counters.chunksReceived >= 2 }
        world.hear(0, .fetch(second))
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.contains(second.blob) }
        #expect(world.nodes[0].nobodyHas.isEmpty)
        #expect(world.check.violations.isEmpty)
    }

    @Test func `what is no longer wanted is cancelled, and what came of it stays`() {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 500 * Self.chunk)
        world.give(want, to: 0)
        world.connect(0, 1)
        world.hear(1, .fetch(want))
        _ = world.run(milliseconds: 5_000) { ($0.nodes[1].disk.partial[want.blob]?.presentCount ?? 0) > 50 }
        world.hear(1, .endFetch(want.blob))
        _ = world.run(milliseconds: 200)
        let received = world.nodes[1].received
        _ = world.run(milliseconds: 5_000)
        #expect(world.nodes[1].received == received)
        #expect(world.nodes[1].core.load.wants == 0)
        expectClean(world)
        world.hear(1, .fetch(want))
        world.reach(within: 10_000) { $0.nodes[1].disk.whole.contains(want.blob) }
        #expect(world.nodes[1].received <= 500 * BlobLayout.chunkBytes + (4 << 20))
    }
}
