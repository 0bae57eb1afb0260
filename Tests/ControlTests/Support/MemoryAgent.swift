import ControlAPI
import ControlServer
import SyncAgent

/// An agent that keeps its promises in memory: what the control server asks of a real one, without disk or network.
///
/// Events arrive in the order they are emitted; canonical order is the reverse, so that a test can tell them apart.
actor MemoryAgent: AgentControl {
    static let replica = "AAAAAAA-BBBBBBB-CCCCCCC-DDDDDDD-EEEEEEE-FFFFFFF-GGGGGGG-HHHHHHH.0000000000000001"
    static let device = "AAAAAAA-BBBBBBB-CCCCCCC-DDDDDDD-EEEEEEE-FFFFFFF-GGGGGGG-HHHHHHH"
    static let ticket = "TICKET-GOOD-ONCE"

    private struct Cursor {
        var position: UInt64 = 0
        var delivered: UInt64 = 0
    }

    private struct CursorKey: Hashable, Comparable {
        let name: String
        let stream: String

        static func < (left: CursorKey, right: CursorKey) -> Bool {
            (left.name, left.stream) < (right.name, right.stream)
        }
    }

    private var streams: [String: [EventLine]] = [:]
    private var arrivals: UInt64 = 0
    private var cursors: [CursorKey: Cursor] = [:]
    private var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    private var nextWaiter = 0
    private var observers: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    private(set) var pagesRead = 0
    private var addresses: Set<HostPort> = []
    private var ticketIsUsed = false
    private var peerList: [Peer]
    private let standings: [DeviceStanding]
    private var retired: Set<String> = []
    private var blocked: Set<String> = []
    private var watchers: [AsyncStream<[Peer]>.Continuation] = []
    /// Of the calls of `emit`, with the keys of their events.
    private(set) var emitKeys: [[RequestKey?]] = []
    private var emitFault: ControlError?
    private(set) var emitGroups: [Int] = []
    private(set) var acknowledgements: [UInt64] = []
    var objects = MemoryObjects()
    var attachments = MemoryAttachments()
    var backup = MemoryBackup()
    var snapshots = MemorySnapshots()
    private var nextRewind: EventPosition?
    var streamSettings: [String: StreamSettings] = [:]
    /// How many objects each call of `put(space:all:)` brought.
    var putGroups: [Int] = []
    var refusesSchema = false
    /// The collections whose values were converted.
    var converted: [String] = []
    var blameQueries: [BlameQuery] = []
    var differenceQueries: [DifferenceQuery] = []

    /// Which device it is, and as whom it writes events.
    let ownDevice: String
    private var ownReplica: String { "\(ownDevice).0000000000000001" }

    init(peers: [Peer] = [], standings: [DeviceStanding] = [], device: String = MemoryAgent.device) {
        peerList = peers
        self.standings = standings
        ownDevice = device
    }

    // MARK: For tests

    /// The next page in canonical order says so.
    func rewindNextPage(to position: EventPosition) { nextRewind = position }

    /// The next call of `emit` throws this.
    func failNextEmit(_ error: ControlError) { emitFault = error }

    /// Shows another list of peers, to watchers too.
    func show(_ peers: [Peer]) {
        peerList = peers
        for watcher in watchers { watcher.yield(peers) }
    }

    /// Returns once exactly `count` readers wait for events.
    func readersWaiting(_ count: Int) async {
        if waiting.count == count { return }
        await withCheckedContinuation { observers.append((count, $0)) }
    }

    /// Returns once so many watch peers.
    func peerWatchersComing(_ count: Int) async { while watchers.count < count { await Task.yield() } }

    private func tellObservers() {
        for observer in observers where observer.count == waiting.count { observer.continuation.resume() }
        observers.removeAll { $0.count == waiting.count }
    }

    // MARK: The node

    func status(space: String?) throws(ControlError) -> StatusResponse {
        if let space { try check(space) }
        let events = streams.values.reduce(0) { $0 + $1.count }
        return StatusResponse(
            device: .init(id: ownDevice, shortID: String(ownDevice.prefix(7)), name: "memory"), uptimeSeconds: 7,
            discovery: .init(state: .running, instance: "random-instance"),
            spaces: [
                .init(
                    name: "home", id: "00000000000000000000000000000000", changes: events, events: events,
                    versionVector: VersionVectorText([.init(replica: ownReplica, next: arrivals + 1)]),
                    digest: "0123456789abcdef", inStep: standings.allSatisfy { $0.state == .inStep },
                    standings: standings)
            ],
            peers: .init(
                connected: peerList.count { $0.state == .connected }, discovered: peerList.count,
                paired: peerList.count(where: \.paired)),
            store: .init(bytes: 4_096, state: "ok"))
    }

    func peers() -> [Peer] { peerList }

    func peerUpdates() -> AsyncStream<[Peer]> {
        let (stream, continuation) = AsyncStream<[Peer]>.makeStream(bufferingPolicy: .bufferingNewest(1))
        continuation.yield(peerList)
        watchers.append(continuation)
        return stream
    }

    func addPeer(_ address: HostPort) -> PeerChange {
        PeerChange(address: address.description, changed: addresses.insert(address).inserted)
    }

    func removePeer(_ address: HostPort) throws(ControlError) -> PeerChange {
        guard addresses.remove(address) != nil else {
            throw ControlError(.unknownPeer, "That address was not added.", hint: "See: lanyard peers")
        }
        return PeerChange(address: address.description, changed: true)
    }

    func why(_ target: String?, space: String?) throws(ControlError) -> WhyResponse {
        if let space { try check(space) }
        if let target {
            throw ControlError(.unknownPeer, "No peer is called \(target).", hint: "See: lanyard peers")
        }
        let now = Timestamp(millisecondsSinceEpoch: WallClock.milliseconds)
        return WhyResponse(
            inStep: false,
            chain: [
                .init(.discovery, ok: true, detail: "mDNS answers"), .init(.clock, ok: true, detail: "ok"),
                .init(.address, ok: false, detail: "no other agent is seen"),
            ],
            errors: [
                .init(code: "no_answer", time: now, count: 2),
                .init(code: "peer_silent", time: now, count: 1),
            ], nextAttempt: Timestamp(millisecondsSinceEpoch: 0), hint: "Start an agent on another machine.")
    }

    func wait(peers: Int?, connectedOnly: Bool, timeoutMilliseconds: Int64) -> WaitResponse {
        let waitingFor = standings.filter { $0.state != .inStep && ($0.connected || !connectedOnly) }
        return WaitResponse(
            inStep: (peers ?? 0) <= peerList.count && waitingFor.isEmpty, waitedSeconds: 0.1, waitingFor: waitingFor)
    }

    // MARK: Membership

    func invite(space: String, role: Role, expiresSeconds: Int) throws(ControlError) -> InviteResponse {
        try check(space)
        return InviteResponse(
            ticket: Self.ticket, expires: Timestamp(millisecondsSinceEpoch: Int64(expiresSeconds) * 1_000))
    }

    func join(ticket: String) throws(ControlError) -> JoinResponse {
        guard ticket == Self.ticket else {
            throw ControlError(.ticketInvalid, "This is not a ticket.", hint: "Copy it whole.")
        }
        guard !ticketIsUsed else {
            throw ControlError(.ticketUsed, "The ticket was used before.", hint: "Make a new one: lanyard invite")
        }
        ticketIsUsed = true
        return JoinResponse(device: Self.device, space: "home")
    }

    func devices(space: String) throws(ControlError) -> [DeviceEntry] {
        try check(space)
        return [
            DeviceEntry(
                id: ownDevice, name: "memory", role: .writer, addedBy: nil, addedAt: nil, lastSeen: nil, state: "this"
            )
        ]
            + peerList.compactMap { peer in
                guard let id = peer.id else { return nil }
                let state =
                    blocked.contains(id)
                    ? "blocked" : retired.contains(id) ? "retired" : peer.state == .connected ? "connected" : "offline"
                return DeviceEntry(
                    id: id, name: peer.name, role: .writer, addedBy: Self.device, addedAt: nil, lastSeen: nil,
                    state: state)
            }
    }

    func retire(space: String, device: String) throws(ControlError) -> DeviceEntry {
        let found = try DeviceWord.find(device, in: try devices(space: space))
        guard found.state != "this" else {
            throw ControlError(.forbidden, "This is the device you are at.", hint: "Retire it from another one.")
        }
        retired.insert(found.id)
        return try DeviceWord.find(found.id, in: try devices(space: space))
    }

    func block(space: String, device: String) throws(ControlError) -> BlockedDevice {
        let found = try DeviceWord.find(device, in: try devices(space: space))
        guard found.state != "this" else {
            throw ControlError(.forbidden, "This is the device you are at.", hint: "Block it on another one.")
        }
        blocked.insert(found.id)
        let all = try devices(space: space)
        return BlockedDevice(
            device: try DeviceWord.find(found.id, in: all),
            through: all.filter { !["this", "blocked"].contains($0.state) })
    }

    func unblock(space: String, device: String) throws(ControlError) -> DeviceEntry {
        blocked.remove(try DeviceWord.find(device, in: try devices(space: space)).id)
        return try DeviceWord.find(device, in: try devices(space: space))
    }

    // MARK: Events

    func emit(space: String, stream: String, events: [EventDraft]) throws(ControlError) -> EmitResponse {
        try check(space)
        if let fault = emitFault {
            emitFault = nil
            throw fault
        }
        emitGroups.append(events.count)
        emitKeys.append(RequestKey.ofWrites)
        let first = arrivals + 1
        for event in events {
            arrivals += 1
            streams[stream, default: []].append(
                EventLine(
                    dot: DotText(replica: ownReplica, counter: arrivals), stream: stream, type: event.type,
                    payload: event.payload, time: Timestamp(millisecondsSinceEpoch: 1_763_700_000_000),
                    device: ownDevice, position: .arrival(arrivals)))
        }
        wakeAll()
        return EmitResponse(
            count: events.count, first: DotText(replica: ownReplica, counter: first),
            last: DotText(replica: ownReplica, counter: arrivals))
    }

    func events(_ query: EventQuery, limit: Int) throws(ControlError) -> EventPage {
        try check(query.space)
        pagesRead += 1
        guard let all = streams[query.stream] else { return EventPage(events: [], next: nil, streamExists: false) }
        switch query.order {
        case .canonical: return canonicalPage(all, query, limit)
        case .arrival: return arrivalPage(all, query, limit)
        }
    }

    func start(ofLast count: Int, _ query: EventQuery, before: EventPosition?) throws(ControlError) -> EventStart {
        try check(query.space)
        var bound = UInt64.max
        if case .arrival(let number)? = before { bound = number }
        let all = (streams[query.stream] ?? []).filter { event in
            number(event) < bound && (query.type.map { event.type == $0 } ?? true)
        }
        let last = all.suffix(count)
        return EventStart(after: .arrival(last.first.map { number($0) - 1 } ?? .max), count: last.count)
    }

    private func arrivalPage(_ all: [EventLine], _ query: EventQuery, _ limit: Int) -> EventPage {
        let key = query.consumer.map { CursorKey(name: $0, stream: query.stream) }
        let cursor = key.map { cursors[$0] ?? Cursor() }
        var after = cursor?.position ?? 0
        if case .arrival(let number)? = query.after { after = number }
        // Positions are dense and ascending within the whole space, so a binary search finds the first one.
        var (low, high) = (0, all.count)
        while low < high {
            let middle = (low + high) / 2
            if number(all[middle]) <= after { low = middle + 1 } else { high = middle }
        }
        var page = Array(all[low..<min(low + limit, all.count)])
        if let key, var cursor {
            for index in page.indices { page[index].redelivered = number(page[index]) <= cursor.delivered }
            cursor.delivered = max(cursor.delivered, page.last.map(number) ?? 0)
            cursors[key] = cursor
        }
        return EventPage(events: page, next: page.last?.position ?? query.after, streamExists: true)
    }

    private func canonicalPage(_ all: [EventLine], _ query: EventQuery, _ limit: Int) -> EventPage {
        let ordered = all.reversed().map { event in
            var event = event
            event.position = .canonical("c@\(number(event))")
            return event
        }
        let start = ordered.firstIndex { $0.position == query.after }.map { $0 + 1 } ?? 0
        let page = Array(ordered[start..<min(start + limit, ordered.count)])
        defer { nextRewind = nil }
        return EventPage(
            events: page, next: page.last?.position ?? query.after, streamExists: true, rewind: nextRewind)
    }

    private func number(_ event: EventLine) -> UInt64 {
        guard case .arrival(let number) = event.position else { return 0 }
        return number
    }

    func nextEvents(_ query: EventQuery, limit: Int) async throws(ControlError) -> EventPage {
        while true {
            let page = try events(query, limit: limit)
            if !page.events.isEmpty || Task.isCancelled { return page }
            await waitForChange()
        }
    }

    /// Returns when something was written, or the task was cancelled.
    func waitForChange() async {
        nextWaiter += 1
        let waiter = nextWaiter
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled { return continuation.resume() }
                waiting[waiter] = continuation
                tellObservers()
            }
        } onCancel: {
            Task { await self.wake(waiter) }
        }
    }

    func wakeAll() {
        for waiter in waiting.values { waiter.resume() }
        waiting = [:]
        tellObservers()
    }

    private func wake(_ waiter: Int) {
        waiting.removeValue(forKey: waiter)?.resume()
        tellObservers()
    }

    func acknowledge(
        space: String, consumer: String, stream: String, position: EventPosition
    ) throws(ControlError) {
        try check(space)
        guard case .arrival(let number) = position else { return }
        let key = CursorKey(name: consumer, stream: stream)
        let cursor = cursors[key] ?? Cursor()
        acknowledgements.append(number)
        cursors[key] = Cursor(position: max(cursor.position, number), delivered: max(cursor.delivered, number))
    }

    func streams(space: String) throws(ControlError) -> [StreamEntry] {
        try check(space)
        return Set(streams.keys).union(streamSettings.keys).sorted().map(streamEntry)
    }

    private func streamEntry(_ name: String) -> StreamEntry {
        let last = streams[name]?.last
        var entry = StreamEntry(
            name: name, events: streams[name]?.count ?? 0, position: last?.position, lastEvent: last?.time)
        entry.latestOnly = streamSettings[name]?.latestOnly ?? false
        if case .seconds(let seconds)? = streamSettings[name]?.retention { entry.retainSeconds = seconds }
        return entry
    }

    func setStream(space: String, stream: String, settings: StreamSettings) throws(ControlError) -> StreamEntry {
        try check(space)
        var current = streamSettings[stream] ?? StreamSettings()
        current.latestOnly = settings.latestOnly ?? current.latestOnly
        current.retention = settings.retention ?? current.retention
        streamSettings[stream] = current
        return streamEntry(stream)
    }

    func consumers(space: String) throws(ControlError) -> [ConsumerEntry] {
        try check(space)
        return cursors.keys.sorted().map(entry)
    }

    private func entry(_ key: CursorKey) -> ConsumerEntry {
        let position = cursors[key]?.position ?? 0
        let behind = streams[key.stream]?.count { number($0) > position } ?? 0
        return ConsumerEntry(name: key.name, stream: key.stream, position: .arrival(position), behind: behind)
    }

    func setConsumer(
        space: String, name: String, stream: String?, position: EventPosition
    ) throws(ControlError) -> ConsumerEntry {
        try check(space)
        guard case .arrival(let number) = position else {
            throw ControlError(.invalidArgument, "This consumer reads in arrival order.")
        }
        let known = cursors.keys.filter { $0.name == name }
        guard let stream = stream ?? known.first?.stream else {
            throw ControlError(.unknownConsumer, "There is no consumer called \(name).", hint: "See: lanyard consumers")
        }
        let key = CursorKey(name: name, stream: stream)
        cursors[key] = Cursor(position: number, delivered: cursors[key]?.delivered ?? 0)
        return entry(key)
    }

    func removeConsumer(space: String, name: String) throws(ControlError) -> Bool {
        try check(space)
        let known = cursors.keys.filter { $0.name == name }
        for key in known { cursors[key] = nil }
        return !known.isEmpty
    }

    // MARK: Health

    func readiness() -> Readiness { Readiness(ready: true, discovery: .running) }

    func doctorChecks(deep: Bool, progress: @escaping @Sendable (ByteProgress) -> Void) -> [DoctorCheck] {
        if deep { progress(ByteProgress(doneBytes: 1, totalBytes: 2, bytesPerSecond: 1)) }
        return [DoctorCheck(check: "listener", state: .ok, detail: "listens on port 21817")]
    }

    func recentLogLines(limit: Int) -> [String] { ["agent started"] }

    func metricsText() -> String { "# TYPE lanyard_events gauge\nlanyard_events \(arrivals)\n" }

    func check(_ space: String) throws(ControlError) {
        guard space == "home" else {
            throw ControlError(.unknownSpace, "There is no space called \(space).", hint: "See: lanyard status")
        }
    }
}
