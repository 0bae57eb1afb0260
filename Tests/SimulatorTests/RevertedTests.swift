import SyncSimulator
import Testing

@Suite struct RevertedTests {
    @Test(arguments: 1...6) func `a world with machines that are put back while they run comes to rest`(seed: UInt64) {
        let run = Simulation(seed: seed, kind: .reverted)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --reverted --trace")
    }

    /// A device built on a history that would have to give way to a shorter one: no node can put its work behind that.
    @Test func `where none of two histories can give way, members say so`() {
        let run = Simulation(seed: 137, kind: .reverted)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed 137 --reverted --trace")
        #expect(run.standstill?.contains("forked") ?? false, "\(run.standstill ?? "it comes to rest")")
    }

    /// In the first, a machine took a state over a history of its own that is another one there; in the second, a node that says `forked`
    /// took one in which the other history is longer; in the third, a machine handed one over that it took back a moment later.
    @Test(arguments: [50, 92, 183]) func `no state is put together of two histories`(seed: UInt64) {
        let run = Simulation(seed: seed, kind: .reverted)
        #expect(run.failure == nil && run.standstill == nil, "repeat it: lanyard-sim --seed \(seed) --reverted --trace")
        #expect(WorldOptions(seed: seed, kind: .reverted).states != nil)
    }

    @Test func `machines are put back before and after others heard them, and take their history back`() {
        let worlds = (1...200).compactMap { WorldOptions(seed: $0, kind: .reverted).reverts }
        #expect(worlds.count == 200 && (1...200).allSatisfy { WorldOptions(seed: $0).reverts == nil })
        #expect(
            worlds.contains { $0.nodes.count == 2 } && worlds.contains { $0.isSlow } && !worlds.allSatisfy(\.isSlow))
        let lines = (1...12).flatMap { Simulation(seed: $0, kind: .reverted, tracing: true).trace }
        for happened in [
            "is put back while it runs", "takes back what others have otherwise", "does again what it took back",
        ] {
            #expect(lines.contains { $0.contains(happened) }, "no world has a line with \"\(happened)\"")
        }
    }
}
