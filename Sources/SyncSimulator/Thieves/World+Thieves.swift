import SyncCore
import SyncModel
import SyncStore

// Admins change roles; a thief takes a machine and goes on.
extension World {
    /// After the heal, all must be right and in step within this: devices that were revoked are dialled less and less often.
    static let thievesPatienceNanoseconds: Int64 = 400_000_000_000

    mutating func planThieves(until end: Int64) {
        guard let options = options.thieves, var thieves else { return }
        defer { self.thieves = thieves }
        func moment(_ range: Range<Int64>) -> Int64 { Int64.random(in: range, using: &thieves.random) }
        queue.plan(.thief(.makeKey), at: 1_000_000_000)
        for _ in 0..<options.changes { queue.plan(.thief(.change), at: moment(2_000_000_000..<end)) }
        guard let thief = options.thief, let accomplice = options.accomplice else { return }
        let theft = moment(end / 4..<end / 2)
        if options.restoresDisk { queue.plan(.thief(.keepDisk), at: moment(end / 8..<theft)) }
        queue.plan(.thief(.steal), at: theft)
        if options.isNoticed { queue.plan(.thief(.notice), at: moment(theft..<end * 3 / 4)) }
        for _ in 0..<options.acts { queue.plan(.thief(.act), at: moment(theft..<end)) }
        for _ in 0..<options.departures { queue.plan(.thief(.retire), at: moment(theft..<end)) }
        for _ in 0..<max(4, self.options.appends / 8) {
            queue.plan(.write(node: thief), at: moment(theft..<end))
            queue.plan(.write(node: accomplice), at: moment(theft..<end))
        }
        for _ in 0..<options.forks { queue.plan(.thief(.fork), at: moment(theft..<end)) }
    }

    mutating func handle(_ step: ThiefStep) {
        switch step {
        case .makeKey: makeKey()
        case .change: changeRole()
        case .keepDisk: keepDisk()
        case .steal: steal()
        case .notice: notice()
        case .act: act()
        case .fork: fork()
        case .retire: retireAnother()
        case .putRight: putRight()
        }
    }

    private mutating func again(_ step: ThiefStep, after milliseconds: Int64) {
        queue.plan(.thief(step), at: now + milliseconds * 1_000_000)
    }

    // MARK: Nodes and roles

    /// True if the thief has the machine, or it is the accomplice's.
    func isOutlaw(_ node: Int) -> Bool {
        guard let thieves, let options = options.thieves else { return false }
        return node == options.accomplice || thieves.isStolen && node == options.thief
    }

    /// True if the thief has the machine, and writes two histories under one name.
    func isForging(_ node: Int) -> Bool { options.forkers.contains(nodes[node].device.id) && isOutlaw(node) }

    /// True if the node is no member in the end, and what it wrote need not be anywhere.
    func leaves(_ node: Int) -> Bool {
        guard let options = options.thieves else { return false }
        return node == options.thief || node == options.accomplice || node == options.lost
    }

    /// The nodes that are members in the end.
    var memberNodes: [Int] { nodes.indices.filter { !leaves($0) } }

    func isReader(_ node: Int) -> Bool {
        options.thieves != nil && nodes[node].core?.cuts.verdicts?.roles[nodes[node].device.id] == .reader
    }

    func storeFaults(of node: Int) -> StoreFaults {
        var faults = bug?.store ?? []
        if isOutlaw(node) { faults.insert(.ignoreOwnStatements) }
        if isForging(node) || nodes[node].writesOn { faults.insert(.reuseCounterAfterCrash) }
        return faults
    }

    /// The node through which a guest joins: a person chooses one that stays a member.
    func host(_ host: Int, of guest: Int) -> Int {
        guard let options = options.thieves, guest != options.accomplice else { return host }
        return options.isSteady(host) ? host : 0
    }

    /// Returns what an author says of a node when the two are paired.
    ///
    /// - Parameter isHost: true if the author joins through the node.
    func fact(about node: Int, isHost: Bool) -> MemberFact {
        let fact = nodes[node].device.fact
        guard let options = options.thieves else { return fact }
        return MemberFact(
            subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey, binding: fact.binding,
            discoveryKey: fact.discoveryKey, role: isHost ? .writer : options.role(of: node), name: fact.name,
            isHost: isHost, founder: nodes[0].device.id)
    }

    /// Returns a fact as the agent's loop has a device state it: with its founder, and at most its own role.
    func stated(_ fact: MemberFact, by author: Int) -> MemberFact {
        guard options.thieves != nil else { return fact }
        let role = roles(by: author)?[nodes[author].device.id] ?? .writer
        return fact.limited(to: role).following(nodes[0].device.id)
    }

    /// The roles of all members, as the node's store judges them; nil while the law has nothing to judge.
    func roles(by node: Int) -> [DeviceID: MemberFact.Role]? {
        (try? nodes[node].store?.logState())?.cuts.verdicts?.roles
    }

    /// - Returns: false when the disk refused.
    @discardableResult
    mutating func state(_ action: TrustOrder.Action, on node: Int, withKey: Bool = false) -> Bool {
        trace.record(now, node, "states \(action)\(withKey ? " with the key" : "")")
        if withKey, case .readmission(let device, _) = action { thieves?.readmitted.insert(device) }
        return commit(node, [.trust(TrustOrder(action, recoveryKey: withKey ? thieves?.key : nil))])
    }

