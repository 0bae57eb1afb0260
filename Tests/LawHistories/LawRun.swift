import ReferenceModels
import SyncModel

/// One history of one type, and all laws on what was met in it.
struct LawRun<Value: Lawful> {
    typealias Replica = LawNetwork<Value>.Replica

    var network: LawNetwork<Value>
    var random: SeededGenerator
    private let history: History
    /// Every state that was met is checked, not only a few: slower, and steady while a history is cut shorter.
    private let isThorough: Bool

    init(_ history: History, travel: Travel<Value>, isThorough: Bool) {
        network = LawNetwork(replicas: history.replicas, travel: travel)
        random = SeededGenerator(seed: history.seed &+ 1)
        self.history = history
        self.isThorough = isThorough
    }

    /// The value that all replicas end with.
    mutating func run() throws(Fault) -> Value {
        for step in history.steps { try network.run(step) }
        let end = try converge()
        try checkReading(end, network.events)
        try checkBytes(end.value)
        try checkMet()
        if isThorough || random.once(in: 8) { try checkDocument(end) }
        try checkCorrupted(end.value)
        return end.value
    }

    // MARK: The three roads

    /// What everybody wrote reaches everybody, by another road each; from empty in two more orders. All must be equal.
    private mutating func converge() throws(Fault) -> Replica {
        var all = VersionVector()
        for replica in network.replicas { all.join(replica.vector) }
        let end = try network.replay(all)
        guard end.vector == all else { throw Fault("causal order exists", "\(end.vector) is not all of \(all)") }
        try expectEqual("operations in any causal order", try network.replay(all, shuffledBy: random), end)
        for number in network.replicas.indices {
            switch random.below(3) {
            case 0: try network.catchUp(number, with: all)
            case 1:
                for source in network.replicas.indices where network.replicas[number].vector != all {
                    try network.run(.merge(number, from: source))
                }
            case _: break
            }
            // By deltas, also what came to others later.
            for source in network.replicas.indices where network.replicas[number].vector != all {
                try network.run(.join(number, from: source, ago: 0))
            }
            try expectEqual("operations, states and deltas", network.replicas[number], end)
        }
        return end
    }

    private mutating func expectEqual(_ law: String, _ left: Replica, _ right: Replica) throws(Fault) {
        guard left.vector == right.vector else { throw Fault(law, "\(left.vector) is not \(right.vector)") }
        try expectEqual(law, left.value, right.value)
    }

    /// Equal, also in bytes and in what is shown. Of every comparison only a part is made, by turns: they cost most of the
    /// time, and what differs differs in all of them.
    mutating func expectEqual(_ law: String, _ left: Value, _ right: Value) throws(Fault) {
        let turn = isThorough ? -1 : random.below(8)
        if turn < 3, left != right {
            throw Fault(law, "shown \(left.reading) and \(right.reading); state \(left) and \(right)")
        }
        if turn < 1, left.hashValue != right.hashValue { throw Fault(law, "equal, with other hashes: \(left.reading)") }
        if turn < 0 || turn > 2, network.travel.bytes(left) != network.travel.bytes(right) {
            throw Fault(law, "other bytes: \(left.reading) and \(right.reading)")
        }
        if turn < 1, left.reading != right.reading {
            throw Fault(law, "equal, and shown as \(left.reading) and \(right.reading)")
        }
    }

    // MARK: The reference model

    private func checkReading(_ replica: Replica, _ events: [PlainEvent]) throws(Fault) {
        // A removal carries what was seen of counters; one that lies about it is bounded, but not foreseen.
        guard !network.hasCopiedRemovals else { return }
        let held = network.cast.plain(replica.vector)
        let expected = Reference.reading(
            of: Value.shape, events.filter { $0.dot.counter < held[$0.dot.replica] })
        let found = replica.value.reading
        guard found == expected else {
            throw Fault("the reference model agrees", "shown \(found), should be \(expected)")
        }
    }

    // MARK: States that were met

