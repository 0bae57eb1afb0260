package import SyncModel

/// The writes of a transaction to the log, computed before it begins: pure, the same for every store.
package struct LogPlan: Sendable {
    package struct Entry: Sendable {
        package let verified: VerifiedSegment
        package let scan: SegmentScan
        /// Arrival number of the segment's first event; of the next segment's when it has none.
        package let firstPosition: Int64
        /// The changes of other replicas that the author of these changes had seen.
        package let context: VersionVector
    }

    /// Segments that were held already are left out.
    package internal(set) var entries: [Entry] = []
    /// The state once it is written.
    package internal(set) var after: LogState
    /// True if a new retirement (a cut) came: changes that are stored already may be witnesses against it (`CutTable.witness`).
    var hasNewCuts = false
    /// Objects to compute anew, because changes on them that are held already became void, or are void no more.
    var rebuilt: [ObjectKey] = []
    package internal(set) var changesCuts = false
    /// The stored changes that are void wholly, before and after.
    private(set) var strictEnds: StrictEndMove
    /// Schemas made anew, because edits that are held already became void, or are void no more.
    var remadeSchemas: [ExactString: CollectionSchema] = [:]
    private var mayChangeSchemas = false
    /// The streams of which other stored events are shown than before.
    private var changedStreams: [ExactString] = []

    /// - Parameters:
    ///   - foldedEvents: of our own, counters of events that had arrival numbers already.
    ///   - strictEnds: given by a judgement outside the log, in place of those that follow from the segments.
    /// - Throws: `notApplicable`, with nothing to undo.
    package init(
        _ segments: [VerifiedSegment], on state: LogState, foldedEvents: [UInt64] = [],
        judging strictEnds: [ReplicaID: UInt64]? = nil
    ) throws(StoreError) {
        after = state
        self.strictEnds = StrictEndMove(staying: state.cuts)
        var known = Scanning(from: state, to: state, segments)
        // A setting among them, a drop, or a fact that ends a history: the segments before it count differently too. Facts
        // depend on no scan, and settings and drops on the ends alone: the third scan is the last.
        while true {
            for verified in segments { try add(verified, known, foldedEvents) }
            if let strictEnds { after.cuts.record(strictEnds: strictEnds, members: after.members) }
            let scanning = Scanning(from: state, to: after, segments)
            guard scanning != known else { break }
            known = scanning
            (after, entries) = (state, [])
        }
        changesCuts = after.cuts != state.cuts
    }

    /// Plans what other cuts change of what is stored.
    init(settling cuts: CutTable, on state: LogState) {
        after = state
        after.cuts = cuts
        strictEnds = StrictEndMove(staying: state.cuts)
        changesCuts = after.cuts != state.cuts
    }

    /// Plans residues that came as state, in an order their contexts allow, each as a segment of no change. Statements about
    /// streams come before all of them.
    ///
    /// - Throws: `notApplicable` for one that does not begin where its replica's history is held to.
    package init(
        residues: [VerifiedSegment], settings: [KeptStream], dropped: [SyncModel.Operation.EventDrop],
        on state: LogState
    ) throws(StoreError) {
        after = state
        strictEnds = StrictEndMove(staying: state.cuts)
        for setting in settings { after.keep(setting) }
        for drop in dropped { after.dropped.drop(drop.events, of: drop.stream) }
        let collecting = state.latestOnlyStreams.union(after.latestOnlyStreams)
        for residue in residues {
            let segment = residue.segment
            guard segment.start == after.held.next(of: segment.replica), segment.start < segment.end else {
                throw .notApplicable(segment.replica, at: segment.start)
            }
            let strictEnd = after.cuts.strictEnd(of: segment.replica)
            take(
                residue,
                SegmentScan(residue, collecting: collecting, dropped: after.dropped, strictEnd: strictEnd))
        }
    }

    /// The settings, drops and ends that affect how a segment is read.
    private struct Scanning: Equatable {
        /// Streams that are `latestOnly` before or after it.
        let collecting: Set<ExactString>
        let dropped: DroppedByStream
        /// The strict ends of the segments' replicas.
        private let strictEnds: [ReplicaID: UInt64]

        init(from before: LogState, to after: LogState, _ segments: some Sequence<VerifiedSegment>) {
            collecting = before.latestOnlyStreams.union(after.latestOnlyStreams)
            dropped = after.dropped
            var ends: [ReplicaID: UInt64] = [:]
            for verified in segments {
                ends[verified.segment.replica] = after.cuts.strictEnd(of: verified.segment.replica)
            }
            strictEnds = ends
        }

        func scan(_ verified: VerifiedSegment, _ foldedEvents: [UInt64] = []) -> SegmentScan {
            SegmentScan(
                verified, collecting: collecting, dropped: dropped, strictEnd: strictEnds[verified.segment.replica],
                foldedEvents: foldedEvents)
        }
    }

    /// Reads the segments again: settings, drops and ends are others than when they were read.
    ///
    /// - Parameter state: before the transaction.
    mutating func scanAgain(on state: LogState) {
        let scanning = Scanning(from: state, to: after, entries.lazy.map(\.verified))
        for index in entries.indices {
            let entry = entries[index]
            let scan = scanning.scan(entry.verified)
            after.digest -= entry.scan.digest
            after.digest += scan.digest
            after.counts.events += scan.eventCount - entry.scan.eventCount
            entries[index] = Entry(
                verified: entry.verified, scan: scan, firstPosition: entry.firstPosition, context: entry.context)
        }
    }

    private mutating func add(
        _ verified: VerifiedSegment, _ scanning: Scanning, _ foldedEvents: [UInt64]
    ) throws(StoreError) {
        let segment = verified.segment
        let next = after.held.next(of: segment.replica)
        if segment.end <= next { return }
        guard segment.start == next, verified.context.allSatisfy({ after.held.next(of: $0.replica) >= $0.next }) else {
            throw .notApplicable(segment.replica, at: segment.start)
        }
        let scan = scanning.scan(verified, foldedEvents)
        for setting in scan.settings { after.keep(setting) }
        take(verified, scan)
    }

    private mutating func take(_ verified: VerifiedSegment, _ scan: SegmentScan) {
        let segment = verified.segment
        if verified.isBeginning { after.recordFirst(VersionVector(verified.context), of: segment.replica) }
        let context = after.extendContext(of: segment.replica, by: verified.context)
        // Of what came as state the sender's table says what its changes say of cuts, each at its place.
        if verified.changeCount > 0 { record(scan.statements, of: segment, context) }
        for (counter, drop) in scan.drops {
            // Only what its author had seen: so a replica that learns of it lacks none of these.
            var seen = context
            seen.advance(segment.replica, to: counter)
            after.dropped.drop(drop.events.within(seen), of: drop.stream)
        }
        entries.append(
            Entry(verified: verified, scan: scan, firstPosition: after.lastPosition + 1, context: context))
        after.advance(segment.replica, to: verified.tip)
        after.digest += scan.digest
        after.counts.changes += Int64(verified.changeCount)
        after.counts.events += scan.eventCount
        after.lastPosition += scan.ordinalCount
    }

    /// Applies what the segments say of objects.
    ///
    /// - Parameter steady: objects to which it is applied already.
    package mutating func applyObjects(
        on state: LogState, steady: Set<ObjectKey> = [], _ reading: some ObjectSource, faults: ModelFaults = []
    ) throws(StoreError) -> ObjectPlan {
        var objects = ObjectPlan(on: state, cuts: after.cuts, steady: steady, faults: faults)
        for (name, schema) in remadeSchemas.sorted(by: { $0.key < $1.key }) {
            try objects.replace(schema, of: name, reading)
        }
        for key in rebuilt where try !objects.rebuild(key, reading) { after.isIncomplete = true }
        for entry in entries {
            let segment = entry.verified.segment
            var reader = ByteReader(segment.bytes)
            while !reader.isAtEnd {
                guard let view = try? ChangeView(&reader) else {
                    preconditionFailure("a verified segment reads back")
                }
                try objects.apply(view, in: segment, context: entry.context, reading)
            }
        }
        try objects.finish(reading)
        take(objects)
        return objects
    }

    /// Works out what streams show that keep only the greatest event per type.
    package mutating func applyStreams(
        on state: LogState, _ reading: some EventSource
    ) throws(StoreError) -> StreamPlan {
        let collected = entries.flatMap { entry in
            entry.scan.collected.map { event in
                var event = event
                event.position += entry.firstPosition
                return event
            }
        }
        let streams = try StreamPlan(
            from: state.streams, to: after.streams, dropping: after.dropped.changed(since: state.dropped),
            ends: strictEnds, collected: collected, reading)
        after.digest += streams.digestChange
        after.counts.events += streams.eventChange
        changedStreams = streams.runs.map(\.stream)
        return streams
    }

    /// Compares the strict ends with those of before the transaction.
    mutating func moveStrictEnds(from cuts: CutTable, held: VersionVector) {
        strictEnds = StrictEndMove(from: cuts, to: after.cuts, held: held)
    }

    /// Takes over what the same transaction does to objects.
    package mutating func take(_ objects: ObjectPlan) {
        after.digest += objects.digestChange
        after.counts.objects = objects.counts.objects
        after.counts.deletedObjects = objects.counts.deletedObjects
        after.counts.attachments = objects.counts.attachments
        after.counts.lateOperations = objects.counts.lateOperations
        after.objectPosition = objects.position
        mayChangeSchemas = !objects.changedSchemas.isEmpty
        after.members.join(objects.members)
    }

    /// The replicas of which nothing was held before.
    var begun: [ReplicaID] { entries.lazy.map(\.verified.segment).filter { $0.start == 0 }.map(\.replica) }

    /// Notes that something was forgotten because it is stable at this vector.
    package mutating func raiseFloor(to stable: VersionVector) { after.floor.join(stable) }

    /// Notes that of a replica no changes before this counter are held, or not all of them.
    package mutating func raiseFirstHeld(of replica: ReplicaID, to counter: UInt64) {
        after.firstHeld.advance(replica, to: counter)
    }

    /// The facts for the log of trust, in the order in which they come.
    var trust: [TrustFact] { entries.flatMap(\.scan.trust) }

    /// The streams that show other events than before, by those that came or by those that were stored already.
    var streams: Set<Name.Bytes> {
        Set(entries.flatMap { $0.scan.runs.lazy.filter { $0.count > 0 }.map { Name.Bytes($0.stream) } })
            .union(changedStreams.map { Name.Bytes($0.string) })
    }

    package var commit: Commit {
        Commit(
            segments: entries.map(\.verified), digest: after.digest, counts: after.counts,
            additions: entries.flatMap(\.scan.additions), lastPosition: after.lastPosition,
            streams: streams.sorted().map(\.text),
            objectPosition: after.objectPosition, mayChangeSchemas: mayChangeSchemas,
            cuts: changesCuts ? after.cuts : nil,
            ignoredRevocations: IgnoredRevocation.amongst(entries.lazy.flatMap(\.scan.statements)),
            isIncomplete: after.isIncomplete,
            laterAuthors: Set(entries.filter(\.scan.hasLaterOperations).map(\.verified.segment.replica.device)).sorted()
        )
    }
}
