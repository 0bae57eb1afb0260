import Synchronization
package import SyncModel

/// The store of the simulator and of tests: the same promises as `SQLiteStore`, on a `MemoryDisk`.
///
/// Deterministic: no clock and no chance inside; incarnations come from the closure given.
package final class MemoryStore: ReplicaStore {
    struct Running: Sendable {
        var own: OwnHistory
        var condition = StoreHealth.Condition.ok
        var isClosed = false
        var mayStayOpen = false
        var tail: OpenTail?
        /// Sealed, and not yet part of any answer: what came behind it in the same call failed.
        var unserved: [VerifiedSegment] = []
        /// A replica of which an earlier process left commits open, while they could not be signed.
        var leftOpen: ReplicaID?

        mutating func takeUnserved() -> [VerifiedSegment] {
            defer { unserved = [] }
            return unserved
        }
    }

    private let disk: MemoryDisk
    private let generation: Int
    let faults: StoreFaults
    let sign: @Sendable ([UInt8]) -> [UInt8]
    let running: Mutex<Running>

    /// - Parameters:
    ///   - leases: of the machine this process runs on; nil when it has no tmpfs.
    ///   - incarnations: gives the next incarnation, random and never the same twice.
    ///   - sign: Ed25519 with the device's signing key, 64 bytes.
    package init(
        disk: MemoryDisk, device: DeviceID, leases: MemoryLeases?, faults: StoreFaults = [],
        incarnations: @escaping @Sendable () -> UInt64, sign: @escaping @Sendable ([UInt8]) -> [UInt8]
    ) throws(StoreError) {
        let opened = disk.state.withLock { state -> (generation: Int, contents: MemoryContents)? in
            guard !state.isOpen else { return nil }
            state.isOpen = true
            return (state.generation, state.contents)
        }
        guard let opened else { throw .locked(processID: nil) }
        var own = OwnHistory(
            device: device, on: opened.contents.log, keeper: leases, faults: faults, incarnations: incarnations)
        let remembered = opened.contents.own
        if let remembered {
            try own.resume(remembered, on: opened.contents.log, faults: faults) { end throws(StoreError) in
                opened.contents.head(of: remembered, at: end)
            }
        }
        let leftOpen = remembered.flatMap { opened.contents.hasOpenTail(of: $0) ? $0 : nil }
        if let leftOpen, leftOpen.device != device {
            disk.loseProcess()
            throw .foreignTail(leftOpen)
        }
        self.disk = disk
        self.faults = faults
        self.sign = sign
        generation = opened.generation
        running = Mutex(Running(own: own, leftOpen: leftOpen))
        // A full disk does not keep the store from being read; the next write tries again.
        try? running.withLock { running throws(StoreError) in try signWhatWasLeft(&running) }
    }

    /// The process ends without a word, here and now. Its locks go with it; later calls throw `.closed`.
    /// - Parameter losingPower: the machine's whole memory goes too, and what was not synced.
    package func crash(losingPower: Bool) {
        running.withLock { running in
            guard !running.isClosed else { return }
            running.isClosed = true
            running.own.release()
            if losingPower { disk.losePower() } else { disk.loseProcess() }
        }
    }

    package func close() {
        running.withLock { running in
            guard !running.isClosed else { return }
            try? seal(&running)
            running.isClosed = true
            running.own.release()
            disk.state.withLock { state in
                guard state.generation == generation else { return }
                state.synced = nil
                state.isOpen = false
                state.generation += 1
            }
        }
    }

    // Reading and writing

    private func read<Value: Sendable>(_ body: (MemoryContents) throws(StoreError) -> Value) throws(StoreError)
        -> Value
    {
        try body(try snapshot())
    }

    func snapshot() throws(StoreError) -> MemoryContents {
        let contents = disk.state.withLock { $0.generation == generation ? $0.contents : nil }
        guard let contents else { throw .closed }
        return contents
    }

    /// Runs one durable transaction. `body` cannot fail: every check that can fail comes before it.
    func write(_ running: inout Running, _ body: (inout MemoryContents) -> Void) throws(StoreError) {
        let failure: StoreError? = disk.state.withLock { state in
            guard state.generation == generation else { return .closed }
            if let failure = state.failure {
                state.failure = failure.writesLeft > 1 ? (failure.error, failure.writesLeft - 1) : nil
                return failure.error
            }
            if faults.contains(.commitWithoutSync), state.synced == nil { state.synced = state.contents }
            body(&state.contents)
            return nil
        }
        if let failure {
            if failure != .closed { running.condition = .refusing(failure) }
            throw failure
        }
        running.condition = .ok
    }

    func update(_ body: (inout MemoryContents) -> Void) throws(StoreError) {
        try running.withLock { running throws(StoreError) in try write(&running, body) }
    }

    package func state() throws(StoreError) -> StoreState {
        let contents = try snapshot()
        let own = running.withLock { $0.own.author?.replica }
        return StoreState(
            tips: contents.log.tips, additions: contents.additions, digest: contents.log.digest,
            counts: contents.log.counts, ownReplica: own, addresses: contents.addresses,
            lastPosition: contents.log.lastPosition, acknowledgements: contents.newestAcknowledgements,
            floor: contents.log.floor, cuts: contents.log.cuts, settled: contents.settled.sorted(),
            gaveWay: contents.gaveWay, awaited: contents.heldBack.awaited(on: contents.log),
            hasTakenBack: !contents.takenBack.isEmpty, blocked: contents.blocked.sorted())
    }
}

