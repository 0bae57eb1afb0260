package import SyncModel

/// The result of one durable transaction.
package struct Commit: Sendable, Equatable {
    /// The segments that may be served from now on, in the order they were applied: first those that the commit sealed, then those
    /// that it authored.
    package var segments: [VerifiedSegment]
    /// The state digest after it.
    package var digest: Sum256
    package var counts: StoreCounts
    /// Add-facts it brought, in order.
    package var additions: [Membership.Addition]
    package var lastPosition: Int64
    /// Streams that got events, sorted, each once.
    package var streams: [String]
    /// The position of the newest change to an object.
    package var objectPosition: Int64
    /// True if a collection may have another schema than before, and so show its objects in another way.
    package var mayChangeSchemas: Bool
    /// All cuts, where this moved one; nil else.
    package var cuts: CutTable?
    /// The ignored revocations, at most one per author.
    package var ignoredRevocations: [IgnoredRevocation]
    /// See `LogState`.
    package var isIncomplete: Bool
    /// The devices that wrote operations which this version does not know, sorted.
    package var laterAuthors: [DeviceID]

    package init(
        segments: [VerifiedSegment], digest: Sum256, counts: StoreCounts, additions: [Membership.Addition],
        lastPosition: Int64, streams: [String], objectPosition: Int64, mayChangeSchemas: Bool = false,
        cuts: CutTable? = nil,
        ignoredRevocations: [IgnoredRevocation] = [], isIncomplete: Bool = false, laterAuthors: [DeviceID] = []
    ) {
        self.segments = segments
        self.digest = digest
        self.counts = counts
        self.additions = additions
        self.lastPosition = lastPosition
        self.streams = streams
        self.objectPosition = objectPosition
        self.mayChangeSchemas = mayChangeSchemas
        self.cuts = cuts
        self.ignoredRevocations = ignoredRevocations
        self.isIncomplete = isIncomplete
        self.laterAuthors = laterAuthors
    }
}

extension Commit {
    /// A commit that added no segment.
    init(nothingOn state: LogState) {
        self.init(
            segments: [], digest: state.digest, counts: state.counts, additions: [], lastPosition: state.lastPosition,
            streams: [], objectPosition: state.objectPosition, isIncomplete: state.isIncomplete)
    }

    /// Returns this commit joined to an earlier one, `first`, that brought no events.
    func behind(_ first: Commit) -> Commit {
        var both = self
        both.segments = first.segments + segments
        both.additions = first.additions + additions
        both.mayChangeSchemas = mayChangeSchemas || first.mayChangeSchemas
        both.cuts = cuts ?? first.cuts
        both.ignoredRevocations = first.ignoredRevocations + ignoredRevocations
        both.laterAuthors = Set(first.laterAuthors + laterAuthors).sorted()
        return both
    }

    /// Returns the commit with the segments ready to be served: the sealed ones, and its own if sealed. Open commits
    /// are not served.
    func serving(_ sealed: [VerifiedSegment], andOwn isSealed: Bool) -> Commit {
        var commit = self
        commit.segments = sealed + (isSealed ? segments : [])
        return commit
    }
}
