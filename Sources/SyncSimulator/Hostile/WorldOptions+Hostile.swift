import SyncCore

extension WorldOptions {
    /// A member that turned bad: it has keys of its own, speaks the protocol by hand, and keeps none of its rules.
    package struct Hostile: Sendable, Equatable {
        /// The number of its acts in the safety phase.
        package var acts: Int

        /// Nil for eight of nine seeds.
        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init?(seed: UInt64) {
            var random = SplitMix64(seed: seed ^ 0x7475_726e_6564_6261)
            guard Int.random(in: 0..<100, using: &random) < 12 else { return nil }
            acts = Int.random(in: 10...40, using: &random)
        }
    }

    /// Such a world has no forks and no copied keys of its own, so that each one that is reported is an invention; and no
    /// device that is let go, because the hostile one, which acknowledges nothing, would be waited for.
    mutating func makeRoomForHostile() {
        copies = nil
        restorePercent = 0
        retirements = 0
        corruptionsPer10000 = 0
        bounds.newReplicasAtOnce = 24
    }
}