// Log

extension MemoryStore {
    package func append(_ writes: [LocalWrite], wallMilliseconds: Int64) throws(StoreError) -> AppendResult {
        try running.withLock { running throws(StoreError) in
            try signWhatWasLeft(&running)
            let mayStayOpen = running.mayStayOpen && LocalWrite.mayStayOpen(writes)
            if mayStayOpen { try foldFullTail(&running) }
            let log = try snapshot().log
            try running.own.heedCuts(log.cuts, faults: faults)
            let next = running.own.nextAuthor(on: log)
            let isSealed = !mayStayOpen || running.tail?.isFull ?? false
            if isSealed || running.tail.map({ $0.replica != next.replica }) ?? false {
                try seal(&running)
                running.tail = nil
                let result = try append(writes, wallMilliseconds, isSealed: true, &running)
                return result.serving(running.takeUnserved(), andOwn: true)
            }
            return try append(writes, wallMilliseconds, isSealed: false, &running).serving([], andOwn: false)
        }
    }

    package func answeredWrite(_ name: [UInt8], wallMilliseconds: Int64) throws(StoreError) -> AnsweredWrite? {
        try snapshot().answeredWrite(name)?.remembered(at: wallMilliseconds)
    }

    /// - Parameter noting: what else is written in the same transaction.
    func append(
        _ writes: [LocalWrite], _ wallMilliseconds: Int64, isSealed: Bool, _ running: inout Running,
        noting: ((inout MemoryContents, AppendResult) -> Void)? = nil
    ) throws(StoreError) -> AppendResult {
        let contents = try snapshot()
        let sign = isSealed ? sign : { _ in [] }
        var commit = LocalCommit(
            running.own, on: contents.log, wallMilliseconds: wallMilliseconds, faults: faults.model)
        for write in writes { try commit.take(write, reading: contents, sign: sign) }
        let planned = try commit.finish(reading: contents, contents, sign: sign)
        guard planned.writesAnything else {
            if let noting { try write(&running) { noting(&$0, planned.result) } }
            return planned.result
        }
        try write(&running) { contents in
            noting?(&contents, planned.result)
            contents.write(planned.log, planned.objects, at: wallMilliseconds)
            contents.write(planned.streams)
            contents.write(planned.answers)
            if !planned.log.entries.isEmpty {
                contents.own = planned.author.replica
            }
        }
        guard !planned.log.entries.isEmpty else { return planned.result }
        if !isSealed {
            var tail = running.tail ?? OpenTail(planned.author.replica, before: contents.log)
            tail.add(planned)
            running.tail = tail
        }
        running.own.committed(planned.author, sealed: running.tail?.sealedTip)
        return planned.result
    }

