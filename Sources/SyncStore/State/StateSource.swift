package import SyncModel

/// The contents of this store, for a node that holds less: the items of a state delta, one by one, as they were at one
/// moment.
///
/// Reads from a connection and a transaction of its own: writes go on meanwhile, and the write-ahead log keeps what it has
/// to. Memory: one object, or one segment of events, at a time. Not for two threads at once.
package final class StateSource {
    /// The receiver's statement of what it has.
    package struct Request: Sendable {
        /// Held by the receiver when it began to ask; stays the same until it has everything.
        package var since: VersionVector
        /// Per replica, behind the events that it has staged.
        package var stagedEvents: VersionVector
        /// True if the receiver has staged objects, and answers for each announced object whether it has exactly that.
        package var asks: Bool
        /// Where histories end that the receiver holds in part.
        package var claims: [ReplicaID: ChainEnd]

        package init(
            since: VersionVector, stagedEvents: VersionVector = VersionVector(), asks: Bool = false,
            claims: [ReplicaID: ChainEnd] = [:]
        ) {
            self.since = since
            self.stagedEvents = stagedEvents
            self.asks = asks
            self.claims = claims
        }
    }

    /// The vector to which the stream leads.
    package let vector: VersionVector

    private let connection: Connection
    private let request: Request
    private let faults: StoreFaults
    private let state: LogState
    private let touched: TouchedVectors
    private var phase = Phase.facts
    /// Read ahead: at most a page.
    private var ready: [StateItem] = []
    private var place = Place()
    private var stream = StateStream()
    /// Announced, and to be sent unless the receiver has it.
    private var announced: (row: Int64, key: ObjectKey)?

    private enum Phase {
        case facts
        case cuts
        case schemas
        case streams
        case objects
        case events
        case births
        case tips
        case end
        case over
    }

    /// The place where the objects, events and births go on.
    private struct Place {
        var stamp = Int64.max
        var row = Int64.max
        /// See `leastStamp`; nil before the first page.
        var leastStamp: Int64?
        var objects: [Upcoming] = []
        /// True if the receiver was not asked about these objects.
        var isUnasked = false
        /// Index in the vector's entries.
        var replica = 0
        var segmentEnd: Int64 = -1
        var writer: EventResidueWriter?
        var counter: Int64 = -1
    }

    /// An object of the page that was read last.
    private struct Upcoming {
        let row: Int64
        let key: ObjectKey
        let touched: VersionVector
        /// The receiver has it.
        var isStaged = false

        var announcement: StateAnnouncement { StateAnnouncement(key: key, touched: touched) }
    }

    /// The next step of a stream.
    enum Step {
        case item(StateItem, [UInt8])
        /// Objects that come then. `skip` says which the receiver has.
        case question([StateAnnouncement])
    }

    private static let pageCount: Int64 = 64

    init(
        _ connection: Connection, space: SpaceID, _ request: Request, faults: StoreFaults
    ) throws(StoreError) {
        self.connection = connection
        self.faults = faults
        self.request = request
        (state, touched) = try connection.use { access throws(StoreError) in
            try access.run("BEGIN DEFERRED")
            guard let rows = try LogRows(access, space: space) else { throw .corrupt(detail: "the space has no row") }
            let state = try rows.state()
            // Objects that may be wrong here must not be served, either.
            if state.isIncomplete { throw .refused(.incomplete) }
            for known in state.tips {
                // Open changes may still be folded.
                if try rows.hasOpenTail(of: known.replica) { throw .notApplicable(known.replica, at: known.tip.next) }
            }
            // Only where the receiver gets changes in place of the state, by which it finds the fork.
            if try rows.parts(from: request.claims, on: state) { throw .refused(.fork) }
            return (state, try TouchedVectors(rows))
        }
        vector = state.held
    }

    /// Ends the transaction; nothing is read any more.
    package func close() { connection.close() }

    /// The next item as it is sent; nil behind the last.
    ///
    /// - Parameter isStaged: whether the receiver has staged the object as it is announced here.
    package func next(
        unless isStaged: (StateAnnouncement) throws(StoreError) -> Bool
    ) throws(StoreError) -> (item: StateItem, bytes: [UInt8])? {
        while true {
            switch try step() {
            case .item(let item, let bytes): return (item, bytes)
            case .question(let announcements):
                var staged: [Bool] = []
                for announcement in announcements { staged.append(try isStaged(announcement)) }
                skip(staged)
            case nil: return nil
            }
        }
    }

    /// The answer to the question that was asked last.
    func skip(_ staged: [Bool]) {
        for (index, isStaged) in staged.enumerated() where index < place.objects.count {
            place.objects[index].isStaged = isStaged
        }
    }

    /// Nil behind the last.
    func step() throws(StoreError) -> Step? {
        while true {
            if let (row, key) = announced {
                announced = nil
                return written(try read { rows throws(StoreError) in try self.object(row, key, rows) })
            }
            if phase != .over, let check = stream.checkIfDue() { return written(check) }
            if place.isUnasked {
                place.isUnasked = false
                if request.asks, !place.objects.isEmpty { return .question(place.objects.map(\.announcement)) }
            }
            if !ready.isEmpty {
                let item = ready.removeFirst()
                return written(item)
            }
            if !place.objects.isEmpty {
                let object = place.objects.removeFirst()
                if !object.isStaged { announced = (object.row, object.key) }
                return written(.announcement(object.announcement))
            }
            if phase == .over { return nil }
            if phase == .end {
                phase = .over
                let item = stream.end(vector: vector)
                return .item(item, item.canonicalBytes)
            }
            try read { rows throws(StoreError) in try self.advance(rows) }
        }
    }

    private func written(_ item: StateItem) -> Step { .item(item, stream.write(item)) }

    private func read<Value>(_ body: (LogRows) throws(StoreError) -> Value) throws(StoreError) -> Value {
        try connection.use { access throws(StoreError) in
            guard let rows = try LogRows(access, space: state.space) else {
                throw .corrupt(detail: "the space has no row")
            }
            return try body(rows)
        }
    }

    /// Reads something more, or goes on to what comes next.
    private func advance(_ rows: LogRows) throws(StoreError) {
        switch phase {
        case .facts:
            ready = try facts(rows)
            phase = .cuts
        case .cuts:
            ready = StateCuts(state.cuts, within: state.held).map { [.cuts($0)] } ?? []
            phase = .schemas
        case .schemas:
            ready = try ObjectRows(rows).collections().compactMap { collection in
                collection.schema.map {
                    .schema(StateSchema(collection: collection.name, entries: $0.delta(since: request.since)))
                }
            }
            phase = .streams
        case .streams:
            ready = try StreamRows(rows).settings().filter { !request.since.covers($0.key.dot) }
                .sorted { $0.setting.stream < $1.setting.stream }
                .map { .stream(StateStreamSetting(setting: $0.setting, key: $0.key)) }
            guard !faults.contains(.stateForgetsDrops) else {
                phase = .objects
                return
            }
            ready += state.dropped.streams.sorted { $0.key < $1.key }
                .map { .dropped(.init(stream: $0.key, events: $0.value)) }
            phase = .objects
        case .objects: if try !readObjects(rows) { phase = .events }
        case .events: if try !readEvents(rows) { (phase, place.replica) = (.births, 0) }
        case .births: if try !readBirths(rows) { phase = .tips }
        case .tips:
            ready = try tips(rows)
            phase = .end
        case .end, .over: break
        }
    }

    // MARK: Members

    private func facts(_ rows: LogRows) throws(StoreError) -> [StateItem] {
        var facts: [StateFact] = []
        try rows.forEachAddition { addition, dot in
            if !request.since.covers(dot) {
                facts.append(StateFact(dot: dot, wallMilliseconds: addition.wallMilliseconds, fact: addition.fact))
            }
        }
        return facts.sorted { $0.dot < $1.dot }.map { .fact($0) }
    }

    // MARK: Objects

    /// Returns the least stamp of changes behind those that the receiver has; `Int64.min` if unknown.
    private func leastStamp(_ rows: LogRows) throws(StoreError) -> Int64 {
        var least = Int64.max
        for entry in vector.entries(beyond: request.since) {
            let next = request.since.next(of: entry.replica)
            guard next > 0, let row = try rows.findReplica(entry.replica) else { return .min }
            let last = try rows.access.first(
                "SELECT last_stamp FROM segment WHERE replica = ? AND end <= ? ORDER BY end DESC LIMIT 1",
                .integer(row), .integer(Int64(clamping: next))
            ) { row throws(StoreError) in row.integer(0) }
            guard let last else { return .min }
            least = min(least, last)
        }
        return least
    }

    /// - Returns: false when there are no more.
    private func readObjects(_ rows: LogRows) throws(StoreError) -> Bool {
        if place.leastStamp == nil { place.leastStamp = try leastStamp(rows) }
        let bound = place.leastStamp ?? .min
        var count: Int64 = 0
        try rows.access.forEach(
            """
            SELECT object.id, object.touched_stamp, object.touched, collection.name, object.key
            FROM object JOIN collection ON collection.id = object.collection
            WHERE object.touched_stamp <= ?1 AND object.touched_stamp > ?3
                AND (object.touched_stamp < ?1 OR object.id < ?2)
            ORDER BY object.touched_stamp DESC, object.id DESC LIMIT ?4
            """, .integer(place.stamp), .integer(place.row), .integer(bound), .integer(Self.pageCount)
        ) { row throws(StoreError) in
            count += 1
            (place.row, place.stamp) = (row.integer(0), row.integer(1))
            let touched = try touched.vector(row.blob(2))
            if !request.since.covers(touched) {
                let key = ObjectKey(collection: ExactString(row.text(3)), id: ExactString(row.text(4)))
                place.objects.append(Upcoming(row: row.integer(0), key: key, touched: touched))
            }
            return true
        }
        try dropEmpty(rows)
        place.isUnasked = true
        return count == Self.pageCount
    }

    /// Leaves out objects of which nothing is left: the births say enough, because none of their lives is among them.
    private func dropEmpty(_ rows: LogRows) throws(StoreError) {
        var kept: [Upcoming] = []
        for object in place.objects {
            let standing = try rows.access.first(
                "SELECT standing FROM object WHERE id = ?", .integer(object.row)
            ) { row throws(StoreError) in row.integer(0) }
            if standing == ObjectStanding.nothing.rawValue, try stored(object.row, object.key, rows).state.isEmpty {
                continue
            }
            kept.append(object)
        }
        place.objects = kept
    }

    private func stored(_ row: Int64, _ key: ObjectKey, _ rows: LogRows) throws(StoreError) -> StoredObject {
        let objects = ObjectRows(rows)
        let found = try rows.access.first(
            "SELECT \(ObjectRows.columns) FROM object WHERE id = ?", .integer(row)
        ) { row throws(StoreError) in try objects.object(row, key.collection) }
        guard let found else { throw .corrupt(detail: "an object went while it was read") }
        return found
    }

    private func object(_ row: Int64, _ key: ObjectKey, _ rows: LogRows) throws(StoreError) -> StateItem {
        let object = try stored(row, key, rows)
        return .object(
            StateObject(
                version: object.version, wallMilliseconds: object.changedMilliseconds,
                delta: object.state.delta(since: request.since)))
    }

    // MARK: Events

    /// Reads one segment, of the first replica that has more.
    /// - Returns: false if there are no more.
    private func readEvents(_ rows: LogRows) throws(StoreError) -> Bool {
        guard place.replica < vector.entries.count else { return false }
        let replica = vector.entries[place.replica].replica
        let from = max(request.since.next(of: replica), request.stagedEvents.next(of: replica))
        var writer =
            place.writer
            ?? EventResidueWriter(
                of: replica, keepsFirstOnly: faults.contains(.stateForgetsEvents), but: state.dropped)
        let row = try rows.findReplica(replica)
        let found = try rows.access.first(
            "SELECT end, bytes FROM segment WHERE replica = ? AND end > ? ORDER BY end LIMIT 1", .integer(row),
            .integer(max(place.segmentEnd, Int64(clamping: from)))
        ) { row throws(StoreError) in (row.integer(0), row.blob(1)) }
        guard let (end, bytes) = found else {
            ready = writer.finish().map { .events($0) }
            (place.replica, place.segmentEnd, place.writer) = (place.replica + 1, -1, nil)
            return true
        }
        var reader = ByteReader(bytes)
        while !reader.isAtEnd {
            guard let view = try? ChangeView(&reader) else { throw .corrupt(detail: "a change does not read back") }
            if view.start >= from { writer.add(view, in: bytes) }
        }
        ready = writer.takeFinished().map { .events($0) }
        (place.segmentEnd, place.writer) = (end, writer)
        return true
    }

    // MARK: Births

    /// A page of one replica.
    /// - Returns: false when there are no more.
    private func readBirths(_ rows: LogRows) throws(StoreError) -> Bool {
        guard place.replica < vector.entries.count else { return false }
        let replica = vector.entries[place.replica].replica
        var runs: [Range<UInt64>] = []
        var isAll = true
        try rows.access.forEach(
            "SELECT counter FROM birth WHERE replica = ? AND counter > ? ORDER BY counter",
            .integer(try rows.findReplica(replica)), .integer(place.counter)
        ) { row throws(StoreError) in
            let counter = UInt64(row.integer(0))
            if let last = runs.last, last.upperBound == counter {
                runs[runs.count - 1] = last.lowerBound..<counter + 1
            } else if runs.count == Limits.stateBirthRuns {
                isAll = false
                return false
            } else {
                runs.append(counter..<counter + 1)
            }
            place.counter = row.integer(0)
            return true
        }
        if !runs.isEmpty { ready = [.births(StateBirths(replica: replica, runs: runs))] }
        if isAll { (place.replica, place.counter) = (place.replica + 1, -1) }
        return true
    }

    // MARK: Tips

    private func tips(_ rows: LogRows) throws(StoreError) -> [StateItem] {
        var items: [StateItem] = []
        for known in state.tips where known.tip.next > request.since.next(of: known.replica) {
            let signature = try rows.access.first(
                "SELECT signature FROM segment WHERE replica = ? AND end = ?",
                .integer(try rows.findReplica(known.replica)), .integer(Int64(known.tip.next))
            ) { row throws(StoreError) in row.blob(0) }
            guard let signature, signature.count == ChainSignature.byteCount else {
                throw .corrupt(detail: "a replica's tip is not signed")
            }
            items.append(
                .tip(
                    StateTip(
                        replica: known.replica, tip: known.tip, signature: signature,
                        first: state.firsts.context(of: known.replica), named: state.named(by: known.replica))))
        }
        return items
    }
}
