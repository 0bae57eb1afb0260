import SyncAgent
import SyncCore
import SyncModel
import SyncStore
import Testing

/// The ages behind the lag in seconds, without an agent.
@Suite struct LagMeterTests {
    private static let desk = DeviceID(bytes: [UInt8](repeating: 1, count: 32))!
    private static let attic = DeviceID(bytes: [UInt8](repeating: 2, count: 32))!
    private static let one = ReplicaID(device: desk, incarnation: 1)
    private static let two = ReplicaID(device: attic, incarnation: 1)

    private func segment(_ range: Range<UInt64>, of replica: ReplicaID = one, bytes: Int = 100) -> Segment {
        Segment(
            replica: replica, start: range.lowerBound, end: range.upperBound, bytes: Array(repeating: 0, count: bytes),
            signature: [])
    }

    private func vector(_ next: UInt64, _ replica: ReplicaID = one) -> VersionVector {
        VersionVector([.init(replica: replica, next: next)])
    }

    private func seconds(_ value: Int64) -> Tick { .milliseconds(value * 1_000) }

    @Test func `what came since the start is counted exactly, and is as old as it came`() {
        var meter = LagMeter()
        meter.begin([], at: seconds(0))
        for turn in 0..<10 {
            let start = UInt64(turn) * 4
            meter.arrived(segment(start..<start + 4), changes: 2, at: seconds(Int64(turn) + 10))
        }
        let all = meter.unsent(beyond: VersionVector(), of: vector(40), openSince: nil)
        #expect(all == .init(changes: 20, bytes: 1_000, since: seconds(10), early: []))
        let half = meter.unsent(beyond: vector(20), of: vector(40), openSince: nil)
        #expect(half == .init(changes: 10, bytes: 500, since: seconds(15), early: []))
        #expect(meter.unsent(beyond: vector(40), of: vector(40), openSince: nil) == .init())
        // Inside a segment: its part.
        let part = meter.unsent(beyond: vector(38), of: vector(40), openSince: nil)
        #expect(part == .init(changes: 1, bytes: 50, since: seconds(19), early: []))
    }

    @Test func `what came before the start is estimated, and its age asked of the log`() {
        var meter = LagMeter()
        meter.means.changesPerOperation = 0.5
        meter.means.bytesPerOperation = 10
        meter.begin([.init(replica: Self.one, next: 100)], at: seconds(0))
        meter.arrived(segment(100..<110), changes: 10, at: seconds(7))
        let lacking = meter.unsent(beyond: vector(60), of: vector(110), openSince: nil)
        #expect(lacking.changes == 30 && lacking.bytes == 500 && lacking.since == nil)
        #expect(lacking.early == [.init(replica: Self.one, next: 60)])
        #expect(meter.moment(of: Self.one, at: 60) == .early)
        #expect(meter.moment(of: Self.one, at: 100) == .at(seconds(7)))
        #expect(meter.moment(of: Self.one, at: 110) == .open)
        #expect(meter.moment(of: Self.two, at: 0) == .early)
    }

    @Test func `a change that is not signed counts from when it was written`() {
        var meter = LagMeter()
        meter.begin([.init(replica: Self.one, next: 10)], at: seconds(0))
        let lacking = meter.unsent(beyond: vector(10), of: vector(13), openSince: seconds(5))
        #expect(lacking.since == seconds(5) && lacking.changes == 3)
    }

    @Test func `a long history is thinned, and an age is never too small`() {
        var meter = LagMeter()
        meter.begin([], at: seconds(0))
        for turn in 0..<5_000 {
            let start = UInt64(turn)
            meter.arrived(segment(start..<start + 1), changes: 1, at: seconds(Int64(turn)))
        }
        for counter in stride(from: UInt64(0), to: 5_000, by: 37) {
            let lacking = meter.unsent(beyond: vector(counter), of: vector(5_000), openSince: nil)
            let since = lacking.since ?? seconds(9_999)
            #expect(since <= seconds(Int64(counter)))
            #expect(abs(lacking.changes - Double(5_000 - counter)) < 0.001)
        }
        // The newest are exact.
        #expect(meter.moment(of: Self.one, at: 4_999) == .at(seconds(4_999)))
        #expect(meter.moment(of: Self.one, at: 4_990) == .at(seconds(4_990)))
    }

    @Test func `what a peer claims is wanted since it said so first, until it is here`() {
        var meter = LagMeter()
        let held: (UInt64) -> (ReplicaID) -> UInt64 = { next in { $0 == Self.two ? next : 0 } }
        meter.claimed(by: Self.attic, Self.two, next: 5, held: 5, at: seconds(1))
        #expect(meter.wantedSince(from: Self.attic, held: held(5)) == nil)
        meter.claimed(by: Self.attic, Self.two, next: 8, held: 5, at: seconds(2))
        meter.claimed(by: Self.attic, Self.two, next: 12, held: 5, at: seconds(9))
        #expect(meter.wantedSince(from: Self.attic, held: held(5)) == seconds(2))
        #expect(meter.wantedSince(from: Self.attic, held: held(7)) == seconds(2))
        #expect(meter.wantedSince(from: Self.attic, held: held(8)) == seconds(9))
        #expect(meter.wantedSince(from: Self.attic, held: held(12)) == nil)
        #expect(meter.wantedSince(from: Self.desk, held: held(5)) == nil)
        meter.left(Self.attic)
        #expect(meter.wantedSince(from: Self.attic, held: held(5)) == nil)
    }

