import SyncCore
import SyncModel

extension WorldOptions {
    /// Machines that are put back to an earlier moment while they run: nothing tells the agent, and it writes on under
    /// counters that others may have of it already.
    package struct Reverts: Sendable, Equatable {
        /// The machines; all others are only crashed.
        package private(set) var nodes: [Int]
        /// The number of times that one of them is put back.
        package private(set) var count: Int
        /// The time by which it is put back.
        package private(set) var milliseconds: ClosedRange<Int64>
        /// True if the network is slow, and acknowledgements are not.
        package private(set) var isSlow: Bool

        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init(seed: UInt64, nodes all: Int) {
            var random = SplitMix64(seed: seed ^ 0x7265_7665_7274_6564)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            nodes = Array((0..<all).shuffled(using: &random).prefix(chance(30) ? 2 : 1)).sorted()
            count = Int.random(in: 1...3, using: &random)
            milliseconds = 1...([500, 5_000, 20_000][Int.random(in: 0..<3, using: &random)])
            isSlow = chance(50)
        }
    }

    /// Keeps out of the world all else that happens to disks, and holds all that was written, to be looked at.
    mutating func revertMachines(seed: UInt64) {
        hostile = nil
        copies = nil
        retention = nil
        blobs = nil
        restorePercent = 0
        retirements = 0
        // A relay that was found to alter a history is not looked into again: its own history looks the same.
        corruptionsPer10000 = 0
        let drawn = Reverts(seed: seed, nodes: nodes - lateJoiners)
        // What each says of itself crosses what the other says.
        if drawn.isSlow {
            delayMilliseconds = 0...1_000
            acknowledgeMilliseconds = 200
            widenStateWindow()
        }
        reverts = drawn
    }
}

extension WorldOptions {
    /// The devices that write two histories under one name: a thief, or a machine that is put back while it runs.
    var forkers: Set<DeviceID> {
        var nodes = reverts?.nodes ?? []
        if let thieves, thieves.forks > 0, let thief = thieves.thief { nodes.append(thief) }
        return Set(nodes.map { SimulatedDevice.all[$0].id })
    }
}
