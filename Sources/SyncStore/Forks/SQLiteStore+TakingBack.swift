import Synchronization
package import SyncModel

extension SQLiteStore {
    /// Takes back the stored changes of a replica beyond its last common change with another history of it, in one
    /// transaction. This device's work among them is kept aside, to be done again. Changes of other authors that had seen
    /// them wait until the other history is as long as theirs was; then `apply` applies them. Waiting work of this device is
    /// kept aside as well, if it counts nowhere there because the device was not admitted.
    ///
    /// - Returns: false if one history is the beginning of the other: nothing has changed then.
    /// - Throws: `notApplicable` if the changes that go cannot be told apart from those that came as state or were dropped
    ///   from the log, and if a device that has no part in the fork would lose something.
    package func takeBack(_ other: OtherHistory, wallMilliseconds: Int64) throws(StoreError) -> Bool {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            let (state, device, faults) = (writing.log, writing.own.device, faults)
            let after = try write(&writing) { access throws(StoreError) in
                try spaceRows(access).takeBack(
                    other, by: device, on: state, at: wallMilliseconds, faults: faults)
            }
            guard let after else { return false }
            // A caller that asks for servable segments is given all that is held.
            _ = writing.takeUnserved()
            writing.log = after
            writing.hot.forget()
            writing.holdsBack = true
            writing.guests = nil
            writing.takingsBack += 1
            writing.own.end()
            publish(writing)
            // The part of the other history that can be applied at once.
            _ = try? apply([], wallMilliseconds, &writing)
            return true
        }
    }

    /// Runs one step of doing again what was taken back: at most `limit` changes, in one transaction. No change is done
    /// twice, whatever happens in between. The step ends before a change that would count nowhere, and is `isWaiting` if it
    /// would begin with one: until the owner of the object worked on admits the device again.
    /// - Throws: also `retired` until the device is admitted again.
    package func redoTakenBack(limit: Int, wallMilliseconds: Int64) throws(StoreError) -> RewritingStep {
        try writing.withLock { writing throws(StoreError) in
            if writing.isClosed { throw .closed }
            try signWhatWasLeft(&writing)
            try seal(&writing)
            writing.tail = nil
            try writing.own.heedCuts(writing.log.cuts, faults: faults)
            writing.own.heedClock()
            // Nor would its guests be let in.
            if LocalCommit(writing.own, on: writing.log, wallMilliseconds: wallMilliseconds).refusesWork {
                let nothing = Commit(nothingOn: writing.log).serving(writing.takeUnserved(), andOwn: true)
                return RewritingStep(commit: nothing, hasMore: true, isWaiting: true)
            }
            let before = try letInAgain(wallMilliseconds, &writing)
            let rows =
                try readLog(space) { rows throws(StoreError) in
                    try rows.takenBack(byteBudget: TakenBackWork.stepBytes)
                } ?? []
            let places = try readLog(space) { rows throws(StoreError) in try rows.takenBackPlaces() } ?? []
            let work = TakenBackWork(rows.map(\.work), places: places, limit: limit)
            let result = try append(work.writes, wallMilliseconds, isSealed: true, &writing) {
                log, result throws(StoreError) in
                try log.record(work.progress(result.outcomes), of: rows, work.places(result.outcomes))
            }
            let hasMore = try readLog(space) { rows throws(StoreError) in try rows.hasTakenBack() } ?? false
            let commit = result.serving(writing.takeUnserved(), andOwn: true).commit
            return RewritingStep(
                commit: commit.behind(before), hasMore: hasMore, isWaiting: work.isWaiting(result.outcomes))
        }
    }

    func guests(_ writing: inout Writing) throws(StoreError) -> [MemberFact] {
        if let guests = writing.guests { return guests }
        let work =
            try readLog(space) { rows throws(StoreError) in try rows.takenBack(byteBudget: .max).map(\.work) } ?? []
        let guests = writing.log.guests(of: work, by: writing.own.device, faults)
        writing.guests = guests
        return guests
    }

    /// Lets guests in again, and applies what waited for that.
    private func letInAgain(_ wallMilliseconds: Int64, _ writing: inout Writing) throws(StoreError) -> Commit {
        let guests = try guests(&writing)
        var said = Commit(nothingOn: writing.log)
        if !guests.isEmpty {
            let facts = LocalWrite.admissions(of: guests)
            said = try append(facts, wallMilliseconds, isSealed: true, &writing) { log, _ throws(StoreError) in
                try log.recordAdmitted(guests)
            }.serving(writing.takeUnserved(), andOwn: true).commit
            writing.guests = []
        }
        // Needed as well if a process ended between the two.
        guard writing.holdsBack, let released = try? apply([], wallMilliseconds, &writing) else { return said }
        return released.behind(said)
    }
}