    private mutating func checkMet() throws(Fault) {
        let met = network.states
        guard !met.isEmpty else { return }
        if isThorough {
            for replica in met { try checkState(replica) }
            for (index, one) in met.enumerated() {
                for other in met[..<index] { try checkMerge(one, other, met[met.count / 2]) }
            }
            return
        }
        try checkState(random.element(of: met))
        try checkMerge(random.element(of: met), random.element(of: met), random.element(of: met))
    }

    /// A state is what its operations make, whatever road they took; and it shows what they should show.
    private mutating func checkState(_ replica: Replica) throws(Fault) {
        let replayed = try network.replay(replica.vector)
        try expectEqual("a state is what its operations make", replica, replayed)
        try checkReading(replica, network.events)
    }

    private mutating func checkMerge(_ one: Replica, _ other: Replica, _ third: Replica) throws(Fault) {
        let both = one.merging(other)
        let turn = random.below(3)
        if isThorough || turn == 0 {
            try expectEqual("merge commutes", both, other.merging(one))
            try expectEqual("merging again changes nothing", both.merging(one), both)
        }
        if isThorough || turn == 1 {
            try expectEqual("merge is associative", both.merging(third), one.merging(other.merging(third)))
            try expectEqual("merging with itself changes nothing", one.merging(one), one)
        }
        if isThorough || turn == 2 {
            try expectEqual("a delta is as good as the state", one.joining(other, since: one.vector), both)
            try expectEqual("an old delta is as good as the state", both.joining(other, since: one.vector), both)
            try expectEqual("a delta for nobody is the state", one.joining(other, since: VersionVector()), both)
        }
    }

    // MARK: Bytes

    private mutating func checkBytes(_ value: Value) throws(Fault) {
        let bytes = network.travel.bytes(value)
        guard let read = try? network.travel.value(bytes) else { throw Fault("a state can be read", "\(bytes)") }
        try expectEqual("a state survives its bytes", read, value)
        guard isThorough || random.once(in: 32) else { return }
        guard let coded: Value = try? JSONForm.read(JSONForm.bytes(value)) else {
            throw Fault("a state can be read", String(decoding: JSONForm.bytes(value), as: UTF8.self))
        }
        try expectEqual("a state survives Codable", coded, value)
    }

    /// Bytes that somebody spoiled are refused, or they are the one form of another value; nothing traps on that value.
    private mutating func checkCorrupted(_ value: Value) throws(Fault) {
        guard network.travel.isCanonical else { return }
        for _ in 0..<(isThorough ? 8 : 1) {
            var bytes = network.travel.bytes(value)
            random.spoil(&bytes)
            guard var other = try? network.travel.value(bytes) else { continue }
            guard network.travel.bytes(other) == bytes else {
                throw Fault("bytes have one form", "\(bytes) became \(network.travel.bytes(other))")
            }
            _ = other.reading
            let vector = network.replicas[0].vector
            _ = other.delta(since: VersionVector(vector.entries.prefix(1)))
            other.merge(value, held: VersionVector(), theirs: vector)
            var mine = value
            mine.merge(other, held: vector, theirs: vector)
            _ = (other.reading, mine.reading)
        }
    }
}

extension LawNetwork.Replica {
    func merging(_ other: Self) -> Self {
        var merged = self
        merged.value.merge(other.value, held: vector, theirs: other.vector)
        merged.vector.join(other.vector)
        return merged
    }

    func joining(_ other: Self, since: VersionVector) -> Self {
        var joined = self
        joined.value.join(other.value.delta(since: since), held: vector, theirs: other.vector)
        joined.vector.join(other.vector)
        return joined
    }
}

extension SeededGenerator {
    /// Another byte, a byte less, a byte more, or a piece twice.
    fileprivate mutating func spoil(_ bytes: inout [UInt8]) {
        guard !bytes.isEmpty else { return }
        let place = below(bytes.count)
        switch below(6) {
        case 0: bytes.remove(at: place)
        case 1: bytes.insert(UInt8(below(256)), at: place)
        case 2: bytes[place] = UInt8(below(256))
        case 3: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 1 + below(48))], at: place)
        case 4: bytes[place] ^= 1 << UInt8(below(8))
        case _: bytes[place] = bytes[place] &+ (once(in: 2) ? 1 : .max)
        }
    }
}
