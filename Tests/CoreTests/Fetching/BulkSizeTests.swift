import SyncCore
import SyncModel
import Testing

/// Records that say another size than a blob has, and holders that do.
struct BulkSizeTests {
    private static let chunk = UInt64(BlobLayout.chunkBytes)
    /// (as the record says, as it is): of either kind, and of one chunk more or less.
    static let sizes: [(UInt64, UInt64)] = [
        (10, 11), (0, 5), (5, 0), (10, 5 * chunk), (5 * chunk, 10), (3 * chunk, 3 * chunk + 1),
        (64 << 10, (64 << 10) + 1), (2 * chunk - 1, 2 * chunk), (70 * chunk, chunk), (chunk, 70 * chunk),
        (BlobLayout.sizeLimit, 9 * chunk), (BlobLayout.sizeLimit, 0),
    ]

    private func expectClean(_ world: BulkWorld, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(world.check.violations.isEmpty, sourceLocation: sourceLocation)
        for node in world.nodes {
            let load = node.core.load
            let rest = load.inFlightBytes + load.unwrittenBytes + load.hashBytes
            #expect(rest == 0, "\(load)", sourceLocation: sourceLocation)
        }
    }

    private func liars(_ world: BulkWorld) -> [DeviceID] {
        world.nodes[0].reports.compactMap { if case .wrongBytes(let device, _) = $0 { device } else { nil } }
    }

    @Test(arguments: sizes, [false, true])
    func `a wrong record keeps nothing away, and makes no liar of who holds it`(
        sizes: (record: UInt64, truth: UInt64), isPersonal: Bool
    ) throws {
        var world = BulkWorld(nodes: 3)
        for node in 1...2 {
            world.give(BulkWorld.want(1, size: sizes.truth), to: node)
            world.connect(node, 0)
        }
        let want = BulkWorld.want(1, size: sizes.record)
        if isPersonal { world.hear(0, .fetch(want)) } else { world.list([want], at: 0) }
        _ = try world.mustReach(within: 5_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        _ = world.run(milliseconds: 500)
        #expect(liars(world).isEmpty)
        #expect(world.nodes[0].received <= Int(sizes.truth) + 32 * 70)
        #expect(world.nodes[0].core.load.wants == 0)
        expectClean(world)
    }

    @Test func `believing the first size for ever is found`() {
        var world = BulkWorld(nodes: 2) { configuration, _ in configuration.faults = .believeFirstSize }
        world.give(BulkWorld.want(1, size: 11), to: 1)
        world.connect(1, 0)
        world.list([BulkWorld.want(1, size: 10)], at: 0)
        #expect(world.run(milliseconds: 600_000) { !$0.nodes[0].disk.whole.isEmpty } == nil)
    }

    @Test(arguments: sizes) func `who agrees with a wrong record is found out, and the others are asked`(
        sizes: (record: UInt64, truth: UInt64)
    ) throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: sizes.record)
        for node in 1...2 { world.give(BulkWorld.want(1, size: sizes.truth), to: node) }
        world.nodes[1].disk.claims[want.blob] = want.layout
        world.connect(1, 0)
        world.list([want], at: 0)
        _ = world.run(milliseconds: 2_000)
        #expect(world.nodes[0].disk.whole.isEmpty)
        #expect(world.nodes[0].disk.partial.isEmpty, "nothing is begun before its size is proven")
        world.connect(2, 0)
        _ = try world.mustReach(within: 5_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        _ = world.run(milliseconds: 500)
        #expect(liars(world) == [world.nodes[1].device])
        expectClean(world)
    }