    package func apply(_ segments: [VerifiedSegment], wallMilliseconds: Int64) throws(StoreError) -> Commit {
        try running.withLock { running throws(StoreError) in
            try signWhatWasLeft(&running)
            try seal(&running)
            running.tail = nil
            return try apply(segments, wallMilliseconds, &running)
        }
    }

    func apply(
        _ segments: [VerifiedSegment], _ wallMilliseconds: Int64, _ running: inout Running
    ) throws(StoreError) -> Commit {
        let contents = try snapshot()
        let guests = contents.log.guests(of: contents.takenBack, by: running.own.device, faults)
        let released = contents.log.applicable(contents.heldBack, behind: segments, but: guests)
        var plan = try LogPlan(segments + released, on: contents.log)
        guard !plan.entries.isEmpty else { return plan.commit.serving(running.takeUnserved(), andOwn: true) }
        try plan.settleCuts(on: contents.log, contents, faults: faults)
        let objects = try plan.applyObjects(on: contents.log, contents, faults: faults.model)
        let streams = try plan.applyStreams(on: contents.log, contents)
        try write(&running) { durable in
            durable.write(plan, objects, at: wallMilliseconds)
            durable.write(streams)
            durable.heldBack.removeAll { $0.segment.end <= plan.after.held.next(of: $0.segment.replica) }
        }
        running.own.applied(plan)
        return plan.commit.serving(running.takeUnserved(), andOwn: true)
    }

    package func leaveOpen() throws(StoreError) {
        try running.withLock { running throws(StoreError) in
            guard !running.isClosed else { throw .closed }
            running.mayStayOpen = true
        }
    }

    package func seal() throws(StoreError) -> Commit {
        try running.withLock { running throws(StoreError) in
            guard !running.isClosed else { throw .closed }
            running.mayStayOpen = false
            try signWhatWasLeft(&running)
            try seal(&running)
            return Commit(nothingOn: try snapshot().log).serving(running.takeUnserved(), andOwn: true)
        }
    }

    func seal(_ running: inout Running) throws(StoreError) {
        guard let tail = running.tail else { return }
        let sealing = try rewrite(tail, &running, sign: sign)
        running.own.sealed(tail.replica, sealing.tip)
        running.unserved += sealing.log.entries.map(\.verified)
        running.tail = faults.contains(.foldWhatWasSeen) ? tail.seen(as: sealing) : nil
    }

    func signWhatWasLeft(_ running: inout Running) throws(StoreError) {
        guard let replica = running.leftOpen else { return }
        try write(&running) { [sign] in $0.signTail(of: replica, sign) }
        running.leftOpen = nil
    }

    package func closeIncarnation() throws(StoreError) {
        try running.withLock { running throws(StoreError) in
            guard !running.isClosed else { throw .closed }
            running.own.end()
        }
    }

    package func segments(of replica: ReplicaID, from start: UInt64, byteBudget: Int) throws(StoreError) -> [Segment] {
        let stored = try snapshot().segments[replica]?.filter { !$0.verified.segment.signature.isEmpty } ?? []
        var merge = SegmentMerge(byteBudget: byteBudget)
        guard var index = stored.firstIndex(where: { $0.verified.segment.end > start }) else { return [] }
        guard let first = stored[index].verified.segment.suffix(covering: start) else {
            throw .notApplicable(replica, at: start)
        }
        var next = first
        while merge.add(next) {
            index += 1
            guard index < stored.count else { break }
            next = stored[index].verified.segment
        }
        return merge.joined()
    }
}

// Events

