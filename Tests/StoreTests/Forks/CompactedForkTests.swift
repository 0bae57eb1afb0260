import SyncModel
import SyncStore
import Testing

/// A history is taken back in a store that has dropped a part of its log. What follows from the log is then undone where it was
/// touched; it has to come to what a store has that made all of it anew.
@Suite("Store contract: forks of what was compacted")
struct CompactedForkTests {
    @Test(arguments: 1...150)
    func `what is undone is what is made anew without it`(seed: Int) throws {
        let ending = try CompactedFork.run(seed: UInt64(seed))
        if case .difference(let text) = ending { Issue.record("\(text)") }
    }

    @Test func `few random histories are refused`() throws {
        let endings = try (1...40).map { try CompactedFork.run(seed: UInt64($0)) }
        #expect(endings.filter { $0 == .same }.count >= 30, "\(endings)")
    }

    @Test func `a schema in what would go cannot be undone: nothing is touched`() throws {
        var world = try CompactedFork(seed: 1)
        try world.branch()
        try world.onBoth { try $0.write(.schema("a", #"{"deletePolicy":"ask"}"#)) }
        let before = try world.compacted.state()
        let shown = try OtherHistory(of: world.replica, in: world.peer, from: world.start)
        #expect(throws: StoreError.self) { _ = try world.compacted.takeBack(shown, wallMilliseconds: 90) }
        #expect(try world.compacted.state() == before)
        #expect(try world.whole.takeBack(shown, wallMilliseconds: 90), "who holds all of it can")
    }

    /// Its cut says nothing of the history that came in place of ours.
    @Test func `a pass of compaction ends where a history is taken back`() throws {
        var world = try CompactedFork(seed: 1)
        try world.branch()
        let store = world.compacted
        var pass = try store.beginCompaction(stable: store.vector, before: Stamp(rawValue: .max))
        #expect(!pass.isOver)
        let shown = try OtherHistory(of: world.replica, in: world.peer, from: world.start)
        #expect(try store.takeBack(shown, wallMilliseconds: 90))
        let firstHeld = try store.state().firstHeld
        let step = try store.compact(&pass)
        #expect(step.isLast && step.changes == 0 && step.firstHeld == firstHeld)
    }

    @Test func `what the other history was walked from has to be ours`() throws {
        var world = try CompactedFork(seed: 2)
        try world.branch()
        let before = try world.compacted.state()
        let shown = try OtherHistory(of: world.replica, in: world.peer, from: world.start)
        let elsewhere = OtherHistory(
            replica: shown.replica,
            start: ChainEnd(end: world.start, head: ChainHead(space: .home, replica: shown.replica)),
            ends: shown.ends, segments: shown.segments, tip: shown.tip, elsewhere: shown.elsewhere)
        #expect(throws: StoreError.self) { _ = try world.compacted.takeBack(elsewhere, wallMilliseconds: 90) }
        #expect(try world.compacted.state() == before)
    }
}

/// Three machines with a common past; the first is put back while it runs and goes on from there, once with all of its log and
/// once with what is left of it.
private struct CompactedFork {
    enum Ending: Equatable {
        case same
        /// By the one that has all of its log, and so by the other.
        case refused
        case difference(String)
    }

    private struct Difference: Error {
        let text: String
    }

    private var writes: RandomWrites
    private var wall: Int64 = 1_000
    private let seed: UInt64
    private let beds: [StoreBed]
    let whole: SQLiteStore
    let compacted: SQLiteStore
    let peer: SQLiteStore
    private let third: SQLiteStore
    /// It holds what gives way: nothing can be had of it before it follows, which is a core's business.
    private var hasThirdHeard = false
    let replica: ReplicaID
    /// From where on the compacted one holds its history.
    let start: UInt64

    static func run(seed: UInt64) throws -> Ending {
        do {
            var world = try CompactedFork(seed: seed)
            return try world.live()
        } catch let difference as Difference {
            return .difference("seed \(seed): \(difference.text)")
        }
    }

    init(seed: UInt64) throws {
        self.seed = seed
        writes = RandomWrites(seed: seed)
        let kind: StoreKind = seed % 3 == 0 ? .sqliteOfLargeObjects : .sqliteInTmpfs
        let bed = StoreBed(kind)
        var stores = try introduced([
            bed, StoreBed(.memory, device: TestDevice(2)), StoreBed(.memory, device: TestDevice(3)),
        ])
        for _ in 0..<3 + writes.below(12) { try Self.step(on: stores, &writes, &wall) }
        try converge(stores)
        let stable = try stores[0].vector
        for _ in 0..<writes.below(12) { try Self.step(on: stores, &writes, &wall, branching: true) }
        // It has one from now on.
        _ = try stores[0].append([[.event("s", "common")]], wallMilliseconds: wall)
        try stores[1].pull(from: stores[0])
        replica = try #require(try stores[0].state().ownReplica)
        stores[0].close()
        beds = [bed.copy(sharingLeases: false), bed.copy(sharingLeases: false)]
        stores[0] = try bed.open()
        for _ in 0..<1 + writes.below(6) { try Self.write(on: stores[0], &writes, wall, branching: true) }
        // Writes may be refused, or say nothing.
        _ = try stores[0].append([[.event("s", "lost")]], wallMilliseconds: wall)
        try stores[1].pull(from: stores[0])
        for _ in 0..<writes.below(3) { try Self.write(on: stores[1], &writes, wall, branching: true) }
        stores[0].close()
        (peer, third) = (stores[1], stores[2])
        let opened = try beds.map { try $0.open(faults: .reuseCounterAfterCrash) }
        whole = opened[0]
        compacted = opened[1]
        if seed % 4 == 0 { _ = try compacted.collect(upTo: stable, after: nil, limit: 100) }
        _ = try compacted.compactAll(upTo: stable)
        start = try compacted.state().firstHeld.next(of: replica)
    }

    /// Somebody writes, or hears of somebody.
    private static func step(
        on stores: [SQLiteStore], _ writes: inout RandomWrites, _ wall: inout Int64, branching: Bool = false
    ) throws {
        wall += Int64(writes.below(4)) - 1
        let store = writes.below(stores.count)
        if writes.below(3) > 0 { return try write(on: stores[store], &writes, wall, branching: branching) }
        let source = writes.below(stores.count)
        if source != store { try stores[store].pull(from: stores[source]) }
    }

    private static func write(
        on store: SQLiteStore, _ writes: inout RandomWrites, _ wall: Int64, branching: Bool
    ) throws {
        _ = try store.append([made(on: store, &writes, branching: branching)], wallMilliseconds: wall)
    }

    /// - Parameter branching: without what cannot be undone.
    private static func made(
        on store: SQLiteStore, _ writes: inout RandomWrites, branching: Bool
    ) -> LocalWrite {
        while true {
            let write = writes.write(on: store)
            guard branching, case .planned(let planned, _) = write else { return write }
            let setsSchema = planned.contains { if case .setSchema = $0 { true } else { false } }
            if !setsSchema { return write }
        }
    }

    func onBoth(_ body: (SQLiteStore) throws -> Void) throws {
        for store in [whole, compacted] { try body(store) }
    }

    /// The machine goes on from where it was put back to, and hears of the third, which may build on that.
    mutating func branch() throws {
        for _ in 0..<1 + writes.below(8) {
            wall += Int64(writes.below(4)) - 1
            switch writes.below(8) {
            case 0: try Self.write(on: third, &writes, wall, branching: true)
            case 1: try onBoth { try $0.pull(from: third) }
            case 2 where seed % 5 == 0:
                try third.pull(from: whole)
                hasThirdHeard = true
            default:
                let write = Self.made(on: whole, &writes, branching: true)
                try onBoth { _ = try $0.append([write], wallMilliseconds: wall) }
            }
        }
        try onBoth { _ = try $0.append([[.event("s", "since")]], wallMilliseconds: wall) }
        try compare("before")
    }

    private mutating func live() throws -> Ending {
        try branch()
        let shown = try OtherHistory(of: replica, in: peer, from: start)
        let isAsked = seed % 2 == 0
        let onWhole = Result {
            try whole.takeBack(isAsked ? shown : OtherHistory(of: replica, in: peer), wallMilliseconds: wall)
        }
        let onCompacted = Result { try compacted.takeBack(shown, wallMilliseconds: wall) }
        switch (onWhole, onCompacted) {
        case (.success(true), .success(true)): break
        case (.failure, .failure): return .refused
        case (let one, let other): throw Difference(text: "from \(start) on \(one) and \(other)")
        }
        try compare("taken back")
        var isMore = true
        while isMore {
            var left: [Bool] = []
            try onBoth { left.append(try $0.redoTakenBack(limit: 2, wallMilliseconds: wall).hasMore) }
            guard left[0] == left[1] else { throw Difference(text: "only one has more to do again") }
            isMore = left[0]
            try compare("done again")
        }
        if hasThirdHeard { return .same }
        try onBoth { try $0.pull(from: third) }
        try compare("with the third's")
        for _ in 0..<2 {
            try onBoth { try $0.pull(from: peer) }
            for other in [peer, third] { try other.pull(from: compacted) }
        }
        try compare("in the end")
        guard try Set([peer, third, compacted].map { try $0.state().digest }).count == 1 else {
            throw Difference(text: "others differ in the end")
        }
        return .same
    }

    private func compare(_ when: String) throws {
        func same<Value: Equatable>(_ what: String, _ value: (SQLiteStore) throws -> Value) throws {
            let (one, other) = (try value(whole), try value(compacted))
            guard one == other else { throw Difference(text: "\(when), \(what): \(one) and \(other)") }
        }
        try same("sums") { store in try [store.state().digest, store.recomputedDigest(of: .home)] }
        try same("histories") { try $0.state().tips }
        try same("members") { try $0.state().additions }
        try same("what gave way") { try $0.state().gaveWay }
        try same("what is awaited") { try $0.state().awaited }
        try same("counts") { store in
            let counts = try store.state().counts
            return [counts.events, counts.objects, counts.attachments]
        }
        for stream in ["s", "t", "l"] {
            try same("events of \(stream)") { store in
                try store.allEvents(stream).map { "\($0.position) \($0.dot) \($0.payload)" }
            }
        }
        for name in RandomWrites.names {
            try same("edits of \(name) that are listed") { store in
                Set(try store.object(name)?.droppedEdits.map(\.replica) ?? [])
            }
        }
        // Made anew, deletions are there again that were forgotten.
        for name in RandomWrites.names where seed % 4 > 0 {
            try same(name) { try $0.json(name) }
            try same("the state of \(name)") { try $0.object(name)?.state ?? ObjectState() }
        }
        guard try whole.state().digest == whole.recomputedDigest(of: .home) else {
            throw Difference(text: "\(when): a wrong sum")
        }
    }
}
