import EndsModel
import SyncModel
import Testing

/// Holds the agent's law (`TrustLaw`) against the model, which shares no code with it.
///
/// The agent leaves the ends that a fact names as they are, so the model is asked without its floor. What no known fact
/// connects with the founder, the agent leaves alone, since a newcomer may know too little; the model does not.
@Suite struct TrustLawTests {
    @Test func `the agent's law gives the roles and ends of the model in 3,000 histories by chance`() {
        var (outs, ends) = (0, 0)
        for seed in 0..<UInt64(3_000) {
            let facts = Roles.RandomHistories(rules: Self.rules).history(seed: seed).facts
            let world = World(facts)
            let model = Roles.Law(facts, rules: Self.rules)
            for device in model.devices {
                let role = model.role(of: device, model.state)
                let own = world.law.role(of: World.device(device)).map(World.role) ?? .none
                #expect(own == role, "seed \(seed): \(device) is \(own), by the model \(role)\n\(world.story)")
                if role == .none { outs += 1 }
            }
            for fact in facts where fact.kind == .write && world.isConnected(fact.author) {
                let isVoid = fact.counter >= world.law.strictEnd(of: World.replica(fact.replica)).clamped
                let expected = model.isVoid(fact, model.state)
                #expect(isVoid == expected, "seed \(seed): \(fact) is void: \(isVoid)\n\(world.story)")
                if expected { ends += 1 }
            }
            for fact in facts where [.revoke, .setRole, .readmit].contains(fact.kind) {
                let counts = model.state.ends.contains(fact.id) || model.state.grants.contains(fact.id)
                #expect(world.counts(fact) == counts, "seed \(seed): \(fact) counts: \(!counts)\n\(world.story)")
            }
        }
        #expect(outs > 1_000 && ends > 100, "the histories decide something: \(outs), \(ends)")
    }

    private static let rules = Roles.Rules.planted(.noFloor, in: .agent)
}

/// The facts of a history as the agent's tables.
private struct World {
    let law: TrustLaw
    let story: String
    private let dots: [Dot]

    init(_ facts: [Roles.Fact]) {
        let key = RecoveryKey(bytes: Array(repeating: 7, count: 32))!
        var table = TrustTable()
        var additions: [TrustLaw.Addition] = []
        let dots = facts.map { Dot(replica: Self.replica($0.replica), counter: UInt64($0.counter)) }
        for fact in facts {
            let dot = dots[fact.id]
            let context = VersionVector(
                fact.past.map { dots[$0] }.filter { $0.replica != dot.replica }
                    .map { VersionVector.Entry(replica: $0.replica, next: $0.counter + 1) })
            if fact.counter == 0 { table.recordStart(of: dot.replica, context: context) }
            guard let target = fact.target.map(Self.device) else {
                // What an agent says of a device that is back gives it nothing: the model does not know of such facts.
                if fact.kind == .write { additions.append(Self.anyReturn(of: facts, at: dot)) }
                continue
            }
            let ends = fact.counters.entries.map {
                TrustStatement.End(incarnation: UInt64($0.replica.number), end: UInt64($0.counter))
            }.sorted { $0.incarnation < $1.incarnation }
            let content: TrustStatement.Content
            switch fact.kind {
            case .add:
                additions.append(TrustLaw.Addition(device: target, role: Self.role(fact.role)!, dot: dot))
                continue
            case .setRole: content = .role(target, Self.role(fact.role)!, ends: ends)
            case .readmit: content = .readmission(target, Self.role(fact.role)!, ends: ends)
            case .revoke: content = .revocation(target, ends: ends, wipes: false)
            case .acknowledge, .write, .yield: continue
            }
            var knows = VersionVector(context.entries)
            knows.advance(dot.replica, to: dot.counter)
            let statement =
                fact.isRecovery
                ? TrustStatement(content, by: key, knows: knows, at: dot, in: .home)
                : TrustStatement(content, by: .author, knows: knows, at: dot, in: .home) { _ in
                    Array(repeating: 0, count: 64)
                }
            table.record(statement, at: dot, context: context)
        }
        self.dots = dots
        law = TrustLaw(
            table, additions, founder: Self.device(.founder), key: key.publicKey, space: .home)
        story = facts.map(\.description).joined(separator: "\n")
    }

    /// A return of a device that the history is about, as an admin.
    private static func anyReturn(of facts: [Roles.Fact], at dot: Dot) -> TrustLaw.Addition {
        let targets = facts.compactMap(\.target)
        let target = targets.isEmpty ? .founder : targets[Int(dot.counter) % targets.count]
        return TrustLaw.Addition(device: device(target), role: .admin, isReturn: true, dot: dot)
    }

    func counts(_ fact: Roles.Fact) -> Bool {
        law.rows.firstIndex { $0.dot == dots[fact.id] }.map(law.counts) ?? false
    }

    /// False where the agent waits for the fact that admits the device.
    func isConnected(_ device: Roles.Device) -> Bool {
        law.isConnected(Self.device(device))
    }

    static func device(_ device: Roles.Device) -> DeviceID {
        DeviceID(bytes: Array(repeating: UInt8(device.index), count: DeviceID.byteCount))!
    }

    static func replica(_ replica: Roles.Replica) -> ReplicaID {
        ReplicaID(device: device(replica.device), incarnation: UInt64(replica.number))
    }

    static func role(_ role: Roles.Role) -> MemberFact.Role? {
        switch role {
        case .none: nil
        case .reader: .reader
        case .writer: .writer
        case .admin: .admin
        }
    }

    static func role(_ role: MemberFact.Role) -> Roles.Role {
        switch role {
        case .reader: .reader
        case .writer: .writer
        case .admin: .admin
        }
    }
}

extension UInt64 {
    fileprivate var clamped: Int { Int(clamping: self) }
}