extension MemoryStore {
    package func events(_ query: EventQuery) throws(StoreError) -> [StoredEvent] {
        let contents = try snapshot()
        guard query.space == contents.log.space, let runs = contents.runs[Name.Bytes(query.stream)] else { return [] }
        if contents.log.isLatestOnly(query.stream) { return try contents.latest(query) }
        var page = EventPage(query)
        switch query.order {
        case .arrival(let position):
            for stored in runs where stored.lastPosition > position {
                guard let reader = contents.reader(of: stored),
                    reader.forEach(from: position + 1, { page.take($0) })
                else { throw .corrupt(detail: "the places of a stream do not fit its segment") }
                if page.isFull { break }
            }
        case .canonical(let key):
            var all: [StoredEvent] = []
            for stored in runs where key.map({ stored.run.lastStamp >= $0.stamp }) ?? true {
                guard let reader = contents.reader(of: stored),
                    reader.forEach(
                        after: nil,
                        {
                            all.append($0); return true
                        })
                else { throw .corrupt(detail: "the places of a stream do not fit its segment") }
            }
            all.sort { $0.canonicalKey < $1.canonicalKey }
            for event in all where key.map({ $0 < event.canonicalKey }) ?? true {
                if !page.take(event) { break }
            }
        }
        return page.events
    }

    package func start(of last: LastEvents, space: SpaceID) throws(StoreError) -> LastEvents.Place {
        var walk = LastEventsWalk(last)
        let query = EventQuery(
            space: space, stream: last.stream, order: .arrival(after: 0), limit: .max, byteBudget: .max)
        walk.take(try events(query))
        return walk.found
    }

    package func dropped(of space: SpaceID) throws(StoreError) -> DroppedByStream {
        try snapshot(of: space)?.log.dropped ?? DroppedByStream()
    }

    package func keptEvents(
        of stream: String, space: SpaceID, after key: CanonicalKey?, limit: Int
    ) throws(StoreError) -> [StoredEvent] {
        guard let contents = try snapshot(of: space) else { return [] }
        let events = try contents.events(of: ExactString(stream)).filter { event in
            key.map { $0 < event.canonicalKey } ?? true
        }
        return Array(events.sorted { $0.canonicalKey < $1.canonicalKey }.prefix(limit))
    }

    package func eventCount(stream: String, space: SpaceID, after position: Int64) throws(StoreError) -> Int64 {
        let query = EventQuery(
            space: space, stream: stream, order: .arrival(after: position), limit: .max, byteBudget: .max)
        return Int64(try events(query).count)
    }

    package func streams(of space: SpaceID) throws(StoreError) -> [StreamSummary] {
        let contents = try snapshot()
        guard space == contents.log.space else { return [] }
        return contents.streams
    }

    package func recomputedDigest(of space: SpaceID) throws(StoreError) -> Sum256 {
        let contents = try snapshot()
        var sum = Sum256.zero
        guard space == contents.log.space else { return sum }
        sum += contents.recomputedEventDigest
        for collection in contents.collections {
            if let term = collection.schema?.digestTerm(collection: collection.name) { sum += term }
        }
        for object in contents.objects.values {
            let summary = object.summarized(contents.schema(of: object.key.collection))
            if let term = summary.digest { sum += term }
            for attachment in summary.attachments { sum += attachment.digestTerm(of: object.key) }
        }
        return sum
    }
}

// Objects

extension MemoryStore {
    package func members() throws(StoreError) -> MemberFacts { try snapshot().log.members }

    package func context(of replica: ReplicaID) throws(StoreError) -> VersionVector {
        try snapshot().log.context(of: replica)
    }

    package func objectPosition() throws(StoreError) -> Int64 { try snapshot().log.objectPosition }

    package func object(_ key: ObjectKey, space: SpaceID) throws(StoreError) -> StoredObject? {
        try snapshot(of: space)?.object(key)
    }

    package func objects(_ query: ObjectQuery) throws(StoreError) -> [StoredObject] {
        try snapshot(of: query.space)?.page(query).objects ?? []
    }

    package func places(_ query: ObjectQuery) throws(StoreError) -> [ObjectOrder.Place] {
        try snapshot(of: query.space)?.page(query).places ?? []
    }

