import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// A device tells members different things under one replica. If it is gone then, none is left that could say which of them stays, so
/// members may differ in the end (Decisions/24). Whatever else happens by chance, no two differ without a word of it.
@Suite struct AbsentAuthorTests {
    private static let members = 0..<4
    private static let author = 4

    /// The reason why the device is gone in the end.
    private enum Absence {
        /// It was stolen, takes nothing back of what it said, and was revoked.
        case revoked
        /// It was put back to an earlier moment while it ran, again and again, and then broke.
        case lost
        /// The same, and a member has retired it.
        case retired
        /// It was put back, and comes back in the end. Members may have retired it meanwhile, and half of the time have dropped what all
        /// had acknowledged before it was put back.
        case none

        static let forGood = [revoked, lost, retired]
    }

    /// A random history of the device and four members.
    private struct Story {
        let absence: Absence
        var mesh: Mesh
        var random: SplitMix64
        let key: RecoveryKey
        /// The events of each member.
        var said: [Int: Set<String>] = [:]
        /// The events that some device holds once all is over but the meeting.
        var held: Set<String> = []
        /// The devices that meet.
        let nodes: Range<Int>
    }

    private func story(_ absence: Absence, seed: UInt64) throws -> Story {
        var random = SplitMix64(seed: seed)
        let key = try #require(RecoveryKey(bytes: (0..<RecoveryKey.byteCount).map { UInt8($0) }))
        let compacts = absence == .none && seed % 4 > 1
        var mesh = try Mesh(5) { configuration in
            configuration.exchangesState = seed % 2 == 1 || compacts
            configuration.compacts = compacts
            if compacts {
                configuration.timing.compactAfter = .seconds(1)
                configuration.timing.compactEvery = .seconds(1)
                configuration.timing.acknowledgeAfter = .milliseconds(200)
                configuration.timing.acknowledgeEvery = .milliseconds(400)
            }
        }
        try mesh.joinAll()
        try mesh.order(0, .recoveryKey(key.publicKey))
        if Bool.random(using: &random) { try mesh.order(0, .role(mesh.nodes[Self.author].device.id, .admin)) }
        mesh.pass(seconds: 200)
        return Story(
            absence: absence, mesh: mesh, random: random, key: key, nodes: absence == .none ? 0..<5 : Self.members)
    }

    /// Writes, unless the device takes nothing because a thief revoked it.
    private func write(_ story: inout Story, _ node: Int, _ write: LocalWrite) throws -> Bool {
        do {
            if case .success = try story.mesh.append(node, write) { return true }
        } catch StoreError.retired {}
        return false
    }

    private func say(_ story: inout Story, _ node: Int, _ body: String) throws {
        let payload = Array("\"\(body)\"".utf8)
        let isWritten = try write(
            &story, node, .operations([.appendEvent(.init(stream: "log", type: nil, payload: payload))]))
        if isWritten, node != Self.author { story.said[node, default: []].insert(body) }
    }

    /// Runs the story to its end: the device is away, and the members meet until nothing moves.
    private func run(_ story: inout Story) throws {
        let isStolen = story.absence == .revoked
        var image = try story.mesh.image(of: Self.author)
        if isStolen { story.mesh.stubborn = [Self.author] }
        for node in Self.members { story.mesh.disconnect(node) }
        for number in 0..<Int.random(in: 20...60, using: &story.random) {
            let member = Int.random(in: Self.members, using: &story.random)
            let writer = Bool.random(using: &story.random) ? Self.author : member
            let key = Mesh.key("\(Int.random(in: 0..<4, using: &story.random))")
            switch Int.random(in: 0..<20, using: &story.random) {
            case 0...4: try say(&story, writer, "\(number) by \(writer)")
            case 5, 6:
                let title = JSONValue.Member(key: "title", value: .string(ExactString("by \(number)")))
                _ = try write(&story, writer, .planned([.put(key, .init(fields: [title]))]))
            case 7, 8: _ = try write(&story, writer, .planned([.delete(key, ifVersion: nil)]))
            case 9, 10: story.mesh.disconnect(writer)
            case 11...14:
                let other = Int.random(in: 0...Self.author, using: &story.random)
                if writer != other, !story.mesh.isConnected(writer, other) { story.mesh.connect(writer, other) }
                story.mesh.pass(seconds: Int64.random(in: 0...3, using: &story.random))
            case 15: image = try story.mesh.image(of: Self.author)
            case 16, 17: try story.mesh.putBack(Self.author, image, isStolen ? .ignoreOwnStatements : [])
            case 18 where isStolen:
                let victim = story.mesh.nodes[member].device.id
                _ = try write(&story, Self.author, .trust(TrustOrder(.revocation(victim, wipes: false))))
            case 18 where story.absence == .none && member != 0: try story.mesh.retire(member, Self.author)
            default: try story.mesh.restart(member)
            }
        }
        story.mesh.disconnect(Self.author)
        for node in story.nodes { story.held.formUnion(try story.mesh.said(node)) }
        try end(&story)
    }

