package import SyncModel

/// What one durable transaction did.
package struct Commit: Sendable, Equatable {
    /// In the order they were applied; for an append, the ones authored.
    package var segments: [VerifiedSegment]
    /// The state digest after it.
    package var digest: Sum256
    package var counts: StoreCounts
    /// Add-facts it brought, in order.
    package var additions: [Membership.Addition]
    package var lastPosition: Int64
    /// Streams that got events, sorted, each once.
    package var streams: [String]
    /// Of the newest change to an object.
    package var objectPosition: Int64

    package init(
        segments: [VerifiedSegment], digest: Sum256, counts: StoreCounts, additions: [Membership.Addition],
        lastPosition: Int64, streams: [String], objectPosition: Int64
    ) {
        self.segments = segments
        self.digest = digest
        self.counts = counts
        self.additions = additions
        self.lastPosition = lastPosition
        self.streams = streams
        self.objectPosition = objectPosition
    }
}
