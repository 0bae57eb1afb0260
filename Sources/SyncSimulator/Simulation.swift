/// A run of one seed.
package struct Simulation: Sendable {
    package let seed: UInt64
    package let failure: CheckFailure?
    /// Hash over everything that happened: the same for the same seed in every process.
    package let digest: String
    /// The events of the run, a line each; empty unless requested.
    package let trace: [String]
    package let nodes: Int
    package let simulatedNanoseconds: Int64
    /// The time from the heal until all nodes were in step.
    package let healNanoseconds: Int64?
    package let framesSent: Int
    package let copies: CopyCounts

    /// - Parameter mixesVersions: nodes of two versions; what the seed decides otherwise is as without.
    package init(seed: UInt64, bug: PlantedBug? = nil, mixesVersions: Bool = false, tracing: Bool = false) {
        var world = World(seed: seed, bug: bug, mixesVersions: mixesVersions, tracing: tracing)
        world.run()
        self.seed = seed
        failure = world.failure
        digest = world.trace.digest
        trace = world.trace.lines
        nodes = world.nodes.count
        simulatedNanoseconds = world.now
        healNanoseconds = world.restedAt.flatMap { rest in world.healedAt.map { rest - $0 } }
        framesSent = world.framesSent
        copies = world.copyCounts
    }
}