    @Test(arguments: sizes) func `who says what the record says and sends nothing does not keep the others from it`(
        sizes: (record: UInt64, truth: UInt64)
    ) throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: sizes.record)
        for node in 1...2 {
            world.give(BulkWorld.want(1, size: sizes.truth), to: node)
            world.connect(node, 0)
        }
        world.nodes[1].disk.claims[want.blob] = want.layout
        world.nodes[1].isMute = true
        world.list([want], at: 0)
        let span = try world.mustReach(within: 20_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(span <= 11_000, "hashes are waited for for ten seconds, small ones for two")
        #expect(!liars(world).contains(world.nodes[2].device))
    }

    @Test func `the size that is proven is the truth, and who says otherwise lies`() throws {
        var world = BulkWorld(nodes: 3)
        let want = BulkWorld.want(1, size: 40 * Self.chunk)
        for node in 1...2 {
            world.nodes[node].bytesPerMillisecond = 1_000
            world.give(want, to: node)
        }
        world.nodes[2].disk.claims[want.blob] = BlobLayout(size: 40 * Self.chunk - 1)
        world.connect(1, 0)
        world.list([want], at: 0)
        world.reach(within: 5_000) { ($0.nodes[0].disk.partial[want.blob]?.presentCount ?? 0) > 3 }
        world.connect(2, 0)
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(liars(world) == [world.nodes[2].device])
        #expect(world.nodes[2].served == 0)
        expectClean(world)
    }

    @Test(arguments: [UInt64(10), 5 * chunk, 30 * chunk])
    func `what was begun is gone on with whatever the record says by now`(record: UInt64) {
        var world = BulkWorld(nodes: 2)
        let truth = BulkWorld.want(1, size: 20 * Self.chunk)
        var half = ChunkSet(count: 20)
        for chunk in 0..<10 { half.insert(chunk) }
        world.give(truth, to: 1)
        world.nodes[0].disk.partial[truth.blob] = half
        world.connect(1, 0)
        world.list([BulkWorld.want(1, size: record)], at: 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.contains(truth.blob) }
        #expect(world.nodes[0].received == 10 * BlobLayout.chunkBytes, "no hashes, and half of the chunks")
        #expect(liars(world).isEmpty)
        expectClean(world)
    }

    // MARK: What may be fetched

    @Test func `the policy holds for the true size, unless a person asks`() throws {
        var world = BulkWorld(nodes: 2)
        let truth = BulkWorld.want(1, size: 400 * Self.chunk)
        world.nodes[1].bytesPerMillisecond = 10_000
        world.give(truth, to: 1)
        world.connect(1, 0)
        let want = BulkWorld.want(1, size: 10, sizeLimit: 100 * Self.chunk)
        world.list([want], at: 0)
        _ = world.run(milliseconds: 3_000)
        #expect(world.nodes[0].received == 0)
        world.hear(0, .fetch(want))
        world.reach(within: 5_000) { ($0.nodes[0].disk.partial[want.blob]?.presentCount ?? 0) >= 10 }
        world.hear(0, .endFetch(want.blob))
        _ = world.run(milliseconds: 1_000)
        let before = world.nodes[0].received
        _ = world.run(milliseconds: 10_000)
        #expect(world.nodes[0].received == before, "nobody waits for it any more")
        // As after a start: some of it is here.
        world.hear(0, .sessionDown(world.nodes[1].device))
        world.nodes[0].core = BulkCore(configuration: BulkConfiguration(seed: 2), at: Tick(nanoseconds: world.now))
        world.hear(0, .sessionUp(world.nodes[1].device, dial: nil))
        world.hear(0, .missingChanged)
        _ = world.run(milliseconds: 10_000)
        #expect(world.nodes[0].received == before)
        // The policy is another.
        world.nodes[0].listed = []
        world.list([BulkWorld.want(1, size: 10, sizeLimit: 400 * Self.chunk)], at: 0)
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        // At most what was under way when nobody waited any more.
        #expect(world.nodes[0].wasted <= 8 * BlobLayout.chunkBytes)
    }

    @Test func `the quota holds for the true size, and only for that`() {
        var world = BulkWorld(nodes: 2)
        world.nodes[0].disk.quota = 10 * Self.chunk
        world.give(BulkWorld.want(1, size: 20 * Self.chunk), to: 1)
        world.give(BulkWorld.want(2, size: 9 * Self.chunk), to: 1)
        world.connect(1, 0)
        world.list([BulkWorld.want(1, size: 10), BulkWorld.want(2, size: 30 * Self.chunk)], at: 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole == [BulkWorld.hash(2)] }
        #expect(world.nodes[0].disk.partial.isEmpty)
        let quota = BulkReport.refusedHere(BulkWorld.hash(1), code: BulkConfiguration.quotaCode)
        #expect(world.nodes[0].reports.contains(quota))
    }

    @Test func `a claim of 16 GiB takes neither room nor memory, and little time of others`() {
        var world = BulkWorld(nodes: 3)
        let wants = (1...20).map { BulkWorld.want($0, size: 3 * Self.chunk) }
        for want in wants {
            world.give(want, to: 1)
            world.give(want, to: 2)
            world.nodes[1].disk.claims[want.blob] = BlobLayout(size: BlobLayout.sizeLimit)
        }
        world.connect(1, 0)
        world.list(wants, at: 0)
        _ = world.run(milliseconds: 1_000)
        #expect(world.nodes[0].disk.partial.isEmpty)
        world.connect(2, 0)
        world.reach(within: 20_000) { $0.nodes[0].disk.whole.count == wants.count }
        #expect(world.check.violations.isEmpty)
        // Three of the 20 at a time would be beyond what hashes may take.
        #expect(world.nodes[0].core.load.hashBytes == 0)
    }

    // MARK: Lies

    @Test(arguments: [UInt64(10), 30 * chunk])
    func `the only holder is asked again once its disk is mended`(size: UInt64) {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: size)
        world.give(want, to: 1)
        world.connect(1, 0)
        world.nodes[1].disk.lies = 100
        world.hear(0, .fetch(want))
        _ = world.run(milliseconds: 30_000)
        #expect(liars(world).count == 1)
        world.nodes[1].disk.lies = 0
        world.reach(within: 31_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(liars(world).count == 1)
        expectClean(world)
    }

    @Test(arguments: [false, true]) func `who lies on and on wastes little of an hour`(isAboutHashes: Bool) {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 200 * Self.chunk)
        world.give(want, to: 1)
        world.connect(1, 0)
        world.nodes[1].disk.lies = isAboutHashes ? 0 : 100
        world.nodes[1].disk.liesAboutHashes = isAboutHashes
        world.list([want], at: 0)
        var wasted: [Int] = []
        for _ in 0..<3 {
            let before = world.nodes[0].received
            _ = world.run(milliseconds: 3_600_000)
            wasted.append((world.nodes[0].received - before) / BlobLayout.chunkBytes)
        }
        // Six times in the first hour, once in each of the others, each time what may be asked of one peer at once.
        let window = world.nodes[0].core.configuration.bounds.peerWindowBytes / BlobLayout.chunkBytes
        #expect(wasted[0] <= 6 * window && wasted[1] <= 2 * window && wasted[2] <= 2 * window, "\(wasted)")
        #expect((6...10).contains(liars(world).count))
        world.nodes[1].disk.lies = 0
        world.nodes[1].disk.liesAboutHashes = false
        world.reach(within: 3_600_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        expectClean(world)
    }

    @Test func `lies end with their session`() {
        var world = BulkWorld(nodes: 2)
        let want = BulkWorld.want(1, size: 30 * Self.chunk)
        world.give(want, to: 1)
        world.connect(1, 0)
        world.nodes[1].disk.lies = 100
        world.list([want], at: 0)
        _ = world.run(milliseconds: 2_000)
        world.nodes[1].disk.lies = 0
        world.disconnect(0, 1)
        world.connect(1, 0)
        world.reach(within: 2_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        expectClean(world)
    }
}
