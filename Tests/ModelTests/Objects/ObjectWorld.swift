import LawHistories
import SyncModel

/// Nodes that edit one object's fields and hear of each other; honest, so each does only what an agent would let it.
struct ObjectWorld {
    struct Entry {
        let action: ObjectState.Action
        let origin: Origin
        let span: UInt64
    }

    struct Node {
        let replica: ReplicaID
        var state = ObjectState()
        var held = VersionVector()
        var stamp = Stamp.zero
        var index: [ObjectLives.EarlierEdit] = []

        mutating func apply(_ entry: Entry, members: MemberFacts) {
            let earlier = index
            let outcome = state.apply(
                entry.action, at: entry.origin, wallMilliseconds: 0, members: members, earlier: { earlier })
            held.advance(entry.origin.dot.replica, to: entry.origin.dot.counter + entry.span)
            stamp = max(stamp, entry.origin.stamp)
            switch (entry.action, outcome) {
            case (.edit(let life, _), .applied), (.edit(let life, _), .droppedWhileDeleted),
                (.editAttachments(let life, _), .applied), (.editAttachments(let life, _), .droppedWhileDeleted):
                record([life.birth(at: entry.origin)], entry)
            case (.keep, .applied(let lives)): record(lives, entry)
            case (_, _): break
            }
        }

        /// As a state delta brings it: through bytes. Of the operations behind it nothing gets into the index.
        mutating func join(_ other: Node) throws {
            let delta = try ObjectDelta(canonicalBytes: other.state.delta(since: held).canonicalBytes)
            let known = index
            state.join(delta, held: held, theirs: other.held) { known }
            held.join(other.held)
            stamp = max(stamp, other.stamp)
        }

        private mutating func record(_ lives: [Dot], _ entry: Entry) {
            index.append(ObjectLives.EarlierEdit(lives: lives, dot: entry.origin.dot, wallMilliseconds: 0))
        }
    }

    var nodes: [Node]
    private(set) var entries: [Entry] = []
    /// All are members to each other before anything is written.
    let members: MemberFacts
    private let start: VersionVector

    init(nodes count: Int) {
        let replicas = ObjectHistory(nodes: count).replicas
        var members = MemberFacts()
        for (index, replica) in replicas.enumerated() {
            members.add(replica.device, role: .writer, at: Dot(replica: replicas[(index + 1) % count], counter: 0))
        }
        self.members = members
        start = VersionVector(replicas.map { VersionVector.Entry(replica: $0, next: 1) })
        nodes = replicas.map { [start] in Node(replica: $0, held: start) }
    }

    @discardableResult
    mutating func write(_ action: ObjectState.Action, by node: Int, at milliseconds: Int64 = 0) -> Dot {
        guard let stamp = Stamp.next(after: nodes[node].stamp, wallMilliseconds: milliseconds) else {
            preconditionFailure("a test's clock does not run out")
        }
        let replica = nodes[node].replica
        let origin = Origin(
            dot: Dot(replica: replica, counter: nodes[node].held.next(of: replica)), stamp: stamp,
            context: nodes[node].held)
        let entry = Entry(action: action, origin: origin, span: action.span)
        entries.append(entry)
        nodes[node].apply(entry, members: members)
        return origin.dot
    }

    mutating func sync(_ from: Int, to: Int) {
        for entry in entries
        where nodes[from].held.covers(entry.origin.dot) && !nodes[to].held.covers(entry.origin.dot) {
            nodes[to].apply(entry, members: members)
        }
    }

    mutating func syncAll() {
        for node in 1..<nodes.count { sync(node, to: 0) }
        for node in 1..<nodes.count { sync(0, to: node) }
    }

    /// `to` takes the state of `from` for the operations that it lacks.
    mutating func join(_ from: Int, to: Int) throws {
        let other = nodes[from]
        try nodes[to].join(other)
    }

    /// What the rules of deletion say of the operations that a node holds, however they came.
    func rules(at node: Int) -> DeletionRules {
        let additions = nodes.indices.map { index in
            let author = nodes[(index + 1) % nodes.count].replica
            return DeletionRules.Entry(
                step: .member(nodes[index].replica.device),
                origin: Origin(dot: Dot(replica: author, counter: 0), stamp: .zero, context: VersionVector()),
                wallMilliseconds: 0)
        }
        let held = entries.filter { nodes[node].held.covers($0.origin.dot) }
        return DeletionRules(
            entries: additions
                + held.map { DeletionRules.Entry(step: $0.step, origin: $0.origin, wallMilliseconds: 0) })
    }