    // MARK: Honest members

    private mutating func makeKey() {
        guard let key = thieves?.key else { return }
        if nodes[0].isUp, state(.recoveryKey(key.publicKey), on: 0) { return }
        again(.makeKey, after: 500)
    }

    /// An honest node whose device is an admin as far as it knows.
    private mutating func anyAdmin() -> Int? {
        let admins = nodes.indices.filter {
            nodes[$0].isUp && $0 != options.thieves?.thief && $0 != options.thieves?.accomplice
                && roles(by: $0)?[nodes[$0].device.id] == .admin
        }
        guard var random = thieves?.random else { return nil }
        let admin = admins.randomElement(using: &random)
        thieves?.random = random
        return admin
    }

    private mutating func changeRole() {
        guard isFaulty, let options = options.thieves, let author = anyAdmin(), var thieves else { return }
        defer { self.thieves?.random = thieves.random }
        guard let target = options.moving.filter({ $0 != author }).randomElement(using: &thieves.random),
            let state = try? nodes[author].store?.logState()
        else { return }
        let device = nodes[target].device.id
        guard state.members.additions.contains(where: { $0.device == device }) else { return }
        let role = MemberFact.Role.allCases.randomElement(using: &thieves.random) ?? .writer
        if state.cuts.isRevoked(device) {
            self.state(.readmission(device, role), on: author)
        } else if Int.random(in: 0..<3, using: &thieves.random) == 0 {
            self.state(.revocation(device, wipes: false), on: author)
        } else {
            self.state(.role(device, role), on: author)
        }
    }

    private mutating func notice() {
        guard isFaulty, let thief = options.thieves?.thief, let isStolen = thieves?.isStolen else { return }
        guard isStolen, let author = anyAdmin(),
            state(.revocation(nodes[thief].device.id, wipes: false), on: author)
        else { return again(.notice, after: 1_000) }
    }

    // MARK: The thief

    private mutating func keepDisk() {
        guard let thief = options.thieves?.thief, nodes[thief].isUp else { return }
        nodes[thief].backup = diskImage(of: thief)
    }

    private mutating func steal() {
        guard isFaulty, let options = options.thieves, let thief = options.thief else { return }
        guard nodes[thief].isUp, nodes[thief].durable.entries.count > 1 else { return again(.steal, after: 500) }
        thieves?.isStolen = true
        trace.record(now, thief, "is stolen")
        crash(thief, losingPower: false, restores: false)
        guard let image = nodes[thief].backup else { return }
        trace.record(now, thief, "gets an old disk")
        // No person pairs it anew with those that it has forgotten.
        putBack(thief, DiskImage(disk: image.disk, durable: image.durable, letIn: nodes[thief].letIn))
    }

    private mutating func fork() {
        guard isFaulty, let thief = options.thieves?.thief, isForging(thief), var random = thieves?.random else {
            return
        }
        guard nodes[thief].isUp else { return again(.fork, after: 1_000) }
        guard let point = thieves?.forkPoint else {
            let point = diskImage(of: thief)
            thieves?.forkPoint = point
            again(.fork, after: Int64.random(in: 500..<10_000, using: &random))
            thieves?.random = random
            return
        }
        thieves?.forkPoint = nil
        trace.record(now, thief, "writes on from an older disk")
        crash(thief, losingPower: false, restores: false)
        putBack(thief, DiskImage(disk: point.disk, durable: point.durable, letIn: nodes[thief].letIn))
    }

    private mutating func retireAnother() {
        guard isFaulty, let thief = options.thieves?.thief, isOutlaw(thief), nodes[thief].isUp else { return }
        trace.record(now, thief, "does a thief's retire")
        retire(from: thief)
    }

    private mutating func act() {
        guard isFaulty, let options = options.thieves, var thieves, thieves.isStolen,
            let thief = options.thief, let accomplice = options.accomplice
        else { return }
        let actors = [thief, accomplice].filter { nodes[$0].isUp && nodes[$0].isPaired }
        let actor = actors.randomElement(using: &thieves.random)
        let act = Thieves.Act.allCases.randomElement(using: &thieves.random) ?? .write
        let honest = nodes.indices.filter { $0 != thief && $0 != accomplice }
        let victim = honest.randomElement(using: &thieves.random) ?? 0
        self.thieves?.random = thieves.random
        guard let actor else { return }
        trace.record(now, actor, "does a thief's \(act)")
        switch act {
        case .admitAccomplice:
            if actor == thief, !nodes[accomplice].isPaired { pair(thief, accomplice) } else { write(actor) }
        case .revoke: state(.revocation(nodes[victim].device.id, wipes: false), on: actor)
        case .revokeAll:
            for node in honest { state(.revocation(nodes[node].device.id, wipes: false), on: actor) }
        case .lower: state(.role(nodes[victim].device.id, .reader), on: actor)
        case .raiseItself: state(.role(nodes[actor].device.id, .admin), on: actor)
        case .write: write(actor)
        }
    }
}
