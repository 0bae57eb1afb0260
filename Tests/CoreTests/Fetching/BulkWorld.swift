import LawHistories
import SyncCore
import SyncModel
import Testing

/// A few cores, with tables for disks, on links with a delay and a rate, in simulated time; it checks after every step what must
/// never happen.
struct BulkWorld {
    struct Node {
        let device: DeviceID
        var core: BulkCore
        /// What its policy wants, in the order in which to fetch.
        var listed: [BlobWant] = []
        var disk = BulkDisk()
        /// Of its links, each way from here.
        var bytesPerMillisecond = 100_000
        /// It hears, and reads nothing from its disk.
        var isQuiet = false
        /// It says what it holds, and sends nothing of it.
        var isMute = false
        var wakeAt: Int64?
        var reports: [BulkReport] = []
        var nobodyHas: [BlobName] = []
        /// What people are shown.
        var progress: [BlobName: UInt64] = [:]
        var listCount = 0
        var fetchedOrder: [BlobName] = []
        /// Bytes of blobs that it sent.
        var served = 0
        /// Bytes of blobs that came, and of those the ones of chunks that came before.
        var received = 0
        var wasted = 0
    }

    /// A bulk connection; the ends are nodes with what they call it.
    struct Pipe {
        let ends: [(node: Int, id: ConnectionID)]
        /// When the last that each end sent will have left.
        var freeAt: [Int64] = [0, 0]
        /// What came to an end that does not read.
        var held: [[(frame: BulkFrame, bytes: Int)]] = [[], []]
        var isReading = [true, true]
        var isOpen = true
        /// Nothing gets through, and neither end is told.
        var isPartitioned = false
    }

    enum Event {
        case input(node: Int, BulkInput)
        case arrive(pipe: Int, end: Int, BulkFrame, bytes: Int)
        case disk(node: Int, BulkEffect)
        case wake(node: Int, at: Int64)
    }

    var nodes: [Node] = []
    var pipes: [Pipe] = []
    /// Pairs with a session; the first dialled.
    var sessions: [(dialler: Int, acceptor: Int)] = []
    var random: SeededGenerator
    /// Nanoseconds.
    private(set) var now: Int64 = 1_000_000_000
    private var events: [(at: Int64, number: Int, event: Event)] = []
    private var eventCount = 0
    private var lastAccepted: UInt64 = 0
    var delayMilliseconds: Int64 = 1
    var check = BulkCheck()
    /// Is told each frame as it reaches a node.
    var carry: ((_ sender: Int, _ node: Int, BulkFrame, _ nanoseconds: Int64) -> Void)?
    /// Nodes whose cores do nothing: what they say comes from a recording.
    var recorded: Set<Int> = []

    init(
        seed: UInt64 = 1, nodes count: Int, _ configure: (inout BulkConfiguration, Int) -> Void = { _, _ in }
    ) {
        random = SeededGenerator(seed: seed)
        for number in 0..<count {
            var configuration = BulkConfiguration(seed: seed &+ UInt64(number))
            configure(&configuration, number)
            let device = DeviceID(bytes: [UInt8](repeating: UInt8(number + 1), count: DeviceID.byteCount))!
            nodes.append(
                Node(device: device, core: BulkCore(configuration: configuration, at: Tick(nanoseconds: now))))
        }
    }

    // MARK: Blobs

