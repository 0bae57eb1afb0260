import LawHistories
import SyncCore
import SyncModel
import Testing

/// Random histories of peers that come, go, fall silent, lie, also about sizes, and run full; and that planted faults are found by what is checked.
struct BulkHistoryTests {
    private static let chunk = UInt64(BlobLayout.chunkBytes)

    /// - Returns: the world once all is here, or time is up.
    private static func history(seed: UInt64, faults: BulkFaults = []) -> (world: BulkWorld, isDone: Bool) {
        var world = BulkWorld(seed: seed, nodes: 5) { configuration, number in
            if number == 0 { configuration.faults = faults }
        }
        var random = SeededGenerator(seed: seed &* 31)
        func size() -> UInt64 { UInt64(random.once(in: 2) ? random.below(60 << 10) : random.below(Int(60 * chunk))) }
        let wants = (1...8).map { number in
            let size = number <= 4 ? UInt64(random.below(60 << 10)) : UInt64(random.below(Int(60 * chunk)))
            return BulkWorld.want(number, size: size, stamp: UInt64(number % 3))
        }
        // The first is honest and stays, so that everything can arrive.
        for want in wants { world.give(want, to: 1) }
        for node in 1...4 { world.nodes[node].bytesPerMillisecond = 2_000 + random.below(20_000) }
        for node in 2...4 {
            for want in wants where random.once(in: 2) { world.give(want, to: node) }
            if random.once(in: 3) { world.nodes[node].disk.lies = 30 }
            if random.once(in: 4) { world.nodes[node].disk.liesAboutHashes = true }
        }
        for node in 1...4 { if random.once(in: 2) { world.connect(node, 0) } else { world.connect(0, node) } }
        // Some records say another size than the blob has, and some peers say that they hold what these name.
        let falseWants = wants.filter { _ in random.once(in: 3) }.map { BulkWorld.want($0.number, size: size()) }
            .filter { !wants.map(\.blob).contains($0.blob) }
        for node in 2...4 {
            for want in falseWants where random.once(in: 3) { world.nodes[node].disk.whole.insert(want.blob) }
        }
        world.list(wants + falseWants, at: 0)
        for _ in 0..<30 {
            let node = 2 + random.below(3)
            switch random.below(6) {
            case 0: world.disconnect(0, node)
            case 1:
                world.disconnect(0, node)
                world.connect(node, 0)
            case 2: world.nodes[node].isQuiet.toggle()
            case 3:
                world.nodes[0].disk.isFull = random.once(in: 4)
                world.hear(0, .fetch(wants[random.below(8)]))
            case 4: for pipe in world.pipes.indices where random.once(in: 20) { world.pipes[pipe].isPartitioned = true }
            default: world.nodes[node].bytesPerMillisecond = 20 + random.below(20_000)
            }
            _ = world.run(milliseconds: Int64(random.below(300)))
        }
        world.nodes[0].disk.isFull = false
        // The honest one is reached for certain.
        world.disconnect(0, 1)
        world.connect(1, 0)
        let isDone = world.run(milliseconds: 400_000) { $0.nodes[0].disk.whole.count == wants.count } != nil
        // A person's fetch that a full disk refused is tried again later.
        _ = world.run(milliseconds: 400_000) { $0.nodes[0].core.load.wants == falseWants.count }
        return (world, isDone)
    }

    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func `whatever peers do, all arrives, within the bounds`(seed: UInt64) {
        let (world, isDone) = Self.history(seed: seed)
        #expect(isDone, "\(world.nodes[0].disk.partial.mapValues(\.presentCount)) \(world.nodes[0].core.load)")
        #expect(world.check.violations.isEmpty)
        #expect(world.nodes[0].core.load.wants == world.nodes[0].listed.count - 8, "only what no device has")
    }

    @Test func `a history is the same every time`() {
        let (first, second) = (Self.history(seed: 7).world, Self.history(seed: 7).world)
        #expect(first.now == second.now && first.nodes[0].reports == second.nodes[0].reports)
        #expect(first.nodes[0].core.counters == second.nodes[0].core.counters)
    }

    @Test func `windows that are not looked at are found`() {
        var world = BulkWorld(nodes: 4) { configuration, number in
            if number == 0 { configuration.faults = .unboundedInFlight }
        }
        let want = BulkWorld.want(1, size: 200 * Self.chunk)
        for node in 1...3 {
            world.give(want, to: node)
            world.connect(node, 0)
        }
        world.list([want], at: 0)
        _ = world.run(milliseconds: 5_000)
        #expect(world.check.violations.contains { $0.contains("in flight") })
    }

    @Test func `asking twice is found`() {
        let (world, _) = Self.history(seed: 3, faults: .askTwice)
        #expect(world.check.violations.contains { $0.contains("twice") })
    }

    @Test func `believing hashes is found`() {
        var world = BulkWorld(nodes: 2) { configuration, number in
            if number == 0 { configuration.faults = .believeHashes }
        }
        let want = BulkWorld.want(1, size: 20 * Self.chunk)
        world.nodes[1].disk.liesAboutHashes = true
        world.give(want, to: 1)
        world.connect(1, 0)
        world.list([want], at: 0)
        _ = world.run(milliseconds: 1_000)
        #expect(world.nodes[0].core.counters.hashesWrong > 1)
    }

    @Test func `trusting liars is found`() {
        var world = BulkWorld(nodes: 2) { configuration, number in
            if number == 0 { configuration.faults = .trustLiars }
        }
        let want = BulkWorld.want(1, size: 20 * Self.chunk)
        world.nodes[1].disk.lies = 100
        world.give(want, to: 1)
        world.connect(1, 0)
        world.list([want], at: 0)
        _ = world.run(milliseconds: 2_000)
        #expect(world.nodes[0].core.counters.chunksWrong > 24, "more than was in flight when the first was found out")
    }

    /// A peer that stops for longer than it may, and then sends what it was asked for.
    @Test(arguments: [false, true])
    func `what was cancelled and comes is used`(isForgotten: Bool) {
        var world = BulkWorld(nodes: 3) { configuration, number in
            if number == 0 && isForgotten { configuration.faults = .forgetCancelled }
        }
        let want = BulkWorld.want(1, size: 40 * Self.chunk)
        for node in 1...2 {
            world.give(want, to: node)
            world.connect(node, 0)
        }
        world.nodes[1].bytesPerMillisecond = 100
        world.nodes[2].bytesPerMillisecond = 300
        world.list([want], at: 0)
        world.reach(within: 120_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(world.nodes[0].core.counters.requestsCancelled > 0)
        let thrownAway = world.nodes[0].wasted
        #expect(isForgotten ? thrownAway > 0 : thrownAway <= 8 * BlobLayout.chunkBytes, "\(thrownAway) bytes again")
    }
}

extension BlobWant {
    /// As given to `BulkWorld.want`.
    fileprivate var number: Int { blob.hash.bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) } }
}
