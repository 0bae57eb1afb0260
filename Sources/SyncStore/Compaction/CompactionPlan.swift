import SyncModel

/// A step of compaction, on one replica's oldest stored changes or on residues that hold dropped events. It is read
/// and computed beside writers, and written in a short transaction.
struct CompactionPlan: Sendable {
    /// Segments that a step takes at most, and about how many of their bytes.
    private static let segmentsPerStep = 512
    private static let bytesPerStep = 512 << 10

    /// A segment of which something stays: its events, and where each stream's lie in it.
    struct Kept: Sendable {
        let row: Int64
        let bytes: [UInt8]
        let places: [Place]
    }

    struct Place: Sendable {
        let stream: Int64
        let lastPosition: Int64
        let places: [UInt8]
    }

    /// An object that the dropped changes were about.
    struct Touched: Sendable {
        let key: ObjectKey
        let row: Int64
        /// Rows of the segments.
        var segments: [Int64] = []
        /// True if changes to the object stay.
        var hasLater = false
        /// The beginning of the object's history, if it must be written.
        var beginning: ObjectBeginning?
    }

    let replica: ReplicaID
    let replicaRow: Int64
    /// The counter up to which nothing was left to drop before this step.
    let start: UInt64
    /// and is before this afterwards.
    private(set) var end: UInt64
    /// True if changes were stored from `start` on without a gap, and are so from `end` on.
    let isServed: Bool
    private(set) var kept: [Kept] = []
    /// Segments that go with their rows.
    private(set) var gone: [Int64] = []
    private(set) var touched: [Touched] = []
    /// The index of each object in `touched`.
    private var places: [ObjectKey: Int] = [:]
    private(set) var changeCount: Int64 = 0
    /// The number of bytes by which the log is smaller.
    private(set) var byteCount: Int64 = 0
    /// The changes of others that the author had seen before `end`.
    private var seen: VersionVector
    /// True if the step is about residues from `start` to `end`; changes stay.
    private let isTrimming: Bool
    /// Events of which nothing has to stay.
    private let dropped: DroppedByStream
    /// The part of `seen` that no kept change names yet.
    private var named = VersionVector()
    private let faults: StoreFaults

    /// Nil when nothing of the replica is left to drop.
    init?(
        _ rows: LogRows, of replica: ReplicaID, _ point: CompactionPoint, faults: StoreFaults
    ) throws(StoreError) {
        guard let row = try rows.findReplica(replica) else { return nil }
        let known = try rows.access.first(
            "SELECT compacted, first_held, first_context FROM replica WHERE id = ?", .integer(row)
        ) { row throws(StoreError) in
            (row.integer(0), row.integer(1), row.isNull(2) ? VersionVector() : VectorColumn.decoded(row.blob(2)))
        }
        guard let (compacted, firstHeld, seen) = known, let seen else {
            throw .corrupt(detail: "a replica's row does not read back")
        }
        self.replica = replica
        self.faults = faults
        self.seen = seen
        dropped = try StreamRows(rows).dropped()
        isTrimming = false
        start = UInt64(compacted)
        isServed = compacted >= firstHeld
        replicaRow = row
        end = start
        try readSegments(rows, point)
        guard end > start else { return nil }
        try readObjects(rows, point)
    }

    /// Residues that may hold dropped events, from a counter on; nil where there are no more.
    init?(
        trimming replica: ReplicaID, from start: UInt64, _ rows: LogRows, faults: StoreFaults
    ) throws(StoreError) {
        guard let row = try rows.findReplica(replica) else { return nil }
        self.replica = replica
        self.faults = faults
        (self.start, end) = (start, start)
        (seen, isServed, replicaRow) = (VersionVector(), false, row)
        isTrimming = true
        dropped = try StreamRows(rows).dropped()
        let limit = dropped.streams.values.map { $0.vector.next(of: replica) }.max() ?? 0
        let residues = try stored(
            rows, "change_count = 0 AND start < ?", from: start, .integer(Int64(clamping: limit))
        ) { _ in .take }
        guard let last = residues.last else { return nil }
        for residue in residues { try drop(residue, isLast: residue.row == last.row, rows) }
    }

    // MARK: Segments

    private struct Stored {
        let row: Int64
        /// True if no residue follows: changes join on to it, or will.
        let isBoundary: Bool
        let end: UInt64
        let changeCount: Int64
        let firstPosition: Int64
        let ordinalCount: Int64
        let bytes: [UInt8]
        let stamp: Stamp
    }

    private mutating func readSegments(_ rows: LogRows, _ point: CompactionPoint) throws(StoreError) {
        let limit = min(point.vector.next(of: replica), point.stable.next(of: replica))
        var (isBehindState, hasChanges) = (false, false)
        let stored = try stored(
            rows, "end <= ? AND signature <> x''", from: start, .integer(Int64(clamping: limit))
        ) { segment in
            guard segment.stamp < point.before else { return .end }
            if segment.changeCount == 0 {
                // Residues that came as state stay as they are.
                guard !hasChanges else { return .end }
                isBehindState = true
                self.end = segment.end
                return .skip
            }
            // Changes behind such a residue may not have been served; they are left to another step.
            guard !isBehindState else { return .end }
            hasChanges = true
            return .take
        }
        guard !stored.isEmpty else { return }
        try takeOldBoundary(rows)
        for (index, segment) in stored.enumerated() {
            try drop(segment, isLast: index == stored.count - 1, rows)
        }
    }