    private func end(_ story: inout Story) throws {
        let device = story.mesh.nodes[Self.author].device.id
        if story.absence == .revoked { try order(&story, 0, .revocation(device, wipes: false)) }
        for round in 0..<10 {
            for left in story.nodes {
                for right in story.nodes where left < right && !story.mesh.isConnected(left, right) {
                    story.mesh.connect(left, right)
                }
            }
            story.mesh.pass(seconds: 40)
            switch story.absence {
            case .revoked: try admitAgain(&story)
            case .retired where round == 3: try story.mesh.retire(0, Self.author)
            case .lost, .retired, .none: break
            }
        }
    }

    private func order(_ story: inout Story, _ node: Int, _ action: TrustOrder.Action) throws {
        _ = try story.mesh.append(node, .trust(TrustOrder(action, recoveryKey: story.key)))
    }

    /// A person with the recovery key looks on each machine whether it refuses one of the others, and admits that one again there:
    /// what the thief said of it may stand in one of the thief's histories alone.
    private func admitAgain(_ story: inout Story) throws {
        let devices = story.mesh.nodes.map(\.device.id)
        for node in Self.members {
            let roles = try story.mesh.nodes[node].store.state().cuts.verdicts?.roles ?? [:]
            for other in Self.members where roles[devices[other]] == nil {
                try order(&story, node, .readmission(devices[other], other == 0 ? .admin : .writer))
            }
        }
    }

    /// What is wrong in the end.
    private func trouble(_ story: Story) throws -> [String] {
        let mesh = story.mesh
        let author = mesh.nodes[Self.author].device.id
        var trouble: [String] = []
        let isForked = mesh.nodes.map { node in node.core.forkedReplicas.contains { $0.device == author } }
        let digests = try mesh.nodes.map { try $0.store.state().digest }
        let isReported = isForked.contains(true)
        // Of one that is gone what no other device holds goes with it.
        let written = story.absence == .none ? story.held : Set(story.said.values.joined())
        for node in story.nodes {
            let (store, said) = (mesh.nodes[node].store, Set(try mesh.said(node)))
            if try story.absence == .none && !isReported && store.state().hasTakenBack {
                trouble.append("\(node) never writes again what it took back")
            }
            if try store.recomputedDigest(of: .home) != digests[node] { trouble.append("\(node) keeps a wrong sum") }
            let own = story.said[node, default: []].subtracting(said)
            if !own.isEmpty { trouble.append("\(node) lacks its own \(own.sorted())") }
            let lacks = written.subtracting(said)
            // Work of a third device that hangs from one of two histories waits where the other is held.
            let isWaiting = story.absence == .none ? isReported : isForked[node]
            if !isWaiting, !lacks.isEmpty { trouble.append("\(node) lacks \(lacks.sorted()), and is silent") }
            for other in mesh.nodes[node].core.forkedReplicas where other.device != author {
                trouble.append("\(node) takes \(other) for forked")
            }
            for other in story.nodes where other < node {
                if !mesh.isConnected(node, other) { trouble.append("\(other) and \(node) refuse each other") }
                guard digests[other] != digests[node], !isForked[node], !isForked[other] else { continue }
                trouble.append("\(other) and \(node) differ, and are silent")
            }
        }
        return trouble
    }

    @Test(arguments: Absence.forGood, 0..<60)
    private func `members with two histories of an absent device stay connected, and none differs in silence`(
        absence: Absence, seed: Int
    ) throws {
        var story = try story(absence, seed: UInt64(seed))
        try run(&story)
        let trouble = try trouble(story)
        #expect(trouble.isEmpty, "\(trouble.joined(separator: "\n"))")
    }

    @Test(arguments: 0..<120)
    private func `a device that was put back loses nothing when it returns, or the fork is reported`(seed: Int) throws {
        var story = try story(.none, seed: UInt64(seed))
        try run(&story)
        let trouble = try trouble(story)
        #expect(trouble.isEmpty, "\(trouble.joined(separator: "\n"))")
    }

    /// Otherwise the check would ask for nothing.
    @Test(arguments: Absence.forGood)
    private func `in some of these histories members differ`(absence: Absence) throws {
        let differing = try (0..<20).count { seed in
            var story = try story(absence, seed: UInt64(seed))
            try run(&story)
            return try Set(Self.members.map { try story.mesh.nodes[$0].store.state().digest }).count > 1
        }
        #expect(differing >= 5, "\(differing) of 20")
    }
}
