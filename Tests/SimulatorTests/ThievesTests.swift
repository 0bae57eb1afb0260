import SyncModel
import SyncSimulator
import Testing

@Suite struct ThievesTests {
    @Test(arguments: 1...6) func `a world with roles comes to rest, whoever was stolen`(seed: UInt64) {
        let run = Simulation(seed: seed, kind: .thieves)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --thieves --trace")
    }

    /// A counter that was removed with void increments in it; one whose increments count again after it was removed; work of a
    /// device that was retired, and revoked before it came back; an edit that a deletion dropped, in an object that was taken whole.
    @Test(arguments: [270, 285, 330, 1511, 1611, 1624, 1775, 1965])
    func `a world that once broke a rule comes to rest`(seed: UInt64) {
        let run = Simulation(seed: seed, kind: .thieves)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --thieves --trace")
    }

    /// No member is whole; members hold two histories of the thief; some never heard of the recovery key; deletions were forgotten while
    /// a device was out that the key has admitted again.
    @Test(arguments: [(186, "incomplete"), (542, "forked"), (833, "revoked"), (1560, "diverged")])
    func `where members cannot come to the same, those that differ say so`(seed: UInt64, word: String) {
        let run = Simulation(seed: seed, kind: .thieves)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --thieves --trace")
        #expect(run.standstill?.contains(word) ?? false, "\(run.standstill ?? "it comes to rest")")
    }

    @Test func `where no member says why the world does not come to rest, the run fails`() {
        let run = Simulation(seed: 186, bug: .hideIncomplete, kind: .thieves)
        #expect(run.failure?.checker == "none differs in silence")
    }

    @Test func `the same seed gives the same digest with thieves, and another one than without`() {
        #expect(Simulation(seed: 11, kind: .thieves).digest == Simulation(seed: 11, kind: .thieves).digest)
        #expect(Simulation(seed: 11, kind: .thieves).digest != Simulation(seed: 11).digest)
    }

    @Test func `worlds have thieves of both roles, and readers, and are put right with the key and without`() {
        let worlds = (1...200).compactMap { WorldOptions(seed: $0, kind: .thieves).thieves }
        #expect(worlds.count == 200)
        #expect((1...200).allSatisfy { WorldOptions(seed: $0).thieves == nil })
        #expect(worlds.contains { $0.thief == nil && $0.forgets })
        #expect(worlds.allSatisfy { $0.thief == nil || !$0.forgets })
        for role in [MemberFact.Role.writer, .admin] {
            #expect(worlds.contains { world in world.thief.map { world.roles[$0] } == role })
        }
        #expect(worlds.contains { $0.roles.contains(.reader) } && worlds.contains { $0.lost != nil })
        #expect(worlds.contains { $0.usesKey && $0.helper != 0 } && worlds.contains { !$0.usesKey })
        #expect(worlds.contains { $0.forks > 0 } && worlds.allSatisfy { $0.thief != nil || $0.forks == 0 })
    }

    @Test func `the founder, and a machine on which all is put right, are never stolen`() {
        for world in (1...200).compactMap({ WorldOptions(seed: $0, kind: .thieves).thieves }) {
            #expect(world.thief != 0 && world.thief != world.helper && !world.moving.contains(world.helper))
            #expect(world.roles[0] == .admin && world.usesKey || world.helper == 0)
        }
    }

    @Test func `a thief is stolen, noticed and thwarted within the first worlds`() {
        let lines = (1...12).flatMap { Simulation(seed: $0, kind: .thieves, tracing: true).trace }
        let all = [
            "is stolen", "writes on from an older disk", "does a thief's revoke", "does a thief's retire",
            "gets an old disk", "with the key", "states revocation",
        ]
        for happened in all {
            #expect(lines.contains { $0.contains(happened) }, "no world has a line with \"\(happened)\"")
        }
    }
}
