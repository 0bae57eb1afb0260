import SyncModel
import SyncStore

/// Writers that hear of each other's changes, and two receivers that take state: the first from a writer or from several, the
/// second from the first. Beside each receiver an oracle in memory that gets the same by changes alone.
///
/// `run` says what the first difference is, so that a planted bug can be seen to make one.
struct StateWorld {
    private struct Difference: Error {
        let text: String
    }

    private var writes: RandomWrites
    /// Apart from what is written, which stays what it was.
    private var drops: RandomWrites
    private let seed: UInt64
    private let faults: StoreFaults
    private let beds: [StoreBed]
    private var writers: [SQLiteStore]
    private let receiverBeds: [StoreBed]
    private var receivers: [SQLiteStore]
    private let oracle: SQLiteStore
    private var wall: Int64 = 1_000

    /// The first difference; nil if there is none.
    static func run(seed: UInt64, faults: StoreFaults = []) throws -> String? {
        do {
            var world = try StateWorld(seed: seed, faults: faults)
            try world.live()
            return nil
        } catch let difference as Difference {
            return "seed \(seed): \(difference.text)"
        }
    }

    private init(seed: UInt64, faults: StoreFaults) throws {
        self.seed = seed
        self.faults = faults
        writes = RandomWrites(seed: seed)
        drops = RandomWrites(seed: seed ^ 0x6472_6f70)
        let kind: StoreKind = seed % 3 == 0 ? .sqliteOfLargeObjects : .sqliteInTmpfs
        beds = (1...3).map { StoreBed(kind, device: TestDevice(UInt8($0))) }
        writers = try beds.map { try $0.open() }
        receiverBeds = (4...5).map { StoreBed(seed % 2 == 0 ? kind : .sqliteInTmpfs, device: TestDevice(UInt8($0))) }
        receivers = try receiverBeds.map { try Self.open($0, faults) }
        oracle = try StoreBed(.memory, device: TestDevice(6)).open()
        let devices = (beds + receiverBeds).map(\.device.fact)
        _ = try writers[0].append(devices.map { [.addMember($0)] }, wallMilliseconds: 1)
        for store in writers.dropFirst() { try store.pull(from: writers[0]) }
        // Some begin with the members alone, some with nothing.
        if seed % 4 != 0 { try receivers[0].pull(from: writers[0]) }
    }

    private static func open(_ bed: StoreBed, _ faults: StoreFaults) throws -> SQLiteStore {
        try bed.open(faults: faults)
    }

    // MARK: A life

    private mutating func live() throws {
        for round in 0..<4 {
            for _ in 0..<(6 + writes.below(20)) { try step() }
            try takeState("round \(round)")
            if writes.below(2) == 0 { try passOn("round \(round)") }
        }
        try converge()
    }

    private mutating func step() throws {
        wall += Int64(writes.below(4)) - 1
        let writer = writes.below(writers.count)
        switch writes.below(12) {
        case 0..<6: try write(to: writers[writer])
        case 6..<9:
            let source = writes.below(writers.count)
            if source != writer { try writers[writer].pull(from: writers[source]) }
        case 9: try hear(from: writers[writer])
        case 10: try write(to: receivers[0])
        default: try write(to: writers[writer])
        }
    }

    private mutating func write(to store: SQLiteStore) throws {
        var group = (0...writes.below(4)).map { _ in writes.write(on: store) }
        if writes.below(3) == 0 { group.append(.operations(events())) }
        if writes.below(12) == 0 {
            let setting = SyncModel.Operation.StreamSetting(
                stream: "l", latestOnly: writes.below(3) > 0, retainMilliseconds: nil)
            group.append(.operations([.setStream(setting)]))
        }
        if drops.below(12) == 0, let drop = try drop(on: store) { group.append(.operations([.dropEvents(drop)])) }
        _ = try store.append(group, wallMilliseconds: wall)
    }

    /// Some of a stream's first events, but for some.
    private mutating func drop(on store: SQLiteStore) throws -> SyncModel.Operation.EventDrop? {
        let stream = drops.pick(["s", "t", "l"])
        let events = try store.keptEvents(of: stream, space: .home, after: nil, limit: .max)
        var (vector, kept) = (VersionVector(), [Dot]())
        for event in events.prefix(drops.below(events.count + 1)) {
            vector.advance(event.dot.replica, to: event.dot.counter + 1)
            if drops.below(4) == 0 { kept.append(event.dot) }
        }
        if vector.isEmpty { return nil }
        return .init(stream: ExactString(stream), events: DroppedEvents(before: vector, but: kept))
    }

