import SyncCore
import SyncModel
import Testing

/// Limits, full disks, quotas, and what dishonest peers can do.
struct BulkBoundTests {
    private static let chunk = UInt64(BlobLayout.chunkBytes)

    @Test(arguments: [false, true])
    func `no more than the limit moves`(isUpload: Bool) throws {
        let limit: UInt64 = 2 << 20
        var world = BulkWorld(nodes: 3) { configuration, number in
            if isUpload && number > 0 { configuration.uploadLimit = limit / 2 }
            if !isUpload && number == 0 { configuration.downloadLimit = limit }
        }
        let wants =
            [BulkWorld.want(1, size: 40 * Self.chunk)] + (2..<100).map { BulkWorld.want($0, size: 20_000) }
        for source in 1...2 {
            for want in wants { world.give(want, to: source) }
            world.connect(source, 0)
        }
        world.list(wants, at: 0)
        let span = try world.mustReach(within: 60_000) { $0.nodes[0].disk.whole.count == wants.count }
        let bytes = wants.reduce(0) { $0 + Int64($1.blob.size) }
        let least = (bytes - 2 * (512 << 10)) * 1_000 / Int64(limit)
        #expect(span >= least && span <= least * 3 / 2 + 500, "\(span) ms, at least \(least)")
        #expect(world.check.violations.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a limit that changes counts at once`(isUpload: Bool) throws {
        let limit: UInt64 = 1 << 20
        func change(_ world: inout BulkWorld, _ limit: UInt64?) {
            let (upload, download) = isUpload ? (limit, nil) : (nil, limit)
            world.hear(isUpload ? 1 : 0, .limitsChanged(upload: upload, download: download))
        }
        var world = BulkWorld(nodes: 2)
        change(&world, limit)
        let want = BulkWorld.want(1, size: 400 * Self.chunk)
        world.give(want, to: 1)
        world.connect(1, 0)
        world.list([want], at: 0)
        #expect(world.run(milliseconds: 10_000) { $0.nodes[0].disk.whole.contains(want.blob) } == nil)
        let received = world.nodes[0].received
        #expect(received > 8 << 20 && received < 12 << 20, "ten seconds at a mebibyte a second: \(received)")
        change(&world, 4 * limit)
        #expect(world.run(milliseconds: 10_000) { $0.nodes[0].disk.whole.contains(want.blob) } == nil)
        let more = world.nodes[0].received - received
        #expect(more > 36 << 20 && more < 46 << 20, "ten seconds at four: \(more)")
        change(&world, nil)
        #expect(world.run(milliseconds: 5_000) { $0.nodes[0].disk.whole.contains(want.blob) } != nil)
        #expect(world.check.violations.isEmpty)
    }

