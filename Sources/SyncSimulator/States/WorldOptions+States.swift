import SyncCore
import SyncModel

extension WorldOptions {
    /// The exchange of state in place of changes, and the faults on its way.
    package struct States: Sendable, Equatable {
        /// The bound of `CoreConfiguration.Bounds`; small, because a run writes little.
        package var offerOperations: UInt64
        package var offerBytes: UInt64
        package var offerFactor: UInt64
        package var windowBytes: Int
        /// Frames of state in which a bit is another one, per 10,000.
        package var forgedPer10000: Int
        /// Frames of state that are lost, with those behind them coming.
        package var droppedPer10000: Int
        /// Frames of state that come once more.
        package var repeatedPer10000: Int
        /// Frames of state under which the connection is reset, per 10,000.
        package var resetsPer10000: Int
        /// A machine dies while it takes state, per 10,000 steps of taking it.
        package var deathsPer10000: Int

        /// The age of changes that are dropped; nil: all stay.
        package var retentionMilliseconds: Int64?
        /// The time from one pass of compaction to the next.
        package var compactMilliseconds: Int64

        /// Nil for three quarters of the seeds: a database takes time, and changes alone show other things.
        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init?(seed: UInt64) {
            var random = SplitMix64(seed: seed ^ 0x7374_6174_6521_2121)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            func share(_ percent: Int, upTo greatest: Int) -> Int {
                chance(percent) ? Int.random(in: 1...greatest, using: &random) : 0
            }
            guard chance(25) else { return nil }
            offerOperations = UInt64([1, 5, 20, 100][Int.random(in: 0..<4, using: &random)])
            offerBytes = chance(50) ? 0 : 2_000
            offerFactor = UInt64(Int.random(in: 0...2, using: &random))
            windowBytes = [600, 2_000, 20_000, 500_000][Int.random(in: 0..<4, using: &random)]
            forgedPer10000 = share(40, upTo: 600)
            droppedPer10000 = share(25, upTo: 300)
            repeatedPer10000 = share(25, upTo: 300)
            resetsPer10000 = share(50, upTo: 1_000)
            deathsPer10000 = share(50, upTo: 1_000)
            retentionMilliseconds = chance(70) ? [0, 2_000, 20_000][Int.random(in: 0..<3, using: &random)] : nil
            compactMilliseconds = [500, 1_000, 5_000][Int.random(in: 0..<3, using: &random)]
        }

        func adjust(_ bounds: inout CoreConfiguration.Bounds) {
            bounds.stateOfferOperations = offerOperations
            bounds.stateOfferBytes = offerBytes
            bounds.stateOfferFactor = offerFactor
            bounds.stateWindowBytes = windowBytes
        }
    }
}