    private mutating func events() -> [SyncModel.Operation] {
        (0...writes.below(3)).map { _ in
            writes.below(6) == 0
                ? .unknown(kind: 50, span: UInt64(1 + writes.below(4)), body: [1])
                : .event(writes.pick(["s", "t", "l"]), "\(writes.below(99))", type: writes.pick([nil, "x", "y"]))
        }
    }

    /// The receiver hears of some of a writer's changes, in an order that contexts allow.
    private mutating func hear(from writer: SQLiteStore) throws {
        var missing = try receivers[0].missing(from: writer)
        missing.removeLast(min(missing.count, writes.below(4)))
        if !missing.isEmpty { _ = try receivers[0].apply(missing, wallMilliseconds: 0) }
    }

    // MARK: State

    private mutating func takeState(_ comment: String) throws {
        try oracle.pull(from: receivers[0])
        var sender = writes.below(writers.count)
        var tries = writes.below(4)
        while true {
            let there = try oracle.missing(from: writers[sender])
            if try receive(from: writers[sender], dying: tries > 0, comment) {
                if !there.isEmpty { _ = try oracle.apply(there, wallMilliseconds: 0) }
                break
            }
            tries -= 1
            if writes.below(2) == 0 { receivers[0] = try reopened(0) }
            // Meanwhile everybody goes on, the receiver too; and somebody else may be asked.
            for _ in 0..<writes.below(6) { try step() }
            if writes.below(3) == 0 { sender = writes.below(writers.count) }
            try oracle.pull(from: receivers[0])
        }
        try join(comment)
        try oracle.pull(from: receivers[0])
        try compare(receivers[0], oracle, comment)
    }

    private func shown(_ store: SQLiteStore) throws -> [String] {
        let state = try store.state()
        return ["\(state.tips)", "\(state.digest)", "\(state.counts)", "\(try store.objectPosition())"]
    }

    private func reopened(_ index: Int) throws -> SQLiteStore {
        receiverBeds[index].crash(receivers[index])
        return try Self.open(receiverBeds[index], faults)
    }

    /// - Returns: whether the stream came to its end.
    private mutating func receive(
        from sender: SQLiteStore, dying: Bool, _ comment: String, by index: Int = 0
    ) throws -> Bool {
        let receiver = receivers[index]
        var staging = try receiver.beginStaging()
        let source = try sender.stateSource(staging.request)
        defer { source.close() }
        let before = try shown(receiver)
        var written = 0
        var batch: [[UInt8]] = []
        var left = dying ? writes.below(40) : Int.max
        while let (_, bytes) = try source.next(unless: { announcement throws(StoreError) in
            try receiver.isStaged(announcement)
        }) {
            left -= 1
            if left < 0 {
                if written == 0, try shown(receiver) != before {
                    throw Difference(text: "\(comment): something staged is shown")
                }
                return false
            }
            batch.append(bytes)
            // Writes go on at both ends.
            if writes.below(30) == 0 {
                let isReceiver = writes.below(2) == 0
                try write(to: isReceiver ? receiver : sender)
                if isReceiver { written += 1 }
            }
            if writes.below(5) == 0 {
                try receiver.stage(batch, of: &staging)
                batch = []
            }
        }
        try receiver.stage(batch, of: &staging)
        if !staging.isComplete { throw Difference(text: "\(comment): a whole stream did not end") }
        return true
    }

    /// Dies in the middle of it first, perhaps.
    private mutating func join(_ comment: String, by index: Int = 0) throws {
        if writes.below(2) == 0 {
            let part = writes.pick(StateJoinPart.allCases)
            let before = try shown(receivers[index])
            do {
                _ = try receivers[index].joinStaged(wallMilliseconds: wall) { reached throws(StoreError) in
                    if reached == part { throw .closed }
                }
            } catch StoreError.closed {}
            receivers[index] = try reopened(index)
            if try shown(receivers[index]) != before {
                throw Difference(text: "\(comment): a join that ended behind \(part) left something behind")
            }
        }
        _ = try receivers[index].joinStaged(wallMilliseconds: wall)
    }