    private enum Choice {
        case take
        case skip
        case end
    }

    /// A step's worth of the replica's segments behind a counter.
    private func stored(
        _ rows: LogRows, _ condition: String, from start: UInt64, _ bound: SQLValue, _ choose: (Stored) -> Choice
    ) throws(StoreError) -> [Stored] {
        var stored: [Stored] = []
        var byteCount = 0
        try rows.access.forEach(
            """
            SELECT id, end, change_count, first_position, event_count, bytes, last_stamp,
                coalesce(
                    (SELECT next.change_count FROM segment AS next
                    WHERE next.replica = segment.replica AND next.end > segment.end ORDER BY next.end LIMIT 1), 1) > 0
            FROM segment
            WHERE replica = ? AND end > ? AND \(condition) ORDER BY end
            """, .integer(replicaRow), .integer(Int64(clamping: start)), bound
        ) { row throws(StoreError) in
            let segment = Stored(
                row: row.integer(0), isBoundary: row.integer(7) == 1, end: UInt64(row.integer(1)),
                changeCount: row.integer(2),
                firstPosition: row.integer(3), ordinalCount: row.integer(4), bytes: row.blob(5),
                stamp: LogRows.stamp(row.integer(6)))
            switch choose(segment) {
            case .take: stored.append(segment)
            case .skip: return true
            case .end: return false
            }
            byteCount += segment.bytes.count
            return stored.count < Self.segmentsPerStep && byteCount < Self.bytesPerStep
        }
        return stored
    }

    /// Takes the old boundary, where changes joined on until now. The next segment that stays takes over what it names.
    private mutating func takeOldBoundary(_ rows: LogRows) throws(StoreError) {
        let old = try rows.access.first(
            "SELECT id, bytes FROM segment WHERE replica = ? AND end = ? AND event_count = 0 AND change_count = 0",
            .integer(replicaRow), .integer(Int64(clamping: end))
        ) { row throws(StoreError) in (row.integer(0), row.blob(1)) }
        guard end > 0, let (row, bytes) = old else { return }
        guard let changes = StoredChanges(bytes) else { throw .corrupt(detail: "a residue does not read back") }
        named = changes.context
        gone.append(row)
        byteCount += Int64(bytes.count)
    }

    private mutating func drop(_ segment: Stored, isLast: Bool, _ rows: LogRows) throws(StoreError) {
        var bytes: [UInt8] = []
        /// The old beginning of each change → its new beginning.
        var moved: [Int: Int] = [:]
        var streams: Set<ExactString> = []
        var reader = ByteReader(segment.bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { throw .corrupt(detail: "a change does not read back") }
            record(view, in: segment)
            try recordObjects(of: view, in: segment, rows)
            guard
                let operations = view.onlyEvents(
                    of: replica, in: segment.bytes, firstOnly: faults.contains(.compactionDropsEvents), but: dropped)
            else { continue }
            // A replica that met thousands of others at once names the rest later, as authors do.
            let context = Array(named.entries.prefix(Limits.contextEntries))
            named = VersionVector(named.entries.dropFirst(context.count))
            moved[view.range.lowerBound] = bytes.count
            for case .appendEvent(let event) in operations { streams.insert(ExactString(event.stream)) }
            bytes +=
                Change(
                    start: view.start, stamp: view.stamp, wallMilliseconds: view.wallMilliseconds, context: context,
                    operations: operations
                ).encoded
        }
        end = segment.end
        changeCount += segment.changeCount
        // Changes that stay as they are build on what was named before them.
        let isNaming =
            isTrimming
            ? (isLast || segment.isBoundary) && !named.isEmpty || segment.isBoundary && bytes.isEmpty : isLast
        if isNaming {
            bytes += Change.naming(named, before: end, stamp: segment.stamp)
            named = VersionVector()
        }
        byteCount += Int64(segment.bytes.count - bytes.count)
        if isTrimming, bytes == segment.bytes { return }
        guard !bytes.isEmpty else { return gone.append(segment.row) }
        kept.append(Kept(row: segment.row, bytes: bytes, places: try places(in: segment, moved, streams, rows)))
    }

    private mutating func record(_ view: ChangeView, in segment: Stored) {
        guard !view.context.isEmpty, !faults.contains(.compactionForgetsContexts) else { return }
        named.join(VersionVector(view.context))
        seen.join(VersionVector(view.context))
    }