    static func name(_ number: Int, size: UInt64 = 10) -> BlobName {
        let bytes = (0..<32).map { $0 < 4 ? UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) : 7 }
        return BlobName(BlobHash(bytes: bytes)!, size: size)
    }

    static func want(_ number: Int, size: UInt64, stamp: UInt64 = 1) -> BlobWant {
        BlobWant(blob: name(number, size: size), stamp: Stamp(rawValue: stamp))
    }

    /// It is here as a whole, and its hash covers that size, whatever records say.
    mutating func give(_ want: BlobWant, to node: Int) {
        for index in nodes.indices { nodes[index].disk.truths[want.blob.hash] = want.blob.size }
        nodes[node].disk.whole.insert(want.blob)
    }

    /// It should be here.
    mutating func list(_ wants: [BlobWant], at node: Int) {
        nodes[node].listed = (nodes[node].listed + wants).sorted { left, right in
            left.blob.size == right.blob.size
                ? (right.stamp, left.blob) < (left.stamp, right.blob) : left.blob.size < right.blob.size
        }
        hear(node, .missingChanged)
    }

    // MARK: Sessions

    mutating func connect(_ dialler: Int, _ acceptor: Int) {
        sessions.append((dialler, acceptor))
        hear(dialler, .sessionUp(nodes[acceptor].device, dial: Endpoint(host: "\(acceptor)", port: 1)))
        hear(acceptor, .sessionUp(nodes[dialler].device, dial: nil))
    }

    mutating func disconnect(_ left: Int, _ right: Int) {
        sessions.removeAll { Set([$0.dialler, $0.acceptor]) == [left, right] }
        for pipe in pipes.indices where Set(pipes[pipe].ends.map(\.node)) == [left, right] {
            pipes[pipe].isPartitioned = true
        }
        hear(left, .sessionDown(nodes[right].device))
        hear(right, .sessionDown(nodes[left].device))
    }

    // MARK: Time

    mutating func plan(_ event: Event, after milliseconds: Int64) { plan(event, at: now + milliseconds * 1_000_000) }

    private mutating func plan(_ event: Event, at: Int64) {
        eventCount += 1
        // A heap of its own would be faster; there are some hundred at a time.
        var place = events.count
        while place > 0, (events[place - 1].at, events[place - 1].number) < (at, eventCount) { place -= 1 }
        events.insert((at, eventCount, event), at: place)
    }

    /// Until it holds, for so long at most.
    ///
    /// - Returns: milliseconds; nil: it did not come to hold.
    mutating func run(milliseconds limit: Int64, until isDone: (BulkWorld) -> Bool = { _ in false }) -> Int64? {
        let start = now
        while let next = events.last {
            if isDone(self) { return (now - start) / 1_000_000 }
            guard next.at <= start + limit * 1_000_000 else { break }
            events.removeLast()
            now = max(now, next.at)
            perform(next.event)
        }
        if isDone(self) { return (now - start) / 1_000_000 }
        now = start + limit * 1_000_000
        return nil
    }

    /// Until this time, in nanoseconds.
    mutating func run(until end: Int64) {
        while let next = events.last, next.at <= end {
            events.removeLast()
            now = max(now, next.at)
            perform(next.event)
        }
        now = max(now, end)
    }

    /// That it comes to hold is expected.
    mutating func reach(
        within milliseconds: Int64, sourceLocation: SourceLocation = #_sourceLocation,
        until isDone: (BulkWorld) -> Bool
    ) {
        if run(milliseconds: milliseconds, until: isDone) == nil {
            Issue.record("not so within \(milliseconds) ms", sourceLocation: sourceLocation)
        }
    }

    /// - Returns: milliseconds.
    mutating func mustReach(
        within milliseconds: Int64, sourceLocation: SourceLocation = #_sourceLocation,
        until isDone: (BulkWorld) -> Bool
    ) throws -> Int64 {
        let span = run(milliseconds: milliseconds, until: isDone)
        return try #require(span, sourceLocation: sourceLocation)
    }

    private mutating func perform(_ event: Event) {
        switch event {
        case .input(let node, let input): hear(node, input)
        case .arrive(let pipe, let end, let frame, let bytes): arrive(pipe, end, frame, bytes)
        case .disk(let node, let effect):
            guard let input = nodes[node].disk.perform(effect, random: &random) else { return }
            check.answered(node, effect)
            hear(node, input)
        case .wake(let node, let at):
            guard nodes[node].wakeAt == at else { return }
            nodes[node].wakeAt = nil
            hear(node, .deadlinePassed)
        }
    }

    mutating func hear(_ node: Int, _ input: BulkInput) {
        guard !recorded.contains(node) else { return }
        check.heard(node, input, &nodes[node])
        let effects = nodes[node].core.step(input, at: Tick(nanoseconds: now))
        for effect in effects { perform(node, effect) }
        check.load(node, nodes[node].core)
        guard let deadline = nodes[node].core.nextDeadline else { return }
        let at = max(now + 1_000, deadline.nanoseconds)
        if let planned = nodes[node].wakeAt, planned <= at { return }
        nodes[node].wakeAt = at
        plan(.wake(node: node, at: at), at: at)
    }

    // MARK: Effects

    private mutating func perform(_ node: Int, _ effect: BulkEffect) {
        switch effect {
        case .dial(let id, let endpoint): dial(node, id, Int(endpoint.host) ?? 0)
        case .askForBulk(let device):
            guard let other = nodes.firstIndex(where: { $0.device == device }) else { return }
            plan(.input(node: other, .bulkWanted(nodes[node].device)), after: delayMilliseconds)
        case .send(let id, let frame): send(node, id, frame)
        case .establish: return
        case .setReading(let id, let reads): setReading(node, id, reads)
        case .close(let id, _): close(node, id)
        case .listMissing(let id, let except, let limit):
            nodes[node].listCount += 1
            let except = Set(except)
            let state = nodes[node]
            let missing = state.listed.filter { !state.disk.whole.contains($0.blob) && !except.contains($0.blob) }
                .map { state.disk.partial[$0.blob] == nil ? $0 : $0.begun }
            plan(.input(node: node, .missing(id, Array(missing.prefix(limit)))), after: 1)
        case .lookUp, .readHashes, .readChunk, .readSmall:
            let isLookUp = if case .lookUp = effect { true } else { false }
            if nodes[node].isQuiet || nodes[node].isMute && !isLookUp { return }
            plan(.disk(node: node, effect), after: 1 + Int64(random.below(2)))
        case .begin, .write, .finish, .putAside, .writeSmall:
            check.disk(node, effect, nodes[node].disk)
            // One after the other, as they were told.
            nodes[node].disk.freeAt = max(nodes[node].disk.freeAt, now) + Int64(random.below(1_000_000))
            plan(.disk(node: node, effect), at: nodes[node].disk.freeAt + 500_000)
        case .recordHolder: return
        case .progress(let blob, let presentBytes): nodes[node].progress[blob] = presentBytes
        case .nobodyHas(let blob): nodes[node].nobodyHas.append(blob)
        case .report(let report):
            nodes[node].reports.append(report)
            if case .fetched(let blob) = report { nodes[node].fetchedOrder.append(blob) }
        }
    }

    mutating func dial(_ node: Int, _ id: ConnectionID, _ target: Int) {
        guard sessions.contains(where: { $0.dialler == node && $0.acceptor == target }) else {
            return plan(.input(node: node, .dialFailed(id, code: "refused")), after: delayMilliseconds)
        }
        lastAccepted += 2
        let accepted = ConnectionID(rawValue: lastAccepted)
        pipes.append(Pipe(ends: [(node, id), (target, accepted)]))
        plan(.input(node: node, .opened(id, nodes[target].device)), after: delayMilliseconds)
        plan(.input(node: target, .opened(accepted, nodes[node].device)), after: delayMilliseconds)
    }

    private func end(_ node: Int, _ id: ConnectionID) -> (pipe: Int, end: Int)? {
        for pipe in pipes.indices {
            if let end = pipes[pipe].ends.firstIndex(where: { $0.node == node && $0.id == id }) { return (pipe, end) }
        }
        return nil
    }

    private mutating func send(_ node: Int, _ id: ConnectionID, _ frame: BulkFrame) {
        guard let (pipe, end) = end(node, id), pipes[pipe].isOpen else { return }
        check.sent(node, id, frame, nodes[node].disk)
        nodes[node].served += frame.blobBytes
        let bytes = frame.blobBytes + 16 + 32 * frame.hashCount
        let start = max(now, pipes[pipe].freeAt[end])
        let left = start + Int64(bytes) * 1_000_000 / Int64(nodes[node].bytesPerMillisecond)
        pipes[pipe].freeAt[end] = left
        plan(.input(node: node, .written(id, bytes: bytes)), at: left)
        plan(.arrive(pipe: pipe, end: 1 - end, frame, bytes: bytes), at: left + delayMilliseconds * 1_000_000)
    }

    private mutating func arrive(_ pipe: Int, _ end: Int, _ frame: BulkFrame, _ bytes: Int) {
        guard !pipes[pipe].isPartitioned, pipes[pipe].isOpen else { return }
        guard pipes[pipe].isReading[end] else { return pipes[pipe].held[end].append((frame, bytes)) }
        let (node, id) = pipes[pipe].ends[end]
        carry?(pipes[pipe].ends[1 - end].node, node, frame, now)
        hear(node, .received(id, frame, bytes: bytes))
    }

    private mutating func setReading(_ node: Int, _ id: ConnectionID, _ reads: Bool) {
        guard let (pipe, end) = end(node, id) else { return }
        pipes[pipe].isReading[end] = reads
        guard reads else { return }
        let held = pipes[pipe].held[end]
        pipes[pipe].held[end] = []
        for (frame, bytes) in held { plan(.arrive(pipe: pipe, end: end, frame, bytes: bytes), after: 0) }
    }

    private mutating func close(_ node: Int, _ id: ConnectionID) {
        check.closed(node, id)
        guard let (pipe, end) = end(node, id) else { return }
        plan(.input(node: node, .closed(id, code: "closed")), at: max(now, pipes[pipe].freeAt[end]))
        let other = pipes[pipe].ends[1 - end]
        check.closed(other.node, other.id)
        guard !pipes[pipe].isPartitioned else { return }
        pipes[pipe].isPartitioned = true
        let at = max(now, pipes[pipe].freeAt[end]) + delayMilliseconds * 1_000_000
        plan(.input(node: other.node, .closed(other.id, code: "ended")), at: at)
    }
}

extension BlobWant {
    fileprivate var begun: BlobWant { BlobWant(blob: blob, stamp: stamp, isBegun: true) }
}

extension BulkFrame {
    var blobBytes: Int {
        switch self {
        case .chunk(let chunk): chunk.bytes.count
        case .smallBlobs(let small): small.blobs.reduce(0) { $0 + $1.bytes.count }
        case .hashes(let hashes): hashes.bytes.count
        case .hello, .want, .unwant, .holding, .hashesRequest, .request, .cancel, .smallRequest, .refusal, .goodbye: 0
        }
    }

    var hashCount: Int {
        switch self {
        case .want(let want): want.blobs.count
        case .unwant(let unwant): unwant.blobs.count
        case .smallRequest(let request): request.blobs.count
        case .hello, .holding, .hashesRequest, .hashes, .request, .cancel, .chunk, .smallBlobs, .refusal, .goodbye: 1
        }
    }
}