    @Test func `what is in flight is bounded though the disk is slow and peers are many`() {
        var world = BulkWorld(nodes: 6)
        let wants = (1...12).map { BulkWorld.want($0, size: 60 * Self.chunk) }
        for source in 1...5 {
            for want in wants { world.give(want, to: source) }
            world.connect(source, 0)
        }
        world.nodes[0].disk.freeAt = world.now + 2_000_000_000
        world.list(wants, at: 0)
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.count == wants.count }
        #expect(world.check.mostInFlight > 4 << 20 && world.check.mostInFlight <= 6 << 20)
        #expect(world.check.violations.isEmpty)
        #expect(world.nodes[0].wasted == 0)
    }

    @Test func `little is in flight while changes move, and all goes on at once when they rest`() throws {
        var world = BulkWorld(nodes: 4)
        let want = BulkWorld.want(1, size: 400 * Self.chunk)
        for source in 1...3 {
            world.give(want, to: source)
            world.connect(source, 0)
        }
        world.list([want], at: 0)
        world.reach(within: 5_000) { $0.nodes[0].core.load.inFlightBytes > 1 << 20 }
        world.hear(0, .changesMoved)
        // What was asked before comes first.
        world.reach(within: 5_000) { $0.nodes[0].core.load.inFlightBytes <= 512 << 10 }
        let received = world.nodes[0].received
        for _ in 0..<20 {
            world.hear(0, .changesMoved)
            _ = world.run(milliseconds: 10) { world in
                #expect(world.nodes[0].core.load.inFlightBytes <= 512 << 10)
                return false
            }
        }
        #expect(world.nodes[0].received > received, "polite is not silent")
        world.reach(within: 1_000) { $0.nodes[0].core.load.inFlightBytes > 1 << 20 }
        world.reach(within: 60_000) { $0.nodes[0].disk.whole.contains(want.blob) }
        #expect(world.nodes[0].wasted == 0 && world.check.violations.isEmpty)
    }

    @Test func `a full disk stops all, and all goes on when there is room`() {
        var world = BulkWorld(nodes: 2)
        let wants = [BulkWorld.want(1, size: 100), BulkWorld.want(2, size: 300 * Self.chunk)]
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list([wants[1]], at: 1)
        _ = world.run(milliseconds: 5_000) { ($0.nodes[1].disk.partial[wants[1].blob]?.presentCount ?? 0) > 50 }
        world.nodes[1].disk.isFull = true
        world.list([wants[0]], at: 1)
        _ = world.run(milliseconds: 2_000)
        let received = world.nodes[1].received
        _ = world.run(milliseconds: 7_000)
        #expect(world.nodes[1].received == received, "nothing is asked for before it is tried again")
        let refusals = world.nodes[1].reports.filter { if case .refusedHere = $0 { true } else { false } }
        #expect(refusals.count == 1)
        _ = world.run(milliseconds: 10_000)
        world.nodes[1].disk.isFull = false
        world.reach(within: 60_000) { $0.nodes[1].disk.whole.count == 2 }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `who never sends hashes does not use up the room for those of others`() {
        var world = BulkWorld(nodes: 2) { configuration, _ in
            configuration.bounds.hashBytes = 3 * 20 * BlobHash.byteCount
        }
        let wants = (1...2).map { BulkWorld.want($0, size: 20 * Self.chunk) }
        for want in wants { world.give(want, to: 0) }
        world.list(wants, at: 1)
        for _ in 0..<5 {
            world.nodes[0].isQuiet = false
            world.connect(0, 1)
            world.reach(within: 5_000) { $0.nodes[1].core.load.hashBytes > 0 }
            world.nodes[0].isQuiet = true
            world.disconnect(0, 1)
            #expect(world.nodes[1].core.load.hashBytes == 0)
        }
        world.nodes[0].isQuiet = false
        world.connect(0, 1)
        world.reach(within: 5_000) { $0.nodes[1].disk.whole.count == 2 }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `whoever waits hears of a full disk though another blob met it first`() {
        var world = BulkWorld(nodes: 2)
        let wants = [BulkWorld.want(1, size: 300 * Self.chunk), BulkWorld.want(2, size: 300 * Self.chunk)]
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list(wants, at: 1)
        world.reach(within: 5_000) { world in
            wants.allSatisfy { (world.nodes[1].disk.partial[$0.blob]?.presentCount ?? 0) > 20 }
        }
        // Chunks of both are under way when the person asks, so whichever is refused first, his is refused, too.
        world.hear(1, .fetch(wants[1]))
        world.nodes[1].disk.isFull = true
        let told = BulkReport.refusedHere(wants[1].blob, code: BulkConfiguration.diskFullCode)
        world.reach(within: 1_000) { $0.nodes[1].reports.contains(told) }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `records that come do not fetch again what the quota refused`() {
        var world = BulkWorld(nodes: 2)
        world.nodes[1].disk.quota = 100
        let want = BulkWorld.want(1, size: 1_000)
        world.give(want, to: 0)
        world.connect(0, 1)
        world.list([want], at: 1)
        _ = world.run(milliseconds: 1_000)
        #expect(world.nodes[1].received == 1_000)
        for _ in 0..<80 {
            world.hear(1, .missingChanged)
            _ = world.run(milliseconds: 100)
        }
        #expect(world.nodes[1].received == 1_000)
        world.nodes[1].disk.quota = .max
        world.hear(1, .roomChanged)
        world.reach(within: 1_500) { $0.nodes[1].disk.whole.contains(want.blob) }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `one that is too large for the disk, or broken there, lets the rest pass`() {
        var world = BulkWorld(nodes: 2)
        world.nodes[1].disk.freeBytes = 10 * Self.chunk
        world.nodes[1].disk.broken = [BulkWorld.name(3, size: 3 * Self.chunk)]
        let wants = (1...20).map { BulkWorld.want($0, size: UInt64($0) * Self.chunk) }
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.hear(1, .fetch(wants[19]))
        world.list(wants, at: 1)
        world.reach(within: 3_000) { $0.nodes[1].disk.whole.count == 9 }
        #expect(world.nodes[1].reports.contains(.refusedHere(wants[19].blob, code: BulkConfiguration.diskFullCode)))
        _ = world.run(milliseconds: 30_000)
        #expect(world.nodes[1].core.counters.refusedHere <= 16, "later and later")
        world.nodes[1].disk.freeBytes = .max
        world.nodes[1].disk.broken = []
        world.reach(within: 120_000) { $0.nodes[1].disk.whole.count == 20 }
        #expect(world.check.violations.isEmpty)
    }

    @Test func `what does not fit into the quota lets the rest pass, and a person is told`() {
        var world = BulkWorld(nodes: 2)
        world.nodes[1].disk.quota = 10 * Self.chunk
        let wants = (1...20).map { BulkWorld.want($0, size: UInt64($0) * Self.chunk) }
        for want in wants { world.give(want, to: 0) }
        world.connect(0, 1)
        world.list(wants, at: 1)
        world.reach(within: 5_000) { $0.nodes[1].disk.whole.count == 10 }
        _ = world.run(milliseconds: 5_000)
        let code = BulkConfiguration.quotaCode
        #expect(world.nodes[1].core.counters.refusedHere <= 8, "not each of them is tried")
        world.hear(1, .fetch(wants[19]))
        _ = world.run(milliseconds: 500)
        #expect(world.nodes[1].reports.contains(.refusedHere(wants[19].blob, code: code)))
        world.nodes[1].disk.quota = .max
        world.hear(1, .roomChanged)
        world.reach(within: 5_000) { $0.nodes[1].disk.whole.count == 20 }
        #expect(world.check.violations.isEmpty)
    }
}