    /// Everything, in some causal order.
    func replayed(_ random: inout SeededGenerator) -> ObjectState {
        var node = Node(replica: nodes[0].replica, held: start)
        var waiting = entries
        while !waiting.isEmpty {
            let ready = waiting.indices.filter { index in
                let origin = waiting[index].origin
                return node.held.covers(origin.context) && node.held.next(of: origin.dot.replica) == origin.dot.counter
            }
            node.apply(waiting.remove(at: ready[Int.random(in: 0..<ready.count, using: &random)]), members: members)
        }
        return node.state
    }
}

extension ObjectWorld.Entry {
    fileprivate var step: DeletionRules.Step {
        switch action {
        case .edit(.birth, _): .birth
        case .edit(let life, _), .editAttachments(let life, _): .edit(life.birth(at: origin))
        case .delete(let policy): .delete(policy)
        case .keep: .keep
        }
    }
}

extension ObjectWorld {
    static func random(_ random: inout SeededGenerator) -> ObjectWorld {
        var world = ObjectWorld(nodes: Int.random(in: 2...4, using: &random))
        world.extend(&random, steps: Int.random(in: 4...40, using: &random))
        return world
    }

    mutating func extend(_ random: inout SeededGenerator, steps: Int) {
        for _ in 0..<steps {
            let node = Int.random(in: 0..<nodes.count, using: &random)
            let milliseconds = Int64.random(in: 0..<60, using: &random)
            if random.chance(25) {
                sync(Int.random(in: 0..<nodes.count, using: &random), to: node)
            } else if let action = nodes[node].action(&random) {
                write(action, by: node, at: milliseconds)
            }
        }
    }
}

extension ObjectWorld.Node {
    fileprivate func action(_ random: inout SeededGenerator) -> ObjectState.Action? {
        let policy = DeletePolicy.allCases[Int.random(in: 0..<4, using: &random)]
        switch state.judgement {
        case .absent: return .edit(.birth, edits(of: ObjectFields(), &random))
        case .deleted: return state.lives.isBarred ? nil : .edit(.birth, edits(of: ObjectFields(), &random))
        case .undecided: return random.chance(60) ? .keep : .delete(policy)
        case .live(let births):
            if random.chance(12) { return .delete(policy) }
            let birth = births[Int.random(in: 0..<births.count, using: &random)]
            let life = Operation.LifeReference(to: birth, by: replica)
            if random.chance(20) { return .editAttachments(life, attachmentEdit(of: birth, &random)) }
            let edits = edits(of: state.fields(of: birth) ?? ObjectFields(), &random)
            return edits.isEmpty ? nil : .edit(life, edits)
        }
    }

    private func attachmentEdit(of life: Dot, _ random: inout SeededGenerator) -> AttachmentSet.Operation {
        let there = state.attachments(of: life)?.sorted ?? []
        if !there.isEmpty, random.chance(40) {
            return .detach(DotReference(there[Int.random(in: 0..<there.count, using: &random)].id, by: replica))
        }
        return .attach(.named(ExactString("f\(Int.random(in: 0..<3, using: &random))")))
    }

    private func edits(of fields: ObjectFields, _ random: inout SeededGenerator) -> [ObjectFields.Operation] {
        // One field once, so that each edit is planned against what it meets.
        let names: [ExactString] = ["a", "b", "c", "d", "e", "f", "g"]
        return names.filter { _ in random.chance(30) }.compactMap { name in
            if random.chance(15) { return fields.removing(name) }
            return edit(fields.state(of: name), &random).map { .update(name, $0) }
        }
    }

    private func edit(_ value: ReplicatedValue, _ random: inout SeededGenerator) -> ReplicatedValue.Operation? {
        let number = Int64.random(in: 0..<5, using: &random)
        switch Int.random(in: 0..<9, using: &random) {
        case 0: return .register(.set(.integer(number)))
        case 1: return .counter(.increment(by: number))
        case 2: return .set(random.chance(60) ? .add(.integer(number)) : .remove(.integer(number)))
        case 3: return .addOnlySet(.add(.integer(number)))
        case 4: return .constant(.set(.integer(number)))
        case 5:
            let index = Int.random(in: 0...value.list.count, using: &random)
            let inserted: [ReplicatedValue.Operation] = [
                .register(.set(.integer(number))), .counter(.increment(by: 1)),
            ]
            return value.list.operation(inserting: inserted, at: index, by: replica).map { .list($0) }
        case 6:
            let count = value.text.count
            if count > 2, random.chance(40) {
                return value.text.operation(deleting: 1..<count, by: replica).map { .text($0) }
            }
            return value.text.operation(inserting: "ab\(number)", at: count / 2, by: replica).map { .text($0) }
        case 7: return .dictionary(.update(ExactString("k\(number)"), .counter(.increment(by: number))))
        default:
            return value.dictionary.removing(ExactString("k\(number)")).map { .dictionary($0) } ?? .dictionary(.create)
        }
    }
}
