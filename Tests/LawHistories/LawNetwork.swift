import ReferenceModels
import SyncModel

/// A few replicas of one value, and everything they ever wrote.
struct LawNetwork<Value: Lawful> {
    struct Replica {
        var value = Value()
        var vector = VersionVector()
        var stamp = Stamp.zero
        /// Vectors it had, the newest last.
        var past: [VersionVector] = []
    }

    struct Written {
        let replica: Int
        let start: UInt64
        let end: UInt64
        let stamp: Stamp
        let context: VersionVector
        let operations: [[UInt8]]
    }

    enum Mail {
        case state([UInt8], vector: VersionVector, stamp: Stamp)
        case delta([UInt8], since: VersionVector, vector: VersionVector, stamp: Stamp)
    }

    let cast: Cast
    let travel: Travel<Value>
    var replicas: [Replica]
    /// By author, in order.
    var changes: [[Written]]
    var mail: [Mail] = []
    /// The same operations for the reference models.
    var events: [PlainEvent] = []
    /// Somebody added what may leave 64 bits.
    var hasHugeSums = false
    /// Somebody claimed to remove what somebody else had seen of a counter, without having seen it.
    var hasCopiedRemovals = false
    /// Replicas as they were after each step, for the laws to be tried on.
    var states: [Replica] = []

    init(replicas count: Int, travel: Travel<Value>) {
        cast = Cast(count: count)
        self.travel = travel
        replicas = [Replica](repeating: Replica(), count: count)
        changes = [[Written]](repeating: [], count: count)
    }

    mutating func run(_ step: Step) throws(Fault) {
        switch step {
        case .edit(let number, let clock, let intents): try edit(number % replicas.count, clock, intents)
        case .deliver(let number, let pick, let twice): try deliver(to: number % replicas.count, pick, twice)
        case .catchUp(let number, let source):
            try catchUp(number % replicas.count, with: replicas[source % replicas.count].vector)
        case .merge(let number, let source):
            let from = replicas[source % replicas.count]
            try take(.state(travel.bytes(from.value), vector: from.vector, stamp: from.stamp), number % replicas.count)
        case .join(let number, let source, let ago):
            let number = number % replicas.count
            let past = replicas[number].past
            let since = ago > 0 && ago < past.count ? past[past.count - 1 - ago] : replicas[number].vector
            try take(delta(from: source % replicas.count, since: since), number)
        case .post(let number, let target):
            let from = replicas[number % replicas.count]
            mail.append(
                target.map { delta(from: number % replicas.count, since: replicas[$0 % replicas.count].vector) }
                    ?? .state(travel.bytes(from.value), vector: from.vector, stamp: from.stamp))
        case .take(let number, let pick):
            if !mail.isEmpty { try take(mail[pick % mail.count], number % replicas.count) }
        case .copy(let number, let pick): try copy(number % replicas.count, pick)
        }
    }

    // MARK: Writing

    private mutating func edit(_ number: Int, _ clock: Clock, _ intents: [Intent]) throws(Fault) {
        guard let origin = origin(number, clock) else { return }
        if intents.contains(where: \.isHuge) { hasHugeSums = true }
        var value = replicas[number].value
        var next = origin
        var operations: [Value.Operation] = []
        for intent in intents {
            let before = value.reading
            guard let resolved = intent.resolved(on: before) else { continue }
            for operation in value.operations(for: resolved, by: origin.dot.replica) {
                value.apply(operation, at: next)
                next = next.advanced(by: Value.span(of: operation))
                operations.append(operation)
            }
            // Near the ends of 64 bits a replica's own sum may overflow where the sum of all does not.
            guard clock.isHonest, !hasHugeSums else { continue }
            let expected = resolved.done(to: before, shape: Value.shape).withoutEmpties
            let found = value.reading.withoutEmpties
            guard found == expected else {
                throw Fault(
                    "an edit does what its author wants", "\(resolved) of \(before) gives \(found), not \(expected)")
            }
        }
        try record(operations, of: number, at: origin, value)
    }

    /// Writes somebody's operation once more, as if this replica had thought of it.
    private mutating func copy(_ number: Int, _ pick: Int) throws(Fault) {
        let all = changes.joined().flatMap(\.operations)
        guard !all.isEmpty, let origin = origin(number, .wall(0)) else { return }
        let bytes = all[pick % all.count]
        guard let operation = try? travel.operation(bytes) else {
            throw Fault("an operation survives its bytes", "\(bytes)")
        }
        var value = replicas[number].value
        value.apply(operation, at: origin)
        if Value.plain(operation, by: origin.dot.replica, in: cast).removesKeys { hasCopiedRemovals = true }
        try record([operation], of: number, at: origin, value)
    }

    private func origin(_ number: Int, _ clock: Clock) -> Origin? {
        let replica = replicas[number]
        guard let stamp = clock.stamp(after: replica.stamp) else { return nil }
        let start = replica.vector.next(of: cast.replicas[number])
        let dot = Dot(replica: cast.replicas[number], counter: start)
        return Origin(dot: dot, stamp: stamp, context: replica.vector)
    }

