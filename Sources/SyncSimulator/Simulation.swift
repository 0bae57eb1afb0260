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
    /// The words of members in a world of thieves that does not come to rest; nil elsewhere.
    package let standstill: String?

    /// - Parameter kind: the kind of world; what the seed decides otherwise is as in the plain one.
    package init(seed: UInt64, bug: PlantedBug? = nil, kind: WorldKind = .plain, tracing: Bool = false) {
        var world = World(seed: seed, bug: bug, kind: kind, tracing: tracing)
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
        standstill = world.failure == nil ? world.standstill?.description : nil
    }
}
