import Synchronization
package import SyncModel

extension MemoryStore {
    package func takeBack(_ other: OtherHistory, wallMilliseconds: Int64) throws(StoreError) -> Bool {
        try running.withLock { running throws(StoreError) in
            try signWhatWasLeft(&running)
            try seal(&running)
            running.tail = nil
            guard let after = try snapshot().takingBack(other, by: running.own.device, faults) else { return false }
            try write(&running) { $0 = after }
            // A caller that asks for servable segments is given all that is held.
            _ = running.takeUnserved()
            running.own.end()
            // The part of the other history that can be applied at once.
            _ = try? apply([], wallMilliseconds, &running)
            return true
        }
    }

    package func redoTakenBack(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep {
        try running.withLock { running throws(StoreError) in
            try signWhatWasLeft(&running)
            try seal(&running)
            running.tail = nil
            try running.own.heedCuts(try snapshot().log.cuts)
            let before = try letInAgain(wallMilliseconds, &running)
            let contents = try snapshot()
            let work = TakenBackWork(contents.takenBack, places: contents.takenBackPlaces, limit: limit)
            let result = try append(work.writes, wallMilliseconds, isSealed: true, &running) { contents, result in
                contents.record(work.progress(result.outcomes), work.places(result.outcomes))
            }
            let commit = result.serving(running.takeUnserved(), andOwn: true).commit
            return RewritingStep(
                commit: commit.behind(before),
                hasMore: !(try snapshot().takenBack.isEmpty), isWaiting: work.isWaiting(result.outcomes))
        }
    }

    /// Lets guests in again, and applies what waited for that.
    private func letInAgain(_ wallMilliseconds: Int64, _ running: inout Running) throws(StoreError) -> Commit {
        let contents = try snapshot()
        let guests = contents.log.guests(of: contents.takenBack, by: running.own.device, faults)
        var said = Commit(nothingOn: contents.log)
        if !guests.isEmpty {
            let facts = LocalWrite.admissions(of: guests)
            said = try append(facts, wallMilliseconds, isSealed: true, &running) { contents, _ in
                contents.takenBack = contents.takenBack.map { $0.without(guests) ?? $0 }
            }.serving(running.takeUnserved(), andOwn: true).commit
        }
        // Needed as well if a process ended between the two.
        let released = try? apply([], wallMilliseconds, &running)
        return released?.behind(said) ?? said
    }
}

extension MemoryContents {
    /// Everything made anew from what stays of the log; nil where nothing has to go.
    fileprivate func takingBack(
        _ other: OtherHistory, by device: DeviceID, _ faults: StoreFaults
    ) throws(StoreError) -> MemoryContents? {
        let head = chainHead(of: other.replica, at: other.start.end)
        let found = try TakingBack(other, by: device, on: log, from: head, faults: faults) {
            take throws(StoreError) in
            for stored in segments[other.replica] ?? [] where stored.verified.segment.end > other.start.end {
                take(stored.verified.segment)
            }
        }
        guard var taking = found else { return nil }
        var after = MemoryContents(space: log.space)
        (after.own, after.consumers, after.addresses, after.tickets) = (own, consumers, addresses, tickets)
        after.blocked = blocked
        (after.fetching, after.takenBackPlaces) = (fetching, takenBackPlaces)
        after.heldBack = heldBack
        after.acknowledgements = acknowledgements.filter { $0.key != device }
        if other.replica.device == device { after.own = nil }
        after.gaveWay = gaveWay
        after.settled = other.replica.device == device ? settled.union([other.replica]) : settled
        (after.log.objectPosition, after.log.hasTakenBack) = (log.objectPosition, true)
        var work = WorkToRedo(taking, on: log)
        after.log.dropped = taking.shared(log.dropped)
        for stored in inCausalOrder {
            let segment = stored.verified.segment
            let fate = try taking.fate(of: stored.verified)
            after.takenBack += try work.take(segment, fate, taking, self, self)
            switch fate {
            case .stays: try after.replay(stored)
            case .goes: break
            case .waits: after.heldBack.append(HeldBack(row: 0, segment: segment, isRest: false))
            }
        }
        after.takenBack += takenBack.map { TakenBack(segment: $0.segment, known: taking.shared($0.known)) }
        for (replica, ends) in taking.gaveWay { after.gaveWay[replica, default: []].formUnion(ends) }
        after.heldBack += taking.instead.map { HeldBack(row: 0, segment: $0, isRest: true) }
        for (key, object) in objects where after.objects[key] != nil || !object.localFields.isEmpty {
            after.objects[key, default: StoredObject(key: key)].localFields = object.localFields
            after.objects[key]?.dismissedCount = object.dismissedCount
            after.objects[key]?.collectedEdits = object.collectedEdits
        }
        for stream in after.runs.keys { after.runs[stream]?.sort { $0.lastPosition < $1.lastPosition } }
        after.log.lastPosition = log.lastPosition
        after.log.floor = log.floor.meet(after.log.held)
        return after
    }

    /// Each behind what its author had seen; else as their events arrived.
    private var inCausalOrder: [StoredSegment] {
        var left = segments.values.joined().sorted {
            ($0.firstPosition, $0.verified.segment.replica) < ($1.firstPosition, $1.verified.segment.replica)
        }
        var ordered: [StoredSegment] = []
        var held = VersionVector()
        while !left.isEmpty {
            let next = left.firstIndex { stored in
                held.next(of: stored.verified.segment.replica) == stored.verified.segment.start
                    && stored.verified.context.allSatisfy { held.next(of: $0.replica) >= $0.next }
            }
            guard let next else { preconditionFailure("the log holds what its changes have seen") }
            let stored = left.remove(at: next)
            held.advance(stored.verified.segment.replica, to: stored.verified.segment.end)
            ordered.append(stored)
        }
        return ordered
    }

    private mutating func replay(_ stored: StoredSegment) throws(StoreError) {
        log.lastPosition = stored.firstPosition - 1
        let before = log
        var plan = try LogPlan([stored.verified], on: before)
        try plan.settleCuts(on: before, self)
        let objects = try plan.applyObjects(on: before, self)
        let streams = try plan.applyStreams(on: before, self)
        write(plan, objects, at: 0)
        write(streams)
    }

    fileprivate mutating func record(_ progress: TakenBackWork.Progress, _ places: [Rewriting]) {
        takenBack.removeFirst(progress.wholeRows)
        if let start = progress.goesOnAt, let first = takenBack.first { takenBack[0] = first.rest(from: start) }
        takenBackPlaces = takenBack.isEmpty ? [] : takenBackPlaces + places
    }
}
