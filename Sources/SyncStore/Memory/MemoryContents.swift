import SyncModel

/// The contents of a memory store's disk: a value, so that a copy of a disk is an assignment.
struct MemoryContents: Sendable {
    struct StoredSegment: Sendable {
        let verified: VerifiedSegment
        let firstPosition: Int64
    }

    /// The events of one stream in one stored segment.
    struct StoredRun: Sendable {
        let replica: ReplicaID
        /// Index in `segments[replica]`.
        let segment: Int
        var run: SegmentScan.Run
        let lastPosition: Int64
    }

    struct SegmentPlace: Hashable, Sendable {
        let replica: ReplicaID
        /// Index in `segments[replica]`.
        let index: Int
    }

    struct ConsumerKey: Hashable, Comparable, Sendable {
        let name: Name.Bytes
        let stream: Name.Bytes

        init(name: String, stream: String) {
            self.name = Name.Bytes(name)
            self.stream = Name.Bytes(stream)
        }

        static func < (left: ConsumerKey, right: ConsumerKey) -> Bool {
            left.name == right.name ? left.stream < right.stream : left.name < right.name
        }
    }

    var log: LogState
    /// The stored segments, in the order of their counters.
    var segments: [ReplicaID: [StoredSegment]] = [:]
    /// The runs of each stream, in the order of their positions.
    var runs: [Name.Bytes: [StoredRun]] = [:]
    var additions: [Membership.Addition] = []
    var objects: [ObjectKey: StoredObject] = [:]
    var schemas: [ExactString: CollectionSchema] = [:]
    /// The segments with operations on the object, in the order of their arrival.
    var touches: [ObjectKey: [SegmentPlace]] = [:]
    /// The references to blobs, unneeded ones included until they are forgotten.
    var references: [BlobHash: BlobReference] = [:]
    var fetching = MemoryFetching()
    /// The latest events of streams that show only the greatest event per type.
    var latest: [EventKind: RankedEvent] = [:]
    var own: ReplicaID?
    var consumers: [ConsumerKey: Consumer] = [:]
    /// The addresses, in the order in which they were first remembered.
    var addresses: [PeerAddress] = []
    var tickets: [TicketRecord] = []
    var blocked: Set<DeviceID> = []
    var acknowledgements: [DeviceID: SignedAcknowledgement] = [:]
    /// The work taken back, in the order of writing.
    var takenBack: [TakenBack] = []
    var takenBackPlaces: [Rewriting] = []
    /// The segments that wait, for each replica in the order of counters.
    var heldBack: [HeldBack] = []
    var settled: Set<ReplicaID> = []
    var gaveWay: [ReplicaID: Set<ChainEnd>] = [:]

    /// The answers, in the order of writing.
    var answers: [AnsweredWrite] = []

    init(space: SpaceID) { log = LogState(space: space) }

    mutating func write(_ streams: StreamPlan) {
        for (stream, _, shorter) in streams.dropped {
            let name = Name.Bytes(stream.string)
            for run in shorter {
                guard let index = runs[name]?.firstIndex(where: { $0.lastPosition == run.lastPosition }) else {
                    preconditionFailure("a run that loses events is there")
                }
                runs[name]?[index].run.count -= run.droppedCount
                if run.isEmpty { runs[name]?.remove(at: index) }
            }
            if runs[name]?.isEmpty ?? false { runs[name] = nil }
        }
        for stream in streams.cleared { latest = latest.filter { $0.key.stream != stream } }
        for event in streams.latest { latest[event.kind] = event }
    }

    /// - Parameter wallMilliseconds: the release time of blobs that become unneeded.
    mutating func write(_ plan: LogPlan, _ objects: ObjectPlan, at wallMilliseconds: Int64) {
        for entry in plan.entries {
            let replica = entry.verified.segment.replica
            segments[replica, default: []].append(
                StoredSegment(verified: entry.verified, firstPosition: entry.firstPosition))
            for run in entry.scan.runs {
                runs[Name.Bytes(run.stream), default: []].append(
                    StoredRun(
                        replica: replica, segment: segments[replica]!.count - 1, run: run,
                        lastPosition: entry.firstPosition + run.lastOrdinal))
            }
            additions += entry.scan.additions
        }
        for change in objects.changedSchemas { schemas[change.name] = change.after }
        for entry in objects.changed {
            let key = entry.object.key
            self.objects[key] = entry.object
            self.objects[key]?.summary.forgetTables()
            write(entry.attachmentDifference, at: wallMilliseconds)
            for dot in entry.dots {
                guard let index = segments[dot.replica]?.lastIndex(where: { $0.verified.segment.start <= dot.counter })
                else { preconditionFailure("an operation is in a segment") }
                let place = SegmentPlace(replica: dot.replica, index: index)
                if touches[key]?.last != place { touches[key, default: []].append(place) }
            }
        }
        log = plan.after
    }

    func reader(of stored: StoredRun) -> RunReader? {
        guard let segment = segments[stored.replica]?[stored.segment],
            let places = EventPlaces.decoded(stored.run.places.bytes)
        else { return nil }
        return RunReader(
            replica: stored.replica, stream: stored.run.stream, firstPosition: segment.firstPosition, places: places,
            bytes: segment.verified.segment.bytes, dropped: log.dropped[ExactString(stored.run.stream)])
    }

    /// The chain head at a counter where a stored segment ends; nil elsewhere.
    func head(of replica: ReplicaID, at end: UInt64) -> ChainHead? {
        if end == 0 { return ChainHead(space: log.space, replica: replica) }
        return segments[replica]?.first { $0.verified.segment.end == end }?.verified.tip.head
    }
}
