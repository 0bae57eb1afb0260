import SyncCore

extension WorldOptions {
    /// Nodes of two versions in one world: an earlier one that lacks features, and one after the present, which has them all and
    /// says more.
    package struct Versions: Sendable, Equatable {
        /// The feature bits that the earlier version does not know.
        package var missing: UInt64
        /// The feature bits that the later version requires of its peers; of them the earlier one lacks some, or there are none.
        package var required: UInt64
        /// The percentage of nodes that begin with the earlier version.
        package var earlierPercent: Int
        /// The percentage of those that are upgraded in the safety phase. All are where the world would not come to rest
        /// without what the earlier version lacks.
        package var upgradePercent: Int
        /// The number of times that a node is put back to the earlier version for a while.
        package var downgrades: Int

        /// - Parameters:
        ///   - seed: of the world; drawn apart from its other options, which stay what they were.
        ///   - kept: the feature bits that the earlier version has in any case.
        ///   - needed: the feature bits without which the world does not come to rest.
        init(seed: UInt64, keeping kept: UInt64, needing needed: UInt64) {
            var random = SplitMix64(seed: seed ^ 0x7665_7273_696f_6e73)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            func subset(of bits: UInt64) -> UInt64 {
                var subset: UInt64 = 0
                for bit in 0..<64 where bits & 1 << UInt64(bit) != 0 && chance(50) { subset |= 1 << UInt64(bit) }
                return subset
            }
            let optional = SessionProtocol.features & ~kept
            missing = subset(of: optional)
            // One seed in four has an agent that knows nothing but the frames of every version.
            if missing == 0 || chance(25) { missing = optional }
            required = chance(25) ? subset(of: missing) : 0
            earlierPercent = [30, 60, 90][Int.random(in: 0..<3, using: &random)]
            upgradePercent = [0, 50, 100][Int.random(in: 0..<3, using: &random)]
            if missing & (needed | required) != 0 { upgradePercent = 100 }
            downgrades = chance(40) ? Int.random(in: 1...2, using: &random) : 0
        }

        /// A feature bit that no version has yet.
        private static let unknownFeature: UInt64 = 1 << 40

        var earlier: SimulatedVersion {
            SimulatedVersion(features: SessionProtocol.features & ~missing, featuresRequired: 0, isLater: false)
        }

        var later: SimulatedVersion {
            SimulatedVersion(
                features: SessionProtocol.features | Self.unknownFeature, featuresRequired: required, isLater: true)
        }
    }

    /// Draws versions for a world that has all its other options.
    mutating func mixVersions(seed: UInt64) {
        var (kept, needed): (UInt64, UInt64) = (0, 0)
        // A retirement is finalized, and void work written again, by acknowledgements.
        if retirements > 0 { needed |= SessionProtocol.acknowledgements }
        if blobs != nil { needed |= SessionProtocol.bulk }
        let haveOldDisks = restorePercent > 0 || copies != nil
        // Where a history is taken back, acknowledgements also tell which work others hold and need not be done again.
        if haveOldDisks { kept |= SessionProtocol.acknowledgements }
        if states == nil {
            // No node announces it.
            kept |= SessionProtocol.state
        } else if haveOldDisks || retirements > 0 {
            // A node with an old disk, or back from a retirement, needs state before it is sent a change.
            kept |= SessionProtocol.state
        } else {
            needed |= SessionProtocol.state
        }
        versions = Versions(seed: seed, keeping: kept, needing: needed)
    }
}