    /// Ordinals stay: positions are told to readers.
    private func places(
        in segment: Stored, _ moved: [Int: Int], _ streams: Set<ExactString>, _ rows: LogRows
    ) throws(StoreError) -> [Place] {
        var runs: [Place] = []
        for stream in streams {
            let found = try rows.access.first(
                """
                SELECT stream, last_position, places FROM run
                WHERE stream = ? AND last_position >= ? AND last_position < ? AND segment = ?
                """, .integer(try rows.findStream(stream.string)), .integer(segment.firstPosition),
                .integer(segment.firstPosition + segment.ordinalCount), .integer(segment.row)
            ) { row throws(StoreError) in (row.integer(0), row.integer(1), row.blob(2)) }
            let mayLack = !dropped[stream].isEmpty
            if found == nil, mayLack { continue }
            guard let (row, lastPosition, bytes) = found, let old = EventPlaces.decoded(bytes) else {
                throw .corrupt(detail: "a segment's events are not where they should be")
            }
            var places = EventPlaces()
            for place in old {
                guard let change = moved[place.change] else {
                    if mayLack { continue }
                    throw .corrupt(detail: "a segment's events are not where they should be")
                }
                places.append(change: change, ordinal: place.ordinal)
            }
            runs.append(Place(stream: row, lastPosition: lastPosition, places: places.bytes))
        }
        return runs
    }

    // MARK: Objects

    private mutating func recordObjects(
        of view: ChangeView, in segment: Stored, _ rows: LogRows
    ) throws(StoreError) {
        var keys: Set<ObjectKey> = []
        view.forEachOperation(in: segment.bytes) { _, operation in
            if Operation.Kind.concernsObjects(operation.kind),
                let key = Operation(operation, in: segment.bytes).touchedObject
            {
                keys.insert(key)
            }
        }
        for key in keys {
            if let place = places[key] {
                if touched[place].segments.last != segment.row { touched[place].segments.append(segment.row) }
            } else if let row = try ObjectRows(rows).objectRow(key) {
                places[key] = touched.count
                touched.append(Touched(key: key, row: row, segments: [segment.row]))
            }
        }
    }

    private mutating func readObjects(_ rows: LogRows, _ point: CompactionPoint) throws(StoreError) {
        let objects = ObjectRows(rows)
        let beginnings = BeginningRows(objects)
        var contexts: [Int64: ObjectRows.ContextSteps] = [:]
        let cuts = try rows.cuts(try rows.memberFacts())
        let members = touched.isEmpty ? MemberFacts() : try rows.memberFacts()
        for index in touched.indices {
            touched[index].hasLater = try objects.isTouched(touched[index].row, outside: point.vector)
            guard touched[index].hasLater, try beginnings.isDue(of: touched[index].row, point.name) else { continue }
            if contexts.isEmpty { contexts = try objects.contextSteps(upTo: point.vector) }
            var beginning = try beginnings.beginning(of: touched[index].key) ?? ObjectBeginning()
            let operations = try objects.operations(
                on: touched[index].key, touched[index].row, upTo: point.vector, contexts)
            beginning.apply(operations.filter { !cuts.isVoid($0.origin.dot) }, members: members)
            touched[index].beginning = beginning
        }
    }

    // MARK: Writing

    /// - Returns: false, with nothing written, when an object has come to have changes that stay, or the log is another: the
    ///   step is to be planned again.
    func write(_ rows: LogRows, _ point: CompactionPoint, _ objects: ObjectRows) throws(StoreError) -> Bool {
        let access = rows.access
        let found = try access.first("SELECT compacted, first_held FROM replica WHERE id = ?", .integer(replicaRow)) {
            row throws(StoreError) in (UInt64(row.integer(0)), row.integer(0) >= row.integer(1))
        }
        guard let found, isTrimming || found == (start, isServed) else { return false }
        for touch in touched where !touch.hasLater {
            if try objects.isTouched(touch.row, outside: point.vector) { return false }
        }
        let beginnings = BeginningRows(objects)
        for touch in touched {
            if let beginning = touch.beginning { try beginnings.write(beginning, point: point.name, of: touch.row) }
            for segment in touch.segments {
                try access.run(
                    "DELETE FROM touch WHERE object = ? AND segment = ?", .integer(touch.row), .integer(segment))
            }
            if !touch.hasLater {
                try beginnings.begin(at: touch.row)
                try objects.removeIfForgotten(touch.key, touch.row)
            }
        }
        for segment in kept {
            try access.run(
                "UPDATE segment SET change_count = 0, bytes = ? WHERE id = ?", .blob(segment.bytes),
                .integer(segment.row))
            for place in segment.places {
                try access.run(
                    "UPDATE run SET places = ? WHERE stream = ? AND last_position = ?", .blob(place.places),
                    .integer(place.stream), .integer(place.lastPosition))
            }
        }
        for segment in gone { try access.run("DELETE FROM segment WHERE id = ?", .integer(segment)) }
        if isTrimming { return true }
        try access.run(
            "UPDATE replica SET compacted = ? WHERE id = ?", .integer(Int64(end)), .integer(replicaRow))
        if isServed {
            try access.run(
                "UPDATE replica SET first_held = ?, first_context = ? WHERE id = ?", .integer(Int64(end)),
                .blob(VectorColumn.encoded(seen)), .integer(replicaRow))
        }
        try access.run(
            "UPDATE space SET changes = changes - ?1, dropped_changes = dropped_changes + ?1 WHERE id = ?2",
            .integer(changeCount), .integer(rows.spaceRow))
        return true
    }
}
