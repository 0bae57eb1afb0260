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

    @Test(arguments: 1...6) func `a world of two versions comes to rest`(seed: UInt64) {
        let run = Simulation(seed: seed, kind: .mixed)
        #expect(run.failure == nil, "repeat it: lanyard-sim --seed \(seed) --mixed --trace")
    }

    @Test func `versions change no other option of a seed, and some worlds end with two of them`() {
        let worlds = (1...100).map { WorldOptions(seed: $0, kind: .mixed) }
        for (seed, world) in zip(1..., worlds) {
            var other = world
            other.versions = nil
            #expect(other == WorldOptions(seed: UInt64(seed)))
        }
        let versions = worlds.compactMap(\.versions)
        #expect(versions.count == worlds.count && versions.allSatisfy { $0.missing != 0 })
        #expect(versions.contains { $0.upgradePercent == 0 && $0.downgrades > 0 })
        #expect(versions.contains { $0.required != 0 })
    }

    @Test func `a node that lacks what a later version requires is refused, and comes to the same once it is upgraded`()
    {
        let seeds = (1...200 as ClosedRange<UInt64>).filter {
            WorldOptions(seed: $0, kind: .mixed).versions?.required ?? 0 != 0
        }
        let runs = seeds.prefix(4).map { Simulation(seed: $0, kind: .mixed, tracing: true) }
        #expect(runs.allSatisfy { $0.failure == nil })
        #expect(runs.contains { run in run.trace.contains { $0.contains("featureRequired") } })
    }

    @Test func `what a later version adds to a frame is ignored, and so is a frame of a later kind`() throws {
        let frames: [Frame] = [
            .ping(Frame.Ping(nonce: 7)), .bulkWanted, .haveRequest(Frame.HaveRequest(space: .home)),
            .goodbye(Frame.Goodbye(code: "shutdown", message: String(repeating: "m", count: 200))),
        ]
        for frame in frames {
            let later = LaterFrames.extended(try FrameCodec.encode(frame))
            #expect(try FrameCodec.decode(later) == frame && later != FrameCodec.encode(frame))
        }
        #expect(try FrameCodec.decode(LaterFrames.unknownKind) == nil)
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