    private mutating func record(
        _ operations: [Value.Operation], of number: Int, at origin: Origin, _ value: Value
    ) throws(Fault) {
        guard !operations.isEmpty else { return }
        let name = cast.replicas[number]
        let context = cast.plain(origin.context)
        var end = origin.dot.counter
        for operation in operations {
            let plain = Value.plain(operation, by: name, in: cast)
            let span = Value.span(of: operation)
            guard plain.span == span else { throw Fault("a span counts", "\(plain): \(span), not \(plain.span)") }
            let dot = PlainDot(replica: number, counter: end)
            events.append(PlainEvent(dot: dot, stamp: origin.stamp.rawValue, context: context, operation: plain))
            end += span
        }
        // Whether the context repeats the author's own entry must not matter; here it did, there it does not.
        let others = VersionVector(origin.context.entries.filter { $0.replica != name })
        changes[number].append(
            Written(
                replica: number, start: origin.dot.counter, end: end, stamp: origin.stamp, context: others,
                operations: operations.map(travel.operationBytes)))
        replicas[number].value = value
        advance(number, to: VersionVector([.init(replica: name, next: end)]), origin.stamp)
    }

    // MARK: Arriving

    private mutating func deliver(to number: Int, _ pick: Int, _ twice: Bool) throws(Fault) {
        let vector = replicas[number].vector
        let ready = changes.compactMap { history in
            history.first { $0.start == vector.next(of: cast.replicas[$0.replica]) && vector.covers($0.context) }
        }
        guard !ready.isEmpty else { return }
        try apply(ready[pick % ready.count], to: &replicas[number], twice: twice)
        states.append(replicas[number])
    }

    /// Everything that `vector` covers, in causal order: stamps may be forged, so by what becomes possible.
    mutating func catchUp(_ number: Int, with vector: VersionVector) throws(Fault) {
        replicas[number] = try replay(vector, upon: replicas[number])
        states.append(replicas[number])
    }

    /// What `replica` becomes when it is given all changes that `vector` covers, one by one; a generator shuffles them.
    func replay(
        _ vector: VersionVector, upon replica: Replica = Replica(), shuffledBy random: SeededGenerator? = nil
    ) throws(Fault) -> Replica {
        var replica = replica
        var random = random
        var heads = changes.map { history in
            history.firstIndex { $0.start >= replica.vector.next(of: cast.replicas[$0.replica]) } ?? history.count
        }
        while true {
            let ready = changes.indices.filter { author in
                guard heads[author] < changes[author].count else { return false }
                let change = changes[author][heads[author]]
                return change.end <= vector.next(of: cast.replicas[author]) && replica.vector.covers(change.context)
            }
            guard !ready.isEmpty else { return replica }
            let author = random?.element(of: ready) ?? ready[0]
            try apply(changes[author][heads[author]], to: &replica, twice: false)
            heads[author] += 1
        }
    }

    private func apply(_ change: Written, to replica: inout Replica, twice: Bool) throws(Fault) {
        let name = cast.replicas[change.replica]
        var origin = Origin(
            dot: Dot(replica: name, counter: change.start), stamp: change.stamp, context: change.context)
        for bytes in change.operations {
            guard let operation = try? travel.operation(bytes), travel.operationBytes(operation) == bytes else {
                throw Fault("an operation survives its bytes", "\(bytes)")
            }
            replica.value.apply(operation, at: origin)
            if twice {
                let once = replica.value
                replica.value.apply(operation, at: origin)
                guard replica.value == once else {
                    throw Fault("applying again changes nothing", "\(operation): \(replica.value) after \(once)")
                }
            }
            origin = origin.advanced(by: Value.span(of: operation))
        }
        replica.advance(to: VersionVector([.init(replica: name, next: change.end)]), change.stamp)
    }

    func documentChanges() throws(Fault) -> [DocumentChange<Value.Operation>] {
        var all: [DocumentChange<Value.Operation>] = []
        for change in changes.joined() {
            let operations = change.operations.compactMap { try? travel.operation($0) }
            guard operations.count == change.operations.count else {
                throw Fault("an operation survives its bytes", "\(change.operations)")
            }
            all.append(
                DocumentChange(
                    start: Dot(replica: cast.replicas[change.replica], counter: change.start),
                    count: change.end - change.start, stamp: change.stamp, context: change.context,
                    operations: operations))
        }
        return all
    }

    private func delta(from source: Int, since: VersionVector) -> Mail {
        let from = replicas[source]
        return .delta(
            travel.deltaBytes(from.value.delta(since: since)), since: since, vector: from.vector, stamp: from.stamp)
    }

    private mutating func take(_ mail: Mail, _ number: Int) throws(Fault) {
        let held = replicas[number].vector
        switch mail {
        case .state(let bytes, let vector, let stamp):
            guard let other = try? travel.value(bytes) else { throw Fault("a state can be read", "\(bytes)") }
            replicas[number].value.merge(other, held: held, theirs: vector)
            advance(number, to: vector, stamp)
        case .delta(let bytes, let since, let vector, let stamp):
            guard held.covers(since) else { return }
            guard let delta = try? travel.delta(bytes), travel.deltaBytes(delta) == bytes else {
                throw Fault("a delta survives its bytes", "\(bytes)")
            }
            replicas[number].value.join(delta, held: held, theirs: vector)
            advance(number, to: vector, stamp)
        }
    }

    private mutating func advance(_ number: Int, to vector: VersionVector, _ stamp: Stamp) {
        replicas[number].advance(to: vector, stamp)
        states.append(replicas[number])
    }
}

extension LawNetwork.Replica {
    mutating func advance(to other: VersionVector, _ stamp: Stamp) {
        past.append(vector)
        vector.join(other)
        self.stamp = max(self.stamp, stamp)
    }
}

extension Clock {
    fileprivate var isHonest: Bool {
        if case .wall = self { true } else { false }
    }

    fileprivate func stamp(after greatest: Stamp) -> Stamp? {
        switch self {
        case .wall(let milliseconds): .next(after: greatest, wallMilliseconds: milliseconds)
        case .forged(let stamp): Stamp(rawValue: stamp)
        }
    }
}
