package import SyncStore

/// The histograms of what the store is asked to write. What it takes to be on the disk is part of each
/// (`SQLiteStore.syncs`).
package struct StoreMeasures: Sendable {
    /// Groups of local writes, each one commit.
    package let commits = DurationHistogram(bounds: DurationCounts.diskBounds)
    /// Batches of peers' changes, each one commit.
    package let applies = DurationHistogram(bounds: DurationCounts.diskBounds)
}
