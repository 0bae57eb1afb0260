import SyncModel

// Taking one history back for another: the log loses what goes, and what follows from the log is made anew. Where all of the log is
// here that is everything; else the objects that what goes had touched.
extension LogRows {
    /// - Returns: nil where one history is the beginning of the other.
    /// - Throws: `notApplicable` where what goes lies in what came as state, or was dropped, or cannot be told apart from it.
    func takeBack(
        _ other: OtherHistory, by device: DeviceID, on state: LogState, at wallMilliseconds: Int64, faults: StoreFaults
    ) throws(StoreError) -> LogState? {
        let head = try chainHead(of: other.replica, at: other.start.end)
        let found = try TakingBack(other, by: device, on: state, from: head, faults: faults) {
            take throws(StoreError) in
            try forEachSegment(of: other.replica, behind: other.start.end, take)
        }
        guard var taking = found else { return nil }
        let gone = try rowsThatGo(&taking, state)
        let isWhole = state.firstHeld.isEmpty
        try remove(gone)
        for (replica, ends) in taking.gaveWay { try record(gaveWay: ends, of: replica) }
        for segment in taking.instead { try holdBack(restOf: segment) }
        let replica = try replicaRow(other.replica)
        if other.replica.device == device {
            try access.run("UPDATE replica SET is_settled = 1 WHERE id = ?", .integer(replica))
            try access.run("UPDATE space SET own_replica = NULL WHERE id = ?", .integer(spaceRow))
        }
        try access.run(
            "UPDATE space SET taken_back_position = last_position WHERE id = ?", .integer(spaceRow))
        // It speaks of what is not held any more.
        try access.run(
            "DELETE FROM acknowledgement WHERE space = ? AND device = ?", .integer(spaceRow), .blob(device.bytes))
        try StagingRows(self).discard()
        try StreamRows(self).write(taking.shared(state.dropped))
        if isWhole {
            try Derivation(rows: self, wallMilliseconds: wallMilliseconds).run()
        } else {
            try undo(gone, taking, on: state, at: wallMilliseconds)
        }
        try removeForgottenObjects()
        let after = try self.state()
        try write(floor: state.floor.meet(after.held))
        for (replica, start) in taking.starts { try TrustRows(self).markGone(of: replica, from: start) }
        return try self.state()
    }

    /// The segments and counts of what goes.
    struct Gone {
        var segments: Set<Int64> = []
        var changes: Int64 = 0
        var events: Int64 = 0
        /// The objects that each of its segments touches.
        var touched: [(segment: Int64, objects: Set<ObjectKey>)] = []
        /// True if the earlier state cannot be restored without all of the log: it came as state, or has a schema or a
        /// setting in it.
        var isFinal = false

        fileprivate mutating func take(_ verified: VerifiedSegment, _ row: Int64, _ state: LogState) {
            let segment = verified.segment
            let strictEnd = state.cuts.strictEnd(of: segment.replica)
            segments.insert(row)
            touched.append((row, segment.objects(within: segment.start..<segment.end)))
            changes += Int64(verified.changeCount)
            events += SegmentScan(verified, dropped: state.dropped, strictEnd: strictEnd).eventCount
            isFinal = isFinal || verified.changeCount == 0 || segment.setsWhatHolds
        }
    }

    /// Keeps aside what is to be done again of them.
    private func rowsThatGo(_ taking: inout TakingBack, _ state: LogState) throws(StoreError) -> Gone {
        var gone = Gone()
        var work = WorkToRedo(taking, on: state)
        let objects = ObjectRows(self)
        let waiting = try takenBack(byteBudget: .max)
        try forEachSegment { verified, row throws(StoreError) in
            let fate = try taking.fate(of: verified)
            if fate == .stays { return }
            gone.take(verified, row, state)
            for again in try work.take(verified.segment, fate, taking, self, objects) { try keepAside(again) }
            if fate == .waits { try holdBack(segment: row) }
        }
        try putBehind(waiting, taking)
        return gone
    }

    private func remove(_ gone: Gone) throws(StoreError) {
        try removeRuns(of: gone.segments)
        for segment in gone.segments.sorted() {
            try access.run("DELETE FROM segment WHERE id = ?", .integer(segment))
        }
        try access.run(
            "UPDATE space SET changes = changes - ?, events = events - ? WHERE id = ?", .integer(gone.changes),
            .integer(gone.events), .integer(spaceRow))
    }

    /// Deletes the runs of these segments, and corrects the totals of the runs that stay.
    private func removeRuns(of segments: Set<Int64>) throws(StoreError) {
        var runs: [(stream: Int64, position: Int64, segment: Int64, total: Int64)] = []
        try access.forEach("SELECT stream, last_position, segment, total FROM run ORDER BY stream, last_position") {
            row throws(StoreError) in
            runs.append((row.integer(0), row.integer(1), row.integer(2), row.integer(3)))
            return true
        }
        var (stream, before, lost): (Int64, Int64, Int64) = (0, 0, 0)
        for run in runs {
            if run.stream != stream { (stream, before, lost) = (run.stream, 0, 0) }
            let key: [SQLValue] = [.integer(run.stream), .integer(run.position)]
            if segments.contains(run.segment) {
                lost += run.total - before
                try access.run("DELETE FROM run WHERE stream = ? AND last_position = ?", key[0], key[1])
            } else if lost > 0 {
                try access.run(
                    "UPDATE run SET total = ? WHERE stream = ? AND last_position = ?", .integer(run.total - lost),
                    key[0], key[1])
            }
            before = run.total
        }
    }

    /// Removes the objects of which no operation is left.
    private func removeForgottenObjects() throws(StoreError) {
        var keys: [ObjectKey] = []
        try access.forEach(
            """
            SELECT collection.name, object.key FROM object JOIN collection ON collection.id = object.collection
            WHERE collection.space = ? AND object.touched = x'' AND object.dropped_edits IS NULL AND object.local IS NULL
                AND NOT EXISTS (SELECT 1 FROM touch WHERE touch.object = object.id)
            """, .integer(spaceRow)
        ) { row throws(StoreError) in
            keys.append(ObjectKey(collection: ExactString(row.text(0)), id: ExactString(row.text(1))))
            return true
        }
        if keys.isEmpty { return }
        // They may be shown: who follows the changes is to see that something happened.
        try access.run("UPDATE space SET object_position = object_position + 1 WHERE id = ?", .integer(spaceRow))
        let objects = ObjectRows(self)
        for key in keys { try objects.remove(key) }
    }
}
