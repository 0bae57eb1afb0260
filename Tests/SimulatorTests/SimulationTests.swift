import SyncModel
import SyncSimulator
import SyncStore
import Testing

/// The many seeds, the fresh processes and all planted bugs run through `lanyard-sim` in deploy/test; here is what a
/// change to the simulator itself should not break.
@Suite struct SimulationTests {
    @Test func `the same seed gives the same digest, and another seed another`() {
        #expect(Simulation(seed: 11).digest == Simulation(seed: 11).digest)
        #expect(Simulation(seed: 11).digest != Simulation(seed: 12).digest)
    }

    @Test(arguments: 1...4) func `a world comes to rest`(seed: UInt64) {
        let run = Simulation(seed: seed)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --trace")
    }

    @Test func `every bug of blobs at rest, and of what moves them, can be planted`() {
        let planted = PlantedBug.allCases.filter { !$0.blobs.isEmpty || !$0.bulk.isEmpty }
        #expect(planted.allSatisfy { $0.expectedCheckers != nil })
    }

    @Test func `every bug of the model can be planted`() {
        let planted = PlantedBug.allCases.reduce(into: ModelFaults()) { $0.formUnion($1.model) }
        #expect(planted == .all)
        for bug in PlantedBug.allCases { #expect(bug.store.model == bug.model) }
    }
}
