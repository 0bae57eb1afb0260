import SyncCore
import SyncModel
import Testing

/// Records that say another size than a blob has: they name a blob that no device has, and do no harm to the true one.
struct BulkNameTests {
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

    /// The bytes of a blob, and the hashes of its chunks.
    private static func bytes(of blob: BlobName) -> Int {
        Int(blob.size) + (blob.size > 64 << 10 ? 32 * blob.layout.chunkCount : 0)
    }

    @Test(arguments: sizes, [false, true])
    func `a record with a false size keeps nothing away, and stays missing`(
        sizes: (record: UInt64, truth: UInt64), isPersonal: Bool
    ) {
        var world = BulkWorld(nodes: 3)
        let (record, truth) = (BulkWorld.want(1, size: sizes.record), BulkWorld.want(1, size: sizes.truth))
        for node in 1...2 {
            world.give(truth, to: node)
            world.connect(node, 0)
        }
        // The false one first.
        if isPersonal { world.hear(0, .fetch(record)) } else { world.list([record], at: 0) }
        _ = world.run(milliseconds: 300)
        world.list([truth], at: 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.contains(truth.blob) }
        _ = world.run(milliseconds: 10_000)
        #expect(world.nodes[0].received == Self.bytes(of: truth.blob), "nothing comes twice")
        #expect(liars(world).isEmpty)
        #expect(world.nodes[0].disk.whole == [truth.blob] && world.nodes[0].disk.partial.isEmpty)
        let view = world.nodes[0].core.view(of: record.blob)
        #expect(view.isWanted && view.holders.isEmpty && view.liars.isEmpty && view.refusal == nil)
        #expect(world.nodes[0].core.load.wants == 1)
        #expect(world.nodes[0].nobodyHas == (isPersonal ? [record.blob] : []))
        expectClean(world)
    }

    @Test func `wanting one size of a hash is found`() {
        var world = BulkWorld(nodes: 2) { configuration, _ in configuration.faults = .believeFirstSize }
        let truth = BulkWorld.want(1, size: 11)
        world.give(truth, to: 1)
        world.connect(1, 0)
        world.list([BulkWorld.want(1, size: 10), truth], at: 0)
        #expect(world.run(milliseconds: 600_000) { !$0.nodes[0].disk.whole.isEmpty } == nil)
    }

    @Test(arguments: sizes) func `a peer that agrees with a false record lies about that name only`(
        sizes: (record: UInt64, truth: UInt64)
    ) {
        var world = BulkWorld(nodes: 2)
        let (record, truth) = (BulkWorld.want(1, size: sizes.record), BulkWorld.want(1, size: sizes.truth))
        world.give(truth, to: 1)
        world.nodes[1].disk.whole.insert(record.blob)
        world.connect(1, 0)
        world.list([record], at: 0)
        _ = world.run(milliseconds: 2_000)
        #expect(world.nodes[0].disk.whole.isEmpty)
        #expect(world.nodes[0].disk.partial.isEmpty, "nothing is begun before its name is proven")
        world.list([truth], at: 0)
        world.reach(within: 5_000) { $0.nodes[0].disk.whole.contains(truth.blob) }
        _ = world.run(milliseconds: 500)
        #expect(world.nodes[0].reports.contains(.wrongBytes(world.nodes[1].device, record.blob)))
        #expect(liars(world).count == 1)
        expectClean(world)
    }

    @Test(arguments: sizes) func `a peer that agrees with a false record and sends nothing keeps nothing away`(
        sizes: (record: UInt64, truth: UInt64)
    ) {
        var world = BulkWorld(nodes: 3)
        let (record, truth) = (BulkWorld.want(1, size: sizes.record), BulkWorld.want(1, size: sizes.truth))
        world.give(truth, to: 2)
        world.nodes[1].disk.whole.insert(record.blob)
        world.nodes[1].isMute = true
        for node in 1...2 { world.connect(node, 0) }
        world.list([record, truth], at: 0)
        // Room for hashes may be taken until those of 16 GiB are overdue.
        world.reach(within: 11_000) { $0.nodes[0].disk.whole.contains(truth.blob) }
        #expect(!liars(world).contains(world.nodes[2].device))
    }

    @Test func `a false name of 16 GiB takes neither room nor memory, and little time of others`() {
        var world = BulkWorld(nodes: 3)
        let wants = (1...20).map { BulkWorld.want($0, size: 3 * Self.chunk) }
        let records = (1...20).map { BulkWorld.want($0, size: BlobLayout.sizeLimit) }
        for want in wants { world.give(want, to: 2) }
        for record in records { world.nodes[1].disk.whole.insert(record.blob) }
        world.connect(1, 0)
        world.list(records, at: 0)
        _ = world.run(milliseconds: 1_000)
        #expect(world.nodes[0].disk.partial.isEmpty)
        world.connect(2, 0)
        world.list(wants, at: 0)
        world.reach(within: 20_000) { $0.nodes[0].disk.whole.count == wants.count }
        #expect(world.check.violations.isEmpty)
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