    /// The second receiver takes the first one's state.
    private mutating func passOn(_ comment: String) throws {
        guard try receive(from: receivers[0], dying: false, comment, by: 1) else { return }
        try join(comment, by: 1)
        if try receivers[1].vector == receivers[0].vector {
            try compare(receivers[1], receivers[0], "\(comment), passed on")
        }
    }

    // MARK: Comparing

    /// Changes go on where state ended: in the end all hold the same.
    private mutating func converge() throws {
        for _ in 0..<6 { try step() }
        let all: [SQLiteStore] = writers + receivers.map { $0 }
        for _ in 0..<3 {
            for target in all {
                for source in writers where source !== target { try target.pull(from: source) }
                for source in receivers where source !== target { try target.pullOwnChanges(of: source) }
            }
        }
        try oracle.pull(from: writers[0])
        for store in all { try compare(store, oracle, "converged") }
    }

    private func compare(_ store: SQLiteStore, _ expected: SQLiteStore, _ comment: String) throws {
        func same<Value: Equatable>(_ what: String, _ body: (SQLiteStore) throws -> Value) throws {
            let (one, other) = (try body(store), try body(expected))
            if one != other { throw Difference(text: "\(comment): \(what)\n\(one)\n\(other)") }
        }
        try same("vector") { try $0.vector }
        try same("digest") { try $0.state().digest }
        try same("tips") { try $0.state().tips }
        try same("members") { try $0.members() }
        try same("counts") { store in
            var counts = try store.state().counts
            counts.changes = 0
            return counts
        }
        if try store.recomputedDigest(of: .home) != store.state().digest {
            throw Difference(text: "\(comment): the digest that is kept is not the one of what is here")
        }
        for stream in ["s", "t", "l"] {
            try same("events of \(stream)") { try $0.canonicalEvents(stream).map { $0.withoutPosition } }
            try same("count of \(stream)") { try $0.eventCount(stream: stream, space: .home, after: 0) }
        }
        try same("collections") { try $0.collections(of: .home) }
        try same("attachments") { try $0.attachments() }
        for name in RandomWrites.names {
            try same("what is shown of \(name)") { try $0.json(name) }
            try same("state of \(name)") { try $0.object(name)?.state.lives.lives }
            try same("what has touched \(name)") { try $0.object(name)?.state.lives.touched }
            try same("deletions of \(name)") { try $0.object(name)?.state.lives.deletions.map(\.dot) }
        }
        for value in [0, 1, 2, 3] as [JSONValue] {
            for field in ["r", "n"] { try same("\(field) = \(value)") { try $0.find("a", where: field, is: value) } }
        }
        try store.checkOrderOfArrival { throw Difference(text: "\(comment): \($0)") }
    }
}

extension SQLiteStore {
    /// What another store has written itself, where it is held as changes.
    fileprivate func pullOwnChanges(of source: SQLiteStore) throws {
        let held = try state().tips
        let firstHeld = try source.state().firstHeld
        for known in try source.state().tips where firstHeld.next(of: known.replica) == 0 {
            let tip = held.first { $0.replica == known.replica }?.tip
            if (tip?.next ?? 0) >= known.tip.next { continue }
            for segment in try source.verifiedSegments(of: known.replica, behind: tip) {
                let vector = try vector
                guard segment.context.allSatisfy({ vector.next(of: $0.replica) >= $0.next }) else { break }
                _ = try apply([segment], wallMilliseconds: 0)
            }
        }
    }

    /// Events of one replica arrive in the order in which they were written.
    fileprivate func checkOrderOfArrival(_ complain: (String) throws -> Void) throws {
        for stream in ["s", "t"] {
            var last: [ReplicaID: UInt64] = [:]
            for event in try allEvents(stream) {
                if let counter = last[event.dot.replica], counter >= event.dot.counter {
                    try complain("\(event.dot) arrived behind \(counter)")
                }
                last[event.dot.replica] = event.dot.counter
            }
        }
    }
}

extension StoredEvent {
    fileprivate var withoutPosition: StoredEvent {
        StoredEvent(
            dot: dot, stamp: stamp, type: type, payload: payload, wallMilliseconds: wallMilliseconds, position: 0)
    }
}