    @Test func `a stream that flows is never old, though something is wanted all the time`() {
        var meter = LagMeter()
        for turn in 1...1_000 {
            let now = seconds(Int64(turn))
            // The peer is always one claim ahead.
            meter.claimed(by: Self.attic, Self.two, next: UInt64(turn), held: UInt64(turn - 1), at: now)
            #expect(meter.wantedSince(from: Self.attic, held: { _ in UInt64(turn - 1) }) == now)
        }
    }

    @Test func `a peer that claims thousands of histories costs no more than its share`() {
        var meter = LagMeter()
        for number in 0..<10_000 {
            let replica = ReplicaID(device: Self.attic, incarnation: UInt64(number))
            for next in 1...20 as ClosedRange<UInt64> {
                meter.claimed(by: Self.attic, replica, next: next, held: 0, at: seconds(Int64(number)))
            }
        }
        #expect(meter.wantedSince(from: Self.attic, held: { _ in 0 }) == seconds(0))
        meter.forgetMet(by: Self.attic) { _ in 20 }
        #expect(meter.wantedSince(from: Self.attic, held: { _ in 0 }) == nil)
        // There is room again.
        meter.claimed(by: Self.attic, Self.two, next: 30, held: 20, at: seconds(77))
        #expect(meter.wantedSince(from: Self.attic, held: { _ in 20 }) == seconds(77))
    }
}

@Suite struct DurabilityMeterTests {
    private static let devices = (1...6).map { DeviceID(bytes: [UInt8](repeating: UInt8($0), count: 32))! }
    private static let own = ReplicaID(device: devices[0], incarnation: 1)

    private func seconds(_ value: Int64) -> Tick { .milliseconds(value * 1_000) }

    private func counts(_ meter: DurabilityMeter) -> [UInt64] { meter.levels.map(\.counts.count) }

    @Test func `a commit is counted once so many devices have announced it`() {
        var meter = DurabilityMeter()
        #expect(meter.levels.map(\.devices) == [2, 3, 5])
        meter.committed(Self.own, next: 10, at: seconds(0))
        meter.committed(Self.own, next: 20, at: seconds(1))
        meter.announced(by: Self.devices[1], Self.own, next: 15, at: seconds(2))
        #expect(counts(meter) == [1, 0, 0])
        #expect(meter.levels[0].counts.sumSeconds == 2)
        // The same again, and less, say nothing new.
        meter.announced(by: Self.devices[1], Self.own, next: 15, at: seconds(3))
        meter.announced(by: Self.devices[1], Self.own, next: 3, at: seconds(3))
        #expect(counts(meter) == [1, 0, 0])
        meter.announced(by: Self.devices[2], Self.own, next: 20, at: seconds(4))
        #expect(counts(meter) == [2, 1, 0])
        for device in Self.devices[3...] { meter.announced(by: device, Self.own, next: 20, at: seconds(5)) }
        #expect(counts(meter) == [2, 2, 2])
    }

    @Test func `another replica is another story`() {
        var meter = DurabilityMeter()
        let other = ReplicaID(device: Self.devices[0], incarnation: 2)
        meter.committed(Self.own, next: 10, at: seconds(0))
        meter.committed(other, next: 1, at: seconds(1))
        meter.announced(by: Self.devices[1], Self.own, next: 10, at: seconds(2))
        #expect(counts(meter) == [0, 0, 0])
        meter.announced(by: Self.devices[1], other, next: 1, at: seconds(3))
        #expect(counts(meter) == [1, 0, 0])
    }

    @Test func `of commits that wait for long only the newest are measured`() {
        var meter = DurabilityMeter()
        for turn in 1...50_000 as ClosedRange<UInt64> {
            meter.committed(Self.own, next: turn, at: seconds(Int64(turn)))
        }
        meter.announced(by: Self.devices[1], Self.own, next: 50_000, at: seconds(50_000))
        #expect(counts(meter) == [1_024, 0, 0])
    }
}

@Suite struct DurationCountsTests {
    @Test func `a duration is in the first bucket that it fits`() {
        var counts = DurationCounts(bounds: [0.1, 1, 10])
        for seconds in [0, 0.1, 0.11, 1, 10, 10.01, 1e9] { counts.record(seconds: seconds) }
        #expect(counts.counts == [2, 2, 1, 2])
        #expect(counts.cumulative == [2, 4, 5, 7])
        #expect(counts.count == 7)
    }

    @Test(arguments: [DurationCounts.diskBounds, DurationCounts.networkBounds])
    func `the bounds grow`(bounds: [Double]) {
        #expect(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `threads that add at once lose nothing`() async {
        let histogram = DurationHistogram(bounds: DurationCounts.diskBounds)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { histogram.record(seconds: 0.5) } }
            }
        }
        #expect(histogram.counts.count == 8_000 && histogram.counts.sumSeconds == 4_000)
    }

    @Test func `what throws is not timed`() {
        struct Refused: Error {}
        let histogram = DurationHistogram(bounds: DurationCounts.diskBounds)
        #expect(throws: Refused.self) { try histogram.timing { () throws(Refused) in throw Refused() } }
        #expect(histogram.counts.count == 0)
        histogram.timing {}
        #expect(histogram.counts.count == 1)
    }
}
