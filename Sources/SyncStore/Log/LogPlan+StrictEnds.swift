import SyncModel

// The effects of a moved strict end on all but objects.
extension LogPlan {
    /// Decides what streams, their settings and schemas are once strict ends have moved. The events of a moved range are hidden
    /// or shown again by `applyStreams`.
    ///
    /// A drop of events that becomes void stays done: nothing tells whether the events are still in the log of every node. One
    /// that counts again is done now.
    mutating func settleStrictEnds(
        on state: LogState, held: VersionVector, _ history: some CutHistory
    ) throws(StoreError) {
        moveStrictEnds(from: state.cuts, held: held)
        guard !strictEnds.ranges.isEmpty else { return }
        var collections: Set<ExactString> = []
        for (replica, counters) in strictEnds.ranges.sorted(by: { $0.key < $1.key }) {
            // What the dropped changes set is unknown here.
            if counters.lowerBound < state.firstHeld.next(of: replica) { after.isIncomplete = true }
            let counts = !strictEnds.isVoid(Dot(replica: replica, counter: counters.lowerBound))
            var seen = SeenBefore(
                try state.firsts.beginning(of: replica) + history.contextSteps(of: replica))
            try history.forEachSegment(of: replica, behind: counters.lowerBound) { segment in
                let context = seen.seen(at: segment.start)
                segment.forEachSetting(within: counters) { operation, dot, view in
                    switch operation {
                    case .editSchema(let edit): collections.insert(edit.collection)
                    case .setStream(let setting) where counts:
                        after.keep(KeptStream(setting, at: CanonicalKey(stamp: view.stamp, dot: dot)))
                    case .dropEvents(let drop) where counts:
                        var known = context
                        known.advance(replica, to: dot.counter)
                        after.dropped.drop(drop.events.within(known), of: drop.stream)
                    default: break
                    }
                }
            }
        }
        try remake(collections, on: state, history)
        scanAgain(on: state)
    }

    /// Makes these schemas anew, and the settings that are void now, from all that counts of the log.
    private mutating func remake(
        _ collections: Set<ExactString>, on state: LogState, _ history: some CutHistory
    ) throws(StoreError) {
        let void = Set(after.streams.filter { strictEnds.isVoid($0.value.key.dot) }.keys)
        if collections.isEmpty, void.isEmpty { return }
        // They are as they were, until a member that has more has said what they are.
        guard state.firstHeld.isEmpty else {
            after.isIncomplete = true
            return
        }
        var schemas: [ExactString: CollectionSchema] = [:]
        for name in collections { schemas[name] = CollectionSchema() }
        var settings = entries.flatMap(\.scan.settings).filter { void.contains($0.setting.stream) }
        try history.forEachSetting(of: after.cuts, state.firsts, within: { 0..<state.held.next(of: $0) }) {
            operation, origin in
            switch operation {
            case .editSchema(let edit): schemas[edit.collection]?.apply(edit, at: origin)
            case .setStream(let setting) where void.contains(setting.stream):
                settings.append(KeptStream(setting, at: CanonicalKey(stamp: origin.stamp, dot: origin.dot)))
            default: break
            }
        }
        remadeSchemas = schemas
        for stream in void { after.replace(nil, of: stream) }
        // Those of this transaction that are void were not read as settings.
        for setting in settings { after.keep(setting) }
    }
}

extension CutHistory {
    /// Calls `body` for each stored schema edit and stream setting that counts, in the order of arrival, with its origin.
    ///
    /// - Parameter counters: those of a replica to look at.
    func forEachSetting(
        of cuts: CutTable, _ firsts: FirstContexts, within counters: (ReplicaID) -> Range<UInt64>,
        _ body: (SyncModel.Operation, Origin) -> Void
    ) throws(StoreError) {
        var authors: [ReplicaID: SeenBefore] = [:]
        try forEachSegment { verified, _ throws(StoreError) in
            let segment = verified.segment
            let counters = counters(segment.replica)
            guard segment.hasSettings, counters.overlaps(segment.start..<segment.end) else { return }
            if authors[segment.replica] == nil {
                authors[segment.replica] = SeenBefore(
                    try firsts.beginning(of: segment.replica) + contextSteps(of: segment.replica))
            }
            let context = authors[segment.replica]?.seen(at: segment.start) ?? VersionVector()
            segment.forEachSetting(within: counters) { operation, dot, view in
                if cuts.isStrictlyVoid(dot) { return }
                body(operation, Origin(dot: dot, stamp: view.stamp, context: context))
            }
        }
    }
}

extension Segment {
    private static let settingKinds = [
        SyncModel.Operation.Kind.editSchema, SyncModel.Operation.Kind.setStream,
        SyncModel.Operation.Kind.dropEvents,
    ]

    fileprivate var hasSettings: Bool {
        var hasSettings = false
        forEachSetting(within: start..<end) { _, _, _ in hasSettings = true }
        return hasSettings
    }

    /// Calls `body` for each schema edit, stream setting and drop of events with these counters.
    fileprivate func forEachSetting(
        within counters: Range<UInt64>, _ body: (SyncModel.Operation, Dot, ChangeView) -> Void
    ) {
        var reader = ByteReader(bytes)
        while !reader.isAtEnd, let view = try? ChangeView(&reader) {
            view.forEachOperation(in: bytes) { counter, operation in
                guard counters.contains(counter), Self.settingKinds.contains(operation.kind) else { return }
                body(Operation(operation, in: bytes), Dot(replica: replica, counter: counter), view)
            }
        }
    }
}
