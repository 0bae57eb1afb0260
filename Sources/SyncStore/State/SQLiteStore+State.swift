import Synchronization
package import SyncModel

// A state delta: made for a peer that lacks more than changes can say, or taken in.
extension SQLiteStore {
    /// Returns the current contents of the store, for a peer that requests them. The caller closes the source.
    ///
    /// - Throws: also `notApplicable` while changes of our own are open: they may still be folded, and must not be served. `refused` if
    ///   the receiver holds another history of a replica, which this state would end.
    package func stateSource(_ request: StateSource.Request) throws(StoreError) -> StateSource {
        let connection = try Connection(
            path: files.database, virtualFileSystem: configuration.virtualFileSystem, role: .source)
        do throws(StoreError) {
            return try StateSource(connection, space: space, request, faults: faults)
        } catch {
            connection.close()
            throw error
        }
    }

    /// Begins to receive a stream, or begins one anew after another has ended early: what was staged of it is kept, as far as
    /// the new stream announces it in the same form.
    ///
    /// - Parameter claims: where the sender's histories end that are as long here, or longer.
    /// - Returns: what to ask for. What was held when the first stream began stays the same until all is joined.
    /// - Throws: `refused(.fork)` if one of those parts from ours.
    package func beginStaging(from claims: [ReplicaID: ChainEnd] = [:]) throws(StoreError) -> StagingStream {
        let request = try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            let (state, isIncomplete) = (writing.log, writing.log.isIncomplete)
            return try write(&writing) { access throws(StoreError) in
                let rows = try spaceRows(access)
                if try rows.parts(from: claims, on: state) { throw .refused(.fork) }
                let staging = StagingRows(rows)
                let header = try staging.begin(held: state.held, isIncomplete: isIncomplete, faults)
                var events = try staging.stagedEvents()
                // Those are here, whatever objects are.
                if isIncomplete { events.join(state.held) }
                return StateSource.Request(
                    since: header.since, stagedEvents: events, asks: isIncomplete ? true : try staging.hasObjects())
            }
        }
        return StagingStream(request)
    }

    /// Returns, for each announcement, whether the object is staged as announced.
    package func areStaged(_ announcements: [StateAnnouncement]) throws(StoreError) -> [Bool] {
        var staged: [Bool] = []
        for announcement in announcements { staged.append(try isStaged(announcement)) }
        guard try logState().isIncomplete, staged.contains(false) else { return staged }
        return try writing.withLock { writing throws(StoreError) in
            try write(&writing) { access throws(StoreError) in
                let rows = try spaceRows(access)
                let (staging, touched) = (StagingRows(rows), try TouchedVectors(rows))
                var staged = staged
                for index in staged.indices where !staged[index] {
                    staged[index] = try staging.stageAsHeld(announcements[index], touched)
                }
                return staged
            }
        }
    }

    /// True if a part of a state is staged, by this process or an earlier one.
    package func hasStaging() throws(StoreError) -> Bool {
        try readLog(space) { rows throws(StoreError) in try StagingRows(rows).header() != nil } ?? false
    }

    /// Returns the facts and tips of a stream that is staged to its end: the caller checks the signatures before joining it.
    package func stagedHistories() throws(StoreError) -> (
        facts: [StateFact], tips: [StateTip], trust: TrustTable
    ) {
        var facts: [StateFact] = []
        var tips: [StateTip] = []
        var trust = TrustTable()
        let items = try readLog(space) { rows throws(StoreError) in try StagingRows(rows).items() } ?? []
        for item in items {
            if case .fact(let fact) = item { facts.append(fact) }
            if case .tip(let tip) = item { tips.append(tip) }
            if case .cuts(let cuts) = item {
                do throws(CodecError) { trust = try cuts.trust() } catch { throw .refused(.malformed(error)) }
            }
        }
        return (facts, tips, trust)
    }

    /// About what a peer that holds `since` would be sent by either road. Reads lengths alone, in a few milliseconds for
    /// 100,000 objects; what both roads carry, events, counts for both.
    package func weigh(since: VersionVector) throws(StoreError) -> StateWeight {
        try readLog(space) { rows throws(StoreError) in try StateWeighing(rows).weight(since: since) }
            ?? StateWeight(changeBytes: 0, stateBytes: 0)
    }

    /// True if an object is staged as announced.
    package func isStaged(_ announcement: StateAnnouncement) throws(StoreError) -> Bool {
        let faults = faults
        return try readLog(space) { rows throws(StoreError) in
            try StagingRows(rows).isStaged(announcement, faults)
        } ?? false
    }

    /// Takes the next items of the stream, in one transaction: durable when this returns. Readers see
    /// objects of which nothing else is here (`ArrivingObjects`), no one else anything.
    ///
    /// - Throws: `refused`, with nothing of them staged; the stream is of no use any more then.
    package func stage(_ items: [[UInt8]], of stream: inout StagingStream) throws(StoreError) {
        var next = stream
        let read = try next.read(items)
        let faults = faults
        try writing.withLock { writing throws(StoreError) in
            try write(&writing) { access throws(StoreError) in
                let staging = StagingRows(try spaceRows(access))
                guard let header = try staging.header() else { throw .refused(.incomplete) }
                for (item, announced) in read {
                    try staging.stage(item, announced: announced, header, faults)
                }
            }
        }
        stream = next
    }

    /// Forgets what was staged.
    package func discardStaging() throws(StoreError) {
        try update { access throws(StoreError) in try StagingRows(try spaceRows(access)).discard() }
    }

    /// Takes in what is staged and moves the vector, in one transaction. Writes of our own made meanwhile stay.
    ///
    /// - Parameters:
    ///   - strictEnds: of the sender and of both together, given by a judgement outside the log. For tests.
    ///   - reached: called in the middle of the transaction, behind each part; what it throws undoes all.
    /// - Throws: `refused` when the stream did not end, or does not fit what is held: nothing has changed then.
    package func joinStaged(
        wallMilliseconds: Int64, judging strictEnds: [ReplicaID: UInt64]? = nil,
        reached: (StateJoinPart) throws(StoreError) -> Void = { _ in }
    ) throws(StoreError) -> Commit {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            let state = writing.log
            let hot = writing.hot
            let faults = faults
            let own = writing.own.device
            let (after, commit) = try write(&writing) { access throws(StoreError) in
                let rows = try spaceRows(access)
                var join = try StateJoin(
                    rows, ObjectRows(rows, hot: hot), on: state, judging: strictEnds, at: wallMilliseconds,
                    faults: faults)
                try join.run(reached)
                lookForWaitingWork(by: join.state.cuts)
                var (after, commit) = (join.state, join.commit)
                guard after.founder == nil else { return (after, commit) }
                let settled = try rows.followFounder(
                    of: own, &after, ObjectRows(rows, hot: hot), at: wallMilliseconds)
                if let settled { commit = commit.settled(by: settled) }
                commit.cuts = after.cuts == state.cuts ? nil : after.cuts
                return (after, commit)
            }
            writing.log = after
            writing.own.joined(after)
            publish(writing)
            return commit.serving(writing.takeUnserved(), andOwn: true)
        }
    }
}

/// A stream of state that is being staged: what was asked for, and how far it has come. A value: what is not staged has not
/// happened.
package struct StagingStream: Sendable {
    package let request: StateSource.Request
    private var reader = StateStream()
    private var announced: StateAnnouncement?

    init(_ request: StateSource.Request) { self.request = request }

    /// True if the stream has ended as it should.
    package var isComplete: Bool { reader.vector != nil }

    fileprivate mutating func read(
        _ items: [[UInt8]]
    ) throws(StoreError) -> [(item: StateItem, announced: StateAnnouncement?)] {
        var read: [(item: StateItem, announced: StateAnnouncement?)] = []
        for bytes in items {
            let item: StateItem
            do throws(StateDeltaError) { item = try reader.read(bytes) } catch { throw .refused(error) }
            read.append((item, announced))
            if case .announcement(let announcement) = item { announced = announcement }
        }
        return read
    }
}