    package func changedObjects(
        of collection: ExactString?, space: SpaceID, after position: Int64, limit: Int
    ) throws(StoreError) -> [StoredObject] {
        try snapshot(of: space)?.changes(of: collection, after: position, limit: limit) ?? []
    }

    package func collections(of space: SpaceID) throws(StoreError) -> [StoredCollection] {
        try snapshot(of: space)?.collections ?? []
    }

    package func schema(of collection: ExactString, space: SpaceID) throws(StoreError) -> CollectionSchema? {
        try snapshot(of: space)?.schema(of: collection)
    }

    package func touches(of key: ObjectKey, space: SpaceID) throws(StoreError) -> [PastOperation] {
        guard let contents = try snapshot(of: space) else { return [] }
        return try contents.touches(of: key).filter { !contents.log.cuts.isVoid($0.origin.dot) }
    }

    func snapshot(of space: SpaceID) throws(StoreError) -> MemoryContents? {
        let contents = try snapshot()
        return space == contents.log.space ? contents : nil
    }
}

// Consumers

extension MemoryStore {
    package func consumers(of space: SpaceID) throws(StoreError) -> [Consumer] {
        let contents = try snapshot()
        guard space == contents.log.space else { return [] }
        return contents.consumers.keys.sorted().map { contents.consumers[$0]! }
    }

    package func findConsumer(_ name: String, stream: String, space: SpaceID) throws(StoreError) -> Consumer? {
        try snapshot().consumers[MemoryContents.ConsumerKey(name: name, stream: stream)]
    }

    package func changeConsumer(
        _ name: String, stream: String, space: SpaceID, _ change: (inout Consumer, _ newest: Int64) -> Void
    ) throws(StoreError) -> Consumer {
        let key = MemoryContents.ConsumerKey(name: name, stream: stream)
        return try running.withLock { running throws(StoreError) in
            let contents = try snapshot()
            let known = contents.consumers[key]
            var changed = known ?? Consumer(name: name, stream: stream)
            change(&changed, contents.log.lastPosition)
            if changed != known { try write(&running) { $0.consumers[key] = changed } }
            return changed
        }
    }

    package func removeConsumer(_ name: String, space: SpaceID) throws(StoreError) -> Bool {
        let doomed = try snapshot().consumers.keys.filter { $0.name == Name.Bytes(name) }
        guard !doomed.isEmpty else { return false }
        try update { contents in
            for key in doomed { contents.consumers[key] = nil }
        }
        return true
    }
}

// Peers, tickets, health

extension MemoryStore {
    package func addresses() throws(StoreError) -> [PeerAddress] { try snapshot().addresses }

    package func remember(_ address: PeerAddress) throws(StoreError) {
        try update { contents in
            let index = contents.addresses.firstIndex { $0.host == address.host && $0.port == address.port }
            if let index { contents.addresses[index] = address } else { contents.addresses.append(address) }
        }
    }

    package func forget(host: String, port: UInt16) throws(StoreError) -> Bool {
        guard try snapshot().addresses.contains(where: { $0.host == host && $0.port == port }) else { return false }
        try update { $0.addresses.removeAll { $0.host == host && $0.port == port } }
        return true
    }

    package func tickets() throws(StoreError) -> [TicketRecord] { try snapshot().tickets }

    package func save(_ ticket: TicketRecord) throws(StoreError) {
        try update { contents in
            if let index = contents.tickets.firstIndex(where: { $0.secret == ticket.secret }) {
                contents.tickets[index] = ticket
            } else {
                contents.tickets.append(ticket)
            }
        }
    }

    package func health() -> StoreHealth {
        let condition = running.withLock { $0.isClosed ? .refusing(.closed) : $0.condition }
        let segments = disk.state.withLock { $0.contents.segments }
        let bytes = segments.values.joined().reduce(Int64(0)) { $0 + Int64($1.verified.segment.bytes.count) }
        return StoreHealth(bytes: bytes, condition: condition)
    }

    package func probe() throws(StoreError) { try update { _ in } }
}
