import SyncCore
import SyncModel

extension WorldOptions {
    /// The faults of whole disks beside `restorePercent`: careless users, and disks that lie.
    package struct Copies: Sendable, Equatable {
        /// Crashes that take the newest commits of the disk along, though these were answered and sent.
        package var lostTailsPerMinute: Double
        /// The time before such a crash at which the disk was in the state found after it.
        package var tailMilliseconds: ClosedRange<Int64>
        /// Machines that run from a copy of another one's disk, its keys included, beside it.
        package var clones: Int

        /// Nil for two thirds of the seeds.
        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init?(seed: UInt64) {
            var random = SplitMix64(seed: seed ^ 0x636f_7069_6573_2121)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            guard chance(34) else { return nil }
            lostTailsPerMinute = chance(75) ? Double.random(in: 1...6, using: &random) : 0
            tailMilliseconds = 1...([20, 500, 5_000][Int.random(in: 0..<3, using: &random)])
            clones = chance(60) ? Int.random(in: 1...2, using: &random) : 0
        }
    }
}

extension WorldOptions {
    /// True if nodes forget deletions. A node with an old disk needs what the others have forgotten, as state if not as
    /// changes. Two holders of one key acknowledge for each other: until one has keys of its own, nothing that both have not
    /// seen may be forgotten.
    var forgetsDeletions: Bool {
        if let thieves, !thieves.forgets { return false }
        if let copies, copies.clones > 0 { return false }
        if reverts != nil { return false }
        return states != nil || restorePercent == 0 && (copies?.lostTailsPerMinute ?? 0) == 0
    }
}

/// The number of times a disk was not as its machine had left it.
package struct CopyCounts: Sendable, Equatable {
    /// Older states that a person put back.
    package var restores = 0
    package var lostTails = 0
    /// Copies that ran beside their originals, and were given keys of their own.
    package var clones = 0
    /// Machines that were put back while they ran.
    package var reverts = 0
    /// The number of these cases, of all kinds, in which a node could have taken state, or had dropped changes.
    package var besideStates = 0
    /// Times that a core said that a key is used twice.
    package var noticedTwins = 0

    package var sum: Int { restores + lostTails + clones + reverts }

    package static func += (left: inout CopyCounts, right: CopyCounts) {
        left.restores += right.restores
        left.lostTails += right.lostTails
        left.clones += right.clones
        left.reverts += right.reverts
        left.besideStates += right.besideStates
        left.noticedTwins += right.noticedTwins
    }
}
