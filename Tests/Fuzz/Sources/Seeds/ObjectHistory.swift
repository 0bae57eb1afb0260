import SyncModel

/// The replicas that the fuzzer of objects knows.
enum Known {
    static let replicas = (1...3).map {
        ReplicaID(device: DeviceID(subjectPublicKeyInfo: [UInt8($0)]), incarnation: 1)
    }
    static let key = ObjectKey(collection: "c", id: "a")

    /// Each was let in by the next.
    static var members: MemberFacts {
        var members = MemberFacts()
        for (index, replica) in replicas.enumerated() {
            let author = replicas[(index + 1) % replicas.count]
            members.add(replica.device, role: .writer, at: Dot(replica: author, counter: 0))
        }
        return members
    }
}

/// One object that three replicas write, each by what it has seen: as their agents plan and encode it.
struct ObjectHistory {
    private struct Written {
        let author: Int
        let operation: Operation
        let origin: Origin
        /// True for a replica if its author had seen all that others wrote before.
        let sawAll: [Bool]
    }

    private struct Node {
        var state = ObjectState()
        var held = VersionVector()
        var seen = 0
        var own: Set<Int> = []
        var version: Dot?
    }

    private var chance: Chance
    private var nodes = Array(repeating: Node(), count: 3)
    private var log: [Written] = []
    private let members = Known.members

    init(seed: UInt64) {
        chance = Chance(seed: seed)
        for _ in 0..<3 + chance.below(14) {
            let node = chance.below(3)
            if chance.below(3) == 0 { catchUp(node) }
            write(by: node)
        }
        for node in nodes.indices { catchUp(node) }
    }

    private mutating func catchUp(_ node: Int) {
        for index in nodes[node].seen..<log.count where !nodes[node].own.contains(index) { apply(log[index], to: node) }
        nodes[node].seen = log.count
        nodes[node].own = []
    }

    private mutating func apply(_ written: Written, to node: Int) {
        if let (_, action) = written.operation.objectAction {
            _ = nodes[node].state.apply(
                action, at: written.origin, wallMilliseconds: 1_000, members: members, earlier: { [] })
        }
        nodes[node].version = written.origin.dot
        let end = written.origin.dot.counter + written.operation.span
        nodes[node].held.advance(written.origin.dot.replica, to: end)
    }

    private mutating func write(by node: Int) {
        let replica = Known.replicas[node]
        let first = Origin(
            dot: Dot(replica: replica, counter: max(1, nodes[node].held.next(of: replica))),
            stamp: Stamp(rawValue: UInt64(log.count + 1) << 16), context: nodes[node].held)
        let planner = ObjectPlanner(
            Known.key, nodes[node].state, localFields: [], version: nodes[node].version, schema: nil, origin: first,
            members: members)
        guard let planned = try? planner.plan(wish(nodes[node].state)) else { return }
        var origin = first
        for operation in planned.operations {
            let sawAll = Known.replicas.indices.map { other in
                other == node || nodes[node].seen == log.count
                    || !log[nodes[node].seen...].contains { $0.author == other }
            }
            let written = Written(author: node, operation: operation, origin: origin, sawAll: sawAll)
            apply(written, to: node)
            nodes[node].own.insert(log.count)
            log.append(written)
            origin = origin.advanced(by: operation.span)
        }
    }

    private mutating func value(_ depth: Int = 0) -> JSONValue {
        switch chance.below(depth > 1 ? 5 : 7) {
        case 0: .null
        case 1: .bool(chance.below(2) == 0)
        case 2: .integer(Int64(chance.below(9)) - 4)
        case 3: .double(Double(chance.below(9)) / 2 + 0.25)
        case 4: .string(ExactString(chance.word()))
        case 5: .array((0..<chance.below(4)).map { _ in value(depth + 1) })
        case _: .object(["k", "l"].prefix(chance.below(3)).map { .init(key: $0, value: value(depth + 1)) })
        }
    }

