import SyncModel
import Testing

/// The end of a membership, by all invitations. Device 1 founded the space; 2 and 3 are members, and 4 is their guest.
@Suite struct MembershipEndTests {
    private let devices: [TestDevice]
    private var members = MemberFacts()
    private var cuts = CutTable()
    /// Per device, the number of operations that it wrote.
    private var counters: [UInt64] = [0, 0, 0, 0]

    init() throws {
        devices = try (1...4).map { try TestDevice($0) }
        try add(2, by: 1)
        try add(3, by: 1)
    }

    private func id(_ device: Int) -> DeviceID { devices[device - 1].id }

    private mutating func next(of device: Int) -> Dot {
        defer { counters[device - 1] += 1 }
        return Dot(replica: devices[device - 1].replica(), counter: counters[device - 1])
    }

    /// The context of one who has seen all.
    private var all: VersionVector {
        VersionVector(
            zip(devices, counters).filter { $0.1 > 0 }.map { VersionVector.Entry(replica: $0.replica(), next: $1) })
    }

    private mutating func add(
        _ device: Int, by author: Int, until: UInt64? = nil, isHost: Bool = false
    ) throws {
        let fact = try TestDevice(UInt8(device), isHost: isHost, until: until).fact
        let (context, dot) = (all, next(of: author))
        members.add(fact, at: dot)
        cuts.follow(id(1), recoveryKey: nil, in: .home, members: members)
        _ = cuts.record(dot, context: context, [(dot, .addition(fact))], members: members)
    }

    /// Has an author say something, knowing all that was said.
    private mutating func state(_ content: TrustStatement.Content, by author: Int) {
        let (context, dot) = (all, next(of: author))
        var knows = cuts.trust.known(with: members.additions.map(\.dot))
        knows.advance(dot.replica, to: dot.counter)
        let statement = TrustStatement(
            content, by: .author, knows: knows, at: dot, in: .home, sign: devices[author - 1].sign)
        _ = cuts.record(dot, context: context, [(dot, .trust(statement))], members: members)
    }

    private var end: UInt64? { cuts.until(of: id(4), in: members) }

    @Test func `of several ends the latest holds, and one invitation without an end has none`() throws {
        var world = self
        #expect(world.end == nil, "nobody invited it")
        try world.add(4, by: 2, until: 50)
        #expect(world.end == 50 && world.members.limited == [id(4)])
        try world.add(4, by: 3, until: 90)
        try world.add(4, by: 1, until: 70)
        #expect(world.end == 90)
        try world.add(4, by: 2)
        #expect(world.end == nil)
    }

    @Test func `what the device and its guests say of it has no weight, nor what says nobody may`() throws {
        var world = self
        try world.add(4, by: 2, until: 50)
        try world.add(4, by: 4)
        #expect(world.end == 50, "it says so of itself")
        try world.add(4, by: 3, isHost: true)
        #expect(world.end == 50, "that answers an invitation")
        try world.add(1, by: 2, until: 10)
        #expect(world.cuts.until(of: id(1), in: world.members) == nil, "it is the founder")
        world.state(.role(id(3), .reader, ends: []), by: 1)
        try world.add(4, by: 3)
        #expect(world.end == 50, "a reader lets nobody in")
        try world.add(4, by: 1)
        #expect(world.end == nil)
    }

    @Test func `a re-admission speaks over the ends that it knows, and a later invitation has its own`() throws {
        var world = self
        try world.add(4, by: 2, until: 50)
        world.state(.revocation(id(4), ends: [], wipes: false), by: 1)
        #expect(world.cuts.isRevoked(id(4)) && world.end == 50)
        world.state(.readmission(id(4), .writer, ends: []), by: 2)
        #expect(world.cuts.isRevoked(id(4)) && world.end == 50, "a writer readmits none")
        world.state(.readmission(id(4), .writer, ends: []), by: 1)
        #expect(!world.cuts.isRevoked(id(4)) && world.end == nil)
        try world.add(4, by: 2, until: 80)
        #expect(world.end == 80)
    }
}
