package import SyncModel

/// Which chunks of which blobs to ask whom for next: pure, so that the simulator can judge it.
///
/// Several peers at once, each up to its window; few blobs at a time, a chunk range each in turn, so that none waits for
/// another to be whole; what a person waits for first, then what is small, then what is new. No chunk is asked of two peers, and
/// none that is here. A peer that does not get on is asked for less, and others for what it owes; one that sends wrong bytes is
/// not asked for that blob again.
///
/// Bounds: `activeLimit` blobs at work, `windowBytes` in flight a peer; a set of chunks (8 KiB at most) for each blob at work.
package struct FetchPlanner: Sendable {
    package struct Configuration: Sendable {
        /// In flight with one peer at most.
        package var windowBytes = 8 << 20
        /// Blobs at work at once.
        package var activeLimit = 4
        /// Of one request.
        package var requestChunks = 8
        /// A peer that sent nothing for so long owes what it was asked for to others.
        package var stallMilliseconds: Int64 = 2_000

        package init() {}
    }

    package enum Urgency: Int, Comparable, Sendable {
        case background
        case person

        package static func < (left: Urgency, right: Urgency) -> Bool { left.rawValue < right.rawValue }
    }

    package struct Request: Hashable, Sendable {
        package let id: UInt64
        package let peer: DeviceID
        package let blob: BlobHash
        package let chunks: Range<Int>
    }

    package enum Effect: Hashable, Sendable {
        case ask(Request)
        /// Nobody waits for the rest of it any more.
        case cancel(Request)
    }

    private struct Want: Sendable {
        let hash: BlobHash
        let layout: BlobLayout
        var present: ChunkSet
        /// Asked for, and not here.
        var asked: ChunkSet
        var urgency: Urgency
        let stamp: Stamp
        /// Holders, with what they hold; nil: all of it.
        var holders: [DeviceID: ChunkSet?] = [:]
        /// Holders that sent bytes which are not of it.
        var liars: Set<DeviceID> = []

        func holds(_ chunk: Int, _ peer: DeviceID) -> Bool {
            guard let held = holders[peer], !liars.contains(peer) else { return false }
            return held?.contains(chunk) ?? true
        }
    }

    private struct Peer: Sendable {
        var window: Int
        var inFlight = 0
        var lastProgress: Int64
        /// Owes what it was asked for; asked again once it sends anything, or nobody else has it.
        var isSlow = false
    }

    private struct Open: Sendable {
        let request: Request
        let layout: BlobLayout
        /// Chunks that have not come.
        var missing: Set<Int>
    }

    private let configuration: Configuration
    /// In the order in which they are worked on.
    private var wants: [Want] = []
    private var peers: [DeviceID: Peer] = [:]
    /// By id, so in the order they were made.
    private var open: [UInt64: Open] = [:]
    private var nextID: UInt64 = 1
    /// Whose turn it is among the blobs at work.
    private var turn = 0

    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    // MARK: What is wanted

    /// - Parameter present: chunks that are here and were checked.
    package mutating func want(
        _ hash: BlobHash, _ layout: BlobLayout, present: ChunkSet, _ urgency: Urgency, stamp: Stamp
    ) {
        precondition(present.count == layout.chunkCount, "a set of the blob's chunks")
        if let index = index(of: hash) {
            guard urgency > wants[index].urgency else { return }
            var want = wants.remove(at: index)
            want.urgency = urgency
            insert(want)
        } else {
            insert(
                Want(
                    hash: hash, layout: layout, present: present, asked: ChunkSet(count: layout.chunkCount),
                    urgency: urgency, stamp: stamp))
        }
    }

    private mutating func insert(_ want: Want) {
        let place = wants.firstIndex { Self.isBefore(want, $0) } ?? wants.count
        wants.insert(want, at: place)
    }

    private static func isBefore(_ left: Want, _ right: Want) -> Bool {
        if left.urgency != right.urgency { return left.urgency > right.urgency }
        if left.layout.size != right.layout.size { return left.layout.size < right.layout.size }
        if left.stamp != right.stamp { return left.stamp > right.stamp }
        return left.hash < right.hash
    }

    /// Nobody wants it any more.
    package mutating func forget(_ hash: BlobHash) -> [Effect] {
        guard let index = index(of: hash) else { return [] }
        wants.remove(at: index)
        return take(back: open.values.filter { $0.request.blob == hash })
    }

    package func isWanted(_ hash: BlobHash) -> Bool { index(of: hash) != nil }

    private func index(of hash: BlobHash) -> Int? { wants.firstIndex { $0.hash == hash } }

    // MARK: Who has it

    package mutating func connected(_ peer: DeviceID, at now: Int64) {
        peers[peer] = Peer(window: configuration.windowBytes, lastProgress: now)
    }

    /// - Parameter chunks: nil: all of them.
    package mutating func offered(_ hash: BlobHash, by peer: DeviceID, _ chunks: ChunkSet?) {
        guard peers[peer] != nil, let index = index(of: hash) else { return }
        if let chunks, chunks.count != wants[index].layout.chunkCount { return }
        wants[index].holders[peer] = .some(chunks)
    }

    package mutating func disconnected(_ peer: DeviceID) {
        peers[peer] = nil
        for index in wants.indices { wants[index].holders[peer] = nil }
        for (id, request) in open where request.request.peer == peer { close(id, request) }
    }

    // MARK: What comes

    /// A chunk came and was checked. False: nobody waits for it.
    package mutating func received(_ chunk: Int, of id: UInt64, at now: Int64) -> Bool {
        guard let index = settle(chunk, of: id, at: now) else { return false }
        return wants[index].present.insert(chunk)
    }

    /// What came is not the chunk.
    package mutating func rejected(_ chunk: Int, of id: UInt64, at now: Int64) -> [Effect] {
        guard let peer = open[id]?.request.peer, let blob = open[id]?.request.blob,
            let index = settle(chunk, of: id, at: now)
        else { return [] }
        wants[index].liars.insert(peer)
        return take(back: open.values.filter { $0.request.peer == peer && $0.request.blob == blob })
    }

    /// - Returns: the place of the blob.
    private mutating func settle(_ chunk: Int, of id: UInt64, at now: Int64) -> Int? {
        guard var request = open[id], request.missing.remove(chunk) != nil else { return nil }
        open[id] = request.missing.isEmpty ? nil : request
        let bytes = request.layout.range(of: chunk).count
        peers[request.request.peer]?.inFlight -= bytes
        peers[request.request.peer]?.lastProgress = now
        peers[request.request.peer]?.isSlow = false
        if let window = peers[request.request.peer]?.window {
            peers[request.request.peer]?.window = min(configuration.windowBytes, window + bytes)
        }
        guard let index = index(of: request.request.blob) else { return nil }
        wants[index].asked.remove(chunk)
        return index
    }

    /// Takes away what is whole.
    package mutating func finished() -> [BlobHash] {
        let whole = wants.filter(\.present.isComplete).map(\.hash)
        wants.removeAll(where: \.present.isComplete)
        return whole
    }

    // MARK: What to do

    /// What to ask for now, and what not to wait for any longer.
    package mutating func plan(at now: Int64) -> [Effect] {
        var effects = releaseStalled(at: now)
        // A range each, in turn, until nobody has room or anything to send.
        var isMoving = true
        while isMoving {
            isMoving = false
            for peer in peers.keys.sorted() where room(of: peer) >= BlobLayout.chunkBytes {
                guard let request = nextRequest(of: peer) else { continue }
                begin(request, at: now)
                effects.append(.ask(request))
                isMoving = true
            }
        }
        return effects
    }

    /// When to plan again though nothing happened; nil: never.
    package var deadline: Int64? {
        let waiting = Set(open.values.map(\.request.peer))
        return peers.filter { waiting.contains($0.key) }.map(\.value.lastProgress).min().map {
            $0 + configuration.stallMilliseconds
        }
    }

    private func room(of peer: DeviceID) -> Int { peers[peer].map { $0.window - $0.inFlight } ?? 0 }

    private mutating func nextRequest(of peer: DeviceID) -> Request? {
        let active = wants.prefix(configuration.activeLimit).count
        for step in 0..<active {
            let index = (turn + step) % active
            guard let chunks = nextChunks(of: wants[index], from: peer) else { continue }
            turn = (index + 1) % active
            defer { nextID += 1 }
            return Request(id: nextID, peer: peer, blob: wants[index].hash, chunks: chunks)
        }
        return nil
    }

    private func nextChunks(of want: Want, from peer: DeviceID) -> Range<Int>? {
        guard want.holders[peer] != nil, !want.liars.contains(peer) else { return nil }
        // A slow one is asked for what nobody else can send.
        let isSlow = peers[peer]?.isSlow ?? true
        func isFree(_ chunk: Int) -> Bool {
            guard !want.present.contains(chunk), !want.asked.contains(chunk), want.holds(chunk, peer) else {
                return false
            }
            return !isSlow || !peers.contains { !$0.value.isSlow && $0.key != peer && want.holds(chunk, $0.key) }
        }
        var start = 0
        while let missing = want.present.firstMissing(from: start) {
            guard isFree(missing) else {
                start = missing + 1
                continue
            }
            var end = missing + 1
            let most = min(configuration.requestChunks, max(1, room(of: peer) / BlobLayout.chunkBytes))
            while end < want.layout.chunkCount, end - missing < most, isFree(end) { end += 1 }
            return missing..<end
        }
        return nil
    }

    private mutating func begin(_ request: Request, at now: Int64) {
        guard let index = index(of: request.blob) else { return }
        if peers[request.peer]?.inFlight == 0 { peers[request.peer]?.lastProgress = now }
        open[request.id] = Open(request: request, layout: wants[index].layout, missing: Set(request.chunks))
        for chunk in request.chunks {
            wants[index].asked.insert(chunk)
            peers[request.peer]?.inFlight += wants[index].layout.range(of: chunk).count
        }
    }

    private mutating func releaseStalled(at now: Int64) -> [Effect] {
        var effects: [Effect] = []
        for (peer, state) in peers.sorted(by: { $0.key < $1.key }) where state.inFlight > 0 {
            guard now - state.lastProgress >= configuration.stallMilliseconds else { continue }
            peers[peer]?.isSlow = true
            peers[peer]?.window = max(BlobLayout.chunkBytes, state.window / 2)
            peers[peer]?.lastProgress = now
            effects += take(back: open.values.filter { $0.request.peer == peer })
        }
        return effects
    }

    private mutating func take(back requests: [Open]) -> [Effect] {
        requests.sorted { $0.request.id < $1.request.id }.map { request in
            close(request.request.id, request)
            return .cancel(request.request)
        }
    }

    private mutating func close(_ id: UInt64, _ request: Open) {
        open[id] = nil
        let index = index(of: request.request.blob)
        for chunk in request.missing {
            peers[request.request.peer]?.inFlight -= request.layout.range(of: chunk).count
            if let index { wants[index].asked.remove(chunk) }
        }
    }
}