    private mutating func wish(_ state: ObjectState) -> ObjectWrite {
        let field: ExactString = ["f", "g", "h", "t"][chance.below(4)]
        let path: [ExactString] = chance.below(4) == 0 ? [field, "k"] : [field]
        let edit: FieldEdit.Action
        switch chance.below(14) {
        case 0, 1, 2: return .put(Known.key, .init(fields: [.init(key: field, value: value())]))
        case 3: return .delete(Known.key, ifVersion: nil)
        case 4: return .resolve(Known.key, .keep)
        case 5: return .attach(Known.key, file())
        case 6: edit = .increment(Int64(chance.below(9)) - 4)
        case 7: edit = .add(value(2))
        case 8: edit = .remove(value(2))
        case 9: edit = .insert(at: 0, value(1))
        case 10: edit = .delete(at: 0, count: 1)
        case 11: edit = .move(from: 0, to: 1)
        case 12: edit = .unset
        case _: edit = .set(value())
        }
        return .edit(Known.key, [FieldEdit(path: path, action: edit)], .init(creating: true))
    }

    private mutating func file() -> AttachedFile {
        AttachedFile(
            name: ExactString(chance.word()), mediaType: .unknown, image: nil,
            blob: BlobName(BlobHash(bytes: chance.bytes(32))!, size: UInt64(chance.below(9_000))))
    }

    /// The history in the form that `FuzzObject` reads.
    var steps: [UInt8] {
        var bytes: [UInt8] = []
        for written in log {
            var encoded: [UInt8] = []
            written.operation.append(to: &encoded)
            var reader = ByteReader(encoded)
            guard let view = try? OperationView(&reader), view.kind >= Operation.Kind.editObject else { continue }
            bytes.append(varint: (view.kind - Operation.Kind.editObject) & 7 | UInt64(written.author) << 3)
            var seen: UInt64 = 0
            for (replica, sawAll) in written.sawAll.enumerated() { seen |= (sawAll ? 3 : 1) << UInt64(replica * 2) }
            bytes.append(varint: seen)
            bytes.append(lengthPrefixed: encoded[view.body])
        }
        return bytes
    }

    /// The history as a peer streams it to a device that holds a part.
    var delta: [UInt8] {
        var random = chance
        let state = nodes[0].state
        let since = random.below(3) == 0 ? VersionVector([.init(replica: Known.replicas[1], next: 2)]) : VersionVector()
        var stream = StateStream()
        var bytes: [UInt8] = []
        func send(_ item: StateItem) {
            bytes += stream.write(item)
            if let check = stream.checkIfDue() { bytes += stream.write(check) }
        }
        if random.below(2) == 0, let fact = MemberSeeds.facts.randomElement(using: &random) {
            let dot = Dot(replica: Known.replicas[1], counter: 1)
            send(.fact(StateFact(dot: dot, wallMilliseconds: 1_000, fact: fact)))
        }
        send(.announcement(StateAnnouncement(key: Known.key, touched: state.lives.touched)))
        send(
            .object(StateObject(version: nodes[0].version, wallMilliseconds: 1_000, delta: state.delta(since: since))))
        for replica in Known.replicas {
            let counters = state.lives.lives.map(\.birth).filter { $0.replica == replica }.map(\.counter).sorted()
            if !counters.isEmpty { send(.births(StateBirths(replica: replica, runs: counters.map { $0..<$0 + 1 }))) }
        }
        for entry in nodes[0].held.entries.sorted(by: { $0.replica < $1.replica }) {
            let tip = ReplicaTip(
                next: entry.next, head: ChainHead(space: .home, replica: entry.replica), stamp: Stamp(rawValue: 9 << 16)
            )
            send(
                .tip(
                    StateTip(
                        replica: entry.replica, tip: tip, signature: Array(repeating: 1, count: 64),
                        first: VersionVector(), named: VersionVector())))
        }
        bytes += stream.write(stream.end(vector: nodes[0].held))
        return bytes
    }
}
