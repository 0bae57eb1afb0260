import SyncModel
import SyncStore
import Testing

/// What a device knows when it begins a replica: what its replicas before knew when they began is not said again.
@Suite("First contexts")
struct FirstContextTests {
    private let machines = Machines()
    private static let key = ObjectKey("n/1")

    /// 1 edits a note under four replicas; when it began the first it had read 2's, and before the last 3's.
    private func author() throws -> SQLiteStore {
        let (one, two, three) = (try machines.open(1), try machines.open(2), try machines.open(3))
        _ = try two.append((1...5).map { [.addMember(TestDevice($0).fact)] }, wallMilliseconds: 1)
        try two.write(.putting("n/2", #"{"x":2}"#), at: 2)
        for store in [one, three] { try store.pull(from: two) }
        try three.write(.putting("n/3", #"{"x":3}"#), at: 3)
        try one.write(.putting("n/1", #"{"x":0}"#), at: 4)
        for number in 1...3 {
            if number == 3 { try one.pull(from: three) }
            try one.closeIncarnation()
            try one.write(.editing("n/1", "x", .set(JSONValue(json: "\(number)"))), at: 10 + Int64(number))
        }
        return one
    }

    private func contexts(_ store: SQLiteStore) throws -> [VersionVector] {
        try store.touches(of: Self.key, space: .home).map(\.origin.context)
    }

    @Test func `a first change names what the first ones before it did not say, and knows what they knew`() throws {
        let one = try author()
        let firsts = try one.state().tips.filter { $0.replica.device == TestDevice(1).id }.map {
            try #require(try one.verifiedSegments(of: $0.replica).first).context
        }
        // The one before; the last also 3's. 2's is named once.
        #expect(firsts.map(\.count).sorted() == [1, 1, 1, 2])
        let others = try one.vector.entries.filter { $0.replica.device != TestDevice(1).id }
        let known = try contexts(one)
        #expect(known.count == 4)
        for (index, context) in known.enumerated() {
            let named = context.entries.filter { $0.replica.device != TestDevice(1).id }
            #expect(named.count == (index == 3 ? others.count : 1))
            #expect(context.entries.count - named.count == index, "each replica before it")
        }
        #expect(try contexts(machines.reopen(one, 0)) == known)
    }

    /// The roads by which a store may come to hold what another one writes on.
    enum Road: CaseIterable {
        case changes
        case state
        case stateOfWhoDroppedThem
        case stateOfWhoTookState
        case changesThatAreDropped
    }

    private func receiver(_ road: Road, of one: SQLiteStore, _ faults: StoreFaults = []) throws -> SQLiteStore {
        let store = try machines.open(4, faults)
        switch road {
        case .changes: try store.pull(from: one)
        case .state: try store.take(stateFrom: one)
        case .stateOfWhoDroppedThem:
            _ = try one.compactAll(upTo: one.vector)
            try store.take(stateFrom: one)
        case .stateOfWhoTookState:
            let between = try machines.open(5)
            try between.take(stateFrom: one)
            try store.take(stateFrom: between)
        case .changesThatAreDropped:
            try store.pull(from: one)
            _ = try store.compactAll(upTo: store.vector)
        }
        return store
    }

    @Test(arguments: Road.allCases)
    func `whatever road the beginning came by, what is written on it knew the same`(road: Road) throws {
        let one = try author()
        let store = try receiver(road, of: one)
        // Under the replica that was last, and under a new one.
        try one.write(.editing("n/1", "x", .set(8)), at: 20)
        try one.closeIncarnation()
        try one.write(.editing("n/1", "x", .set(9)), at: 21)
        try store.pull(from: one)
        #expect(try contexts(store).suffix(2) == contexts(one).suffix(2))
        #expect(try #require(try contexts(store).last).entries.count == (try one.vector.entries.count) - 1)
        #expect(try store.state().digest == one.state().digest)
        let reopened = try machines.reopen(store, 3)
        #expect(try contexts(reopened) == contexts(store))
    }

    @Test func `a state that forgets them is found`() throws {
        let one = try author()
        let store = try receiver(.state, of: one, .stateForgetsFirstContexts)
        try one.write(.editing("n/1", "x", .set(8)), at: 20)
        try store.pull(from: one)
        #expect(try contexts(store).suffix(1) != contexts(one).suffix(1))
    }

    @Test func `what only a state says of a device is not begun with by the device itself`() throws {
        let one = try author()
        let other = try receiver(.changes, of: one)
        // The disk was lost, the keys were not.
        let again = try machines.open(1)
        try again.take(stateFrom: other)
        let held = try again.vector.entries.count
        try again.write(.editing("n/1", "x", .set(8)), at: 20)
        try again.closeIncarnation()
        try again.write(.editing("n/1", "x", .set(9)), at: 21)
        let counts = try other.missing(from: again).map(\.context.count)
        #expect(counts == [held, 1])
        try other.pull(from: again)
        #expect(try contexts(other).suffix(2) == contexts(again).suffix(2))
        #expect(try contexts(other).suffix(2).map(\.entries.count) == [held, held + 1])
    }

    @Test func `what a first change knew is said as one`() throws {
        let one = try author()
        let firsts = try FirstContexts(of: one)
        for known in try one.state().tips where known.replica.device == TestDevice(1).id {
            let steps = firsts.beginning(of: known.replica)
            #expect(steps.map(\.start) == [0])
            var seen = firsts.inherited(by: known.replica)
            seen.join(firsts.context(of: known.replica))
            #expect(steps.map(\.moved) == [seen.entries])
        }
    }

    /// More of everything than one change may name; a change that cannot be written is not found before it is read.
    @Test(
        arguments: [
            (own: 3, others: 200), (own: 3, others: 40_000), (own: 16_384, others: 3), (own: 16_385, others: 20_000),
            (own: 40_000, others: 0),
        ], [false, true])
    func `who met thousands at once names them all, and knows what it says`(
        count: (own: Int, others: Int), isHearsay: Bool
    ) throws {
        let (device, other) = (TestDevice(1), TestDevice(2))
        func entries(_ count: Int, of device: TestDevice) -> [VersionVector.Entry] {
            (0..<count).map {
                VersionVector.Entry(replica: ReplicaID(device: device.id, incarnation: UInt64($0) + 10), next: 1)
            }
        }
        // Of its own, half is said by the first change of the first.
        let (mine, theirs) = (entries(count.own, of: device), entries(count.others, of: other))
        var firsts = FirstContexts()
        firsts.record(
            VersionVector(mine[1...(count.own / 2)] + theirs.suffix(100)), of: mine[0].replica, isHearsay: isHearsay)
        let replica = ReplicaID(device: device.id, incarnation: 1)
        var author = ChangeAuthor(
            space: .home, replica: replica, tip: .empty(space: .home, replica: replica),
            named: firsts.said(by: mine.map(\.replica)))
        let held = VersionVector(mine + theirs)
        // What is planned on is what others will read.
        let batch = ChangeBatch(author, held: held, greatestStamp: .zero, wallMilliseconds: 0)
        let planned = try #require(batch.nextOrigin).context
        let groups = (0..<5).map { _ in [SyncModel.Operation.void(span: 1)] }
        let authored = author.author(
            groups, held: held, greatestStamp: .zero, wallMilliseconds: 0, sign: device.sign)
        let segments = try #require(authored)
        var tip = ReplicaTip.empty(space: .home, replica: replica)
        firsts.record(VersionVector(segments[0].context), of: replica)
        var known = firsts.inherited(by: replica)
        known.join(VersionVector(segments[0].context))
        #expect(planned == known)
        for verified in segments {
            let walked = try verified.segment.walked(from: tip)
            known.join(VersionVector(walked.context))
            tip = walked.tip
        }
        #expect(known == held)
        #expect(author.named == held)
    }

    @Test func `replicas that name each other in a circle are read once`() throws {
        let device = TestDevice(1)
        var firsts = FirstContexts()
        for (replica, next) in [(1, 2), (2, 3), (3, 1)] as [(UInt64, UInt64)] {
            let others = [
                VersionVector.Entry(replica: ReplicaID(device: device.id, incarnation: next), next: 1),
                VersionVector.Entry(replica: ReplicaID(device: TestDevice(2).id, incarnation: replica), next: replica),
            ]
            firsts.record(VersionVector(others), of: ReplicaID(device: device.id, incarnation: replica))
        }
        let seen = firsts.inherited(by: ReplicaID(device: device.id, incarnation: 1))
        for incarnation in 1...3 as ClosedRange<UInt64> {
            #expect(seen.next(of: ReplicaID(device: TestDevice(2).id, incarnation: incarnation)) == incarnation)
        }
    }
}

extension FirstContexts {
    /// As its signed changes say.
    fileprivate init(of store: SQLiteStore) throws {
        self.init()
        for known in try store.state().tips {
            guard let first = try store.verifiedSegments(of: known.replica).first else { continue }
            record(VersionVector(first.context), of: known.replica)
        }
    }
}
