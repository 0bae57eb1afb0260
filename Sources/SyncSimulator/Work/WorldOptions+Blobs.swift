package import SyncCore
import SyncModel

extension WorldOptions {
    /// The bytes of attachments, and the faults that befall them.
    package struct Blobs: Sendable, Equatable {
        /// Places in `BlobContent.all`: few, so that one file is attached to many objects.
        package var contents: [Int]
        /// The grace period of blobs that no record names, in milliseconds. A run is short, so this is, too.
        package var graceMilliseconds: Int64
        package var sweepMilliseconds: Int64
        /// The disk faults of the safety phase, in events per simulated minute.
        package var diskFaultsPerMinute: Double
        package var deathsPerMinute: Double
        package var rotPerMinute: Double
        package var liesPerMinute: Double
        package var resetsPerMinute: Double
        package var policyChangesPerMinute: Double
        package var personalFetchesPerMinute: Double
        /// Bulk frames that come seconds later than they would, per 10,000.
        package var latePer10000: Int
        /// Bulk frames under which the connection is reset, per 10,000.
        package var resetsPer10000: Int
        /// Bytes a second; nil: none.
        package var uploadLimit: UInt64?
        package var downloadLimit: UInt64?
        package var bounds: BulkConfiguration.Bounds
        /// Records of attachments that say another size than the blob has, of a hundred.
        package var wrongSizePercent: Int
        /// True if users that restricted what is fetched continue after the heal.
        package var keepsPolicies: Bool

        /// Nil for half of the seeds: bytes take time, and records alone show other things.
        /// - Parameter seed: of the world; drawn apart from its other options, which stay what they were.
        init?(seed: UInt64) {
            var random = SplitMix64(seed: seed ^ 0x626c_6f62_7320_2121)
            func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
            func rate(_ percent: Int, upTo greatest: Double) -> Double {
                chance(percent) ? Double.random(in: 1...greatest, using: &random) : 0
            }
            guard chance(50) else { return nil }
            let count = Int.random(in: 2...6, using: &random)
            contents = Array(BlobContent.all.indices.shuffled(using: &random).prefix(count))
            graceMilliseconds = [3_000, 10_000, 60_000][Int.random(in: 0..<3, using: &random)]
            sweepMilliseconds = Int64.random(in: 3_000...15_000, using: &random)
            diskFaultsPerMinute = rate(40, upTo: 6)
            deathsPerMinute = rate(50, upTo: 12)
            rotPerMinute = rate(25, upTo: 4)
            liesPerMinute = rate(40, upTo: 12)
            resetsPerMinute = rate(40, upTo: 10)
            policyChangesPerMinute = rate(40, upTo: 6)
            personalFetchesPerMinute = rate(50, upTo: 6)
            latePer10000 = chance(40) ? Int.random(in: 500...3_000, using: &random) : 0
            resetsPer10000 = chance(40) ? Int.random(in: 50...500, using: &random) : 0
            uploadLimit = chance(15) ? 1 << 20 : nil
            downloadLimit = chance(15) ? 1 << 20 : nil
            bounds = BulkConfiguration.Bounds()
            if chance(60) {
                // Small windows: met by blobs of few chunks.
                bounds.peerWindowBytes = 2 * BlobLayout.chunkBytes
                bounds.windowBytes = 3 * BlobLayout.chunkBytes
                bounds.requestChunks = 2
                // The greatest small blob, with what it takes to remember it, must fit.
                bounds.smallRequestBytes = BulkLimits.smallBytes + 1_024
                bounds.outboundBytes = 2 * BlobLayout.chunkBytes
            }
            keepsPolicies = chance(30)
            wrongSizePercent = chance(40) ? Int.random(in: 5...60, using: &random) : 0
        }
    }
}
