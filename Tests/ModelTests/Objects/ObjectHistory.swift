import LawHistories
import SyncModel

/// A history of one object id as its authors made it: nodes that write, hear of each other, and write again.
struct ObjectHistory {
    typealias Step = DeletionRules.Step
    typealias Entry = DeletionRules.Entry

    /// In an order that respects causality.
    private(set) var entries: [Entry] = []
    /// What each node holds.
    private(set) var held: [VersionVector]
    private var stamps: [Stamp]
    let replicas: [ReplicaID]

    /// Nodes are numbered from 0. Two nodes of one number modulo `deviceCount` are incarnations of one device.
    init(nodes: Int, devices: Int? = nil) {
        let deviceCount = devices ?? nodes
        replicas = (0..<nodes).map { Self.replica($0, devices: deviceCount) }
        held = replicas.map { _ in VersionVector() }
        stamps = replicas.map { _ in .zero }
    }

    static func device(_ number: Int) -> DeviceID {
        DeviceID(bytes: [UInt8](repeating: UInt8(number + 1), count: DeviceID.byteCount))!
    }

    private static func replica(_ node: Int, devices: Int) -> ReplicaID {
        ReplicaID(device: device(node % devices), incarnation: UInt64(node / devices))
    }

    /// All know all from the start.
    static func among(_ nodes: Int, devices: Int? = nil) -> ObjectHistory {
        var history = ObjectHistory(nodes: nodes, devices: devices)
        for node in 0..<nodes { history.write(.member(history.replicas[node].device), by: (node + 1) % nodes) }
        history.syncAll()
        return history
    }

    @discardableResult
    mutating func write(_ step: Step, by node: Int, at milliseconds: Int64 = 0) -> Dot {
        let replica = replicas[node]
        guard let stamp = Stamp.next(after: stamps[node], wallMilliseconds: milliseconds) else {
            preconditionFailure("a test's clock does not run out")
        }
        let origin = Origin(
            dot: Dot(replica: replica, counter: held[node].next(of: replica)), stamp: stamp, context: held[node])
        entries.append(Entry(step: step, origin: origin, wallMilliseconds: milliseconds))
        held[node].advance(replica, to: origin.dot.counter + 1)
        stamps[node] = stamp
        return origin.dot
    }

    /// `to` hears everything that `from` holds.
    mutating func sync(_ from: Int, to: Int) {
        held[to].join(held[from])
        stamps[to] = max(stamps[to], stamps[from])
    }

    /// `node` hears of one operation and no more. (Contexts of honest nodes are larger.)
    mutating func held(_ dot: Dot, by node: Int) { held[node].advance(dot.replica, to: dot.counter + 1) }

    mutating func syncAll() {
        for node in 1..<held.count { sync(node, to: 0) }
        for node in 1..<held.count { sync(0, to: node) }
    }

    func entries(at node: Int) -> [Entry] { entries.filter { held[node].covers($0.dot) } }

    /// What a node holds, applied in the order of writing.
    func lives(at node: Int) -> ObjectLives { Self.lives(of: entries(at: node)) }

    /// Everything, in the order of writing.
    var lives: ObjectLives { Self.lives(of: entries) }

    /// Everything, in another causal order.
    func lives(using random: inout SeededGenerator) -> ObjectLives { Self.lives(of: shuffled(&random)) }

    func shuffled(_ random: inout SeededGenerator) -> [Entry] {
        var waiting = entries
        var applied = VersionVector()
        var order: [Entry] = []
        while !waiting.isEmpty {
            let ready = waiting.indices.filter { index in
                let origin = waiting[index].origin
                return applied.covers(origin.context) && applied.next(of: origin.dot.replica) == origin.dot.counter
            }
            let entry = waiting.remove(at: ready[Int.random(in: 0..<ready.count, using: &random)])
            applied.advance(entry.dot.replica, to: entry.dot.counter + 1)
            order.append(entry)
        }
        return order
    }

    static func lives(of entries: [Entry]) -> ObjectLives {
        var player = ObjectPlayer()
        for entry in entries { player.apply(entry) }
        return player.lives
    }
}

/// Applies a history as a store does: members beside the object, and an index of what was applied to it.
struct ObjectPlayer {
    private(set) var lives = ObjectLives()
    private(set) var members = MemberFacts()
    private(set) var admissions: [Dot: ObjectLives.Admission] = [:]
    private var index: [ObjectLives.EarlierEdit] = []

    mutating func apply(_ entry: ObjectHistory.Entry) {
        let (origin, wall) = (entry.origin, entry.wallMilliseconds)
        switch entry.step {
        case .member(let device): members.add(device, role: .writer, at: origin.dot)
        case .birth:
            record(lives.bear(at: origin, span: 1, wallMilliseconds: wall), life: origin.dot, entry)
        case .edit(let life):
            let admission = lives.edit(life, at: origin, span: 1, wallMilliseconds: wall, members: members)
            record(admission, life: life, entry)
        case .delete(let policy):
            let index = index
            _ = lives.delete(policy, at: origin, wallMilliseconds: wall, members: members) { index }
        case .keep:
            let kept = lives.keep(at: origin, wallMilliseconds: wall, members: members) ?? []
            index.append(ObjectLives.EarlierEdit(lives: kept, dot: origin.dot, wallMilliseconds: wall))
        }
    }

    /// As if all members had acknowledged everything.
    mutating func collect() { _ = lives.collect { _ in true } }

    private mutating func record(_ admission: ObjectLives.Admission, life: Dot, _ entry: ObjectHistory.Entry) {
        admissions[entry.dot] = admission
        switch admission {
        case .applied, .droppedWhileDeleted:
            index.append(
                ObjectLives.EarlierEdit(lives: [life], dot: entry.dot, wallMilliseconds: entry.wallMilliseconds))
        case .unknownLife, .void, .repeated: break
        }
    }
}
