import SimulatedDevices
import SyncCore
import SyncModel

/// Any bytes as what two members send to one core, on sessions that are up: of each step a byte for its kind, and for a frame its
/// length and its bytes. Whatever comes, nothing traps, the core asks for a bounded amount of work, and it goes on.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzSession(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    var reader = ByteReader(bytes)
    var host = Host()
    host.open(0)
    host.open(1)
    for _ in 0..<200 {
        guard let step = try? reader.byte() else { break }
        let peer = Int(step >> 4 & 1)
        switch step & 3 {
        case 0, 1:
            guard let frame = try? reader.lengthPrefixed(upTo: bytes.count, "frame") else { return 0 }
            host.receive(Array(bytes[frame]), from: peer)
        case 2: host.wait(milliseconds: Int64(step >> 2) * 50)
        case _:
            host.close(peer)
            host.open(peer)
        }
    }
    host.wait(milliseconds: 60_000)
    return 0
}

/// A store that takes what the core gives it and can do nothing else, and a network of two members.
private struct Host {
    private var core: AgentCore
    private var now = Tick.milliseconds(1_000)
    private var last: UInt64 = 0
    /// The open connection of each peer; nil where it is closed.
    private var connections: [ConnectionID?] = [nil, nil]
    private var segments: [VerifiedSegment] = []

    private static let devices = SimulatedDevice.all

    init() {
        let own = Self.devices[0]
        var membership = Membership(own: own.fact, sinceMilliseconds: 0)
        for other in Self.devices[1...3] {
            _ = membership.add(.init(author: own.id, fact: other.fact, wallMilliseconds: 0))
        }
        var configuration = CoreConfiguration(own: own.id, name: "own", agentVersion: "fuzz", runID: 1, seed: 1)
        configuration.collectsDeletions = true
        configuration.compacts = true
        configuration.dropsEvents = true
        var cuts = CutTable()
        let key = RecoveryKey(bytes: [UInt8](repeating: 7, count: 32))
        cuts.follow(own.id, recoveryKey: key?.publicKey, in: .home, members: MemberFacts())
        core = AgentCore(
            configuration: configuration, space: .home, membership: membership, tips: [], stateDigest: .zero,
            cuts: cuts, at: now)
        run(core.start(at: now))
    }

    /// The member dials, and says hello.
    mutating func open(_ peer: Int) {
        last += 2
        let connection = ConnectionID(rawValue: last)
        connections[peer] = connection
        let remote = Endpoint(host: "h\(peer)", port: 40_000)
        run(core.step(.opened(connection, Self.devices[peer + 1].id, remote: remote), at: now))
        let hello = Frame.Hello(
            protocols: 1...1, features: SessionProtocol.features, featuresRequired: 0, name: "peer",
            runID: UInt64(peer) + 7, sessionNumber: last, wallMilliseconds: 0, agentVersion: "fuzz", instance: "",
            listenPort: 21_817, waitingRoomBytes: 1 << 20)
        hear(.received(connection, .hello(hello), bytes: 60), on: connection)
    }

    mutating func receive(_ bytes: [UInt8], from peer: Int) {
        guard let connection = connections[peer] else { return }
        do throws(WireError) {
            // A frame of a later version is nothing to a session.
            guard let frame = try FrameCodec.decode(bytes) else { return }
            hear(.received(connection, frame, bytes: bytes.count), on: connection)
        } catch {
            hear(.malformed(connection, code: error.code), on: connection)
        }
    }

    mutating func close(_ peer: Int) {
        guard let connection = connections[peer] else { return }
        connections[peer] = nil
        run(core.step(.closed(connection, code: "peer_closed"), at: now))
    }

    mutating func wait(milliseconds: Int64) {
        let end = now + .milliseconds(milliseconds)
        for _ in 0..<50 {
            guard let next = core.nextDeadline, next <= end else { break }
            now = max(now, next)
            run(core.step(.deadlinePassed, at: now))
        }
        now = end
    }

    private mutating func hear(_ input: Input, on connection: ConnectionID) {
        guard connections.contains(connection) else { return }
        run(core.step(input, at: now))
    }

    private mutating func run(_ effects: [Effect]) {
        var waiting = effects[...]
        var steps = 0
        while let effect = waiting.popFirst() {
            steps += 1
            precondition(steps < 20_000, "one frame costs more than 20,000 effects")
            if let answer = answer(effect) { waiting += core.step(answer, at: now) }
        }
    }

    private mutating func answer(_ effect: Effect) -> Input? {
        switch effect {
        case .persist(let id, let segments):
            self.segments += segments
            return .persisted(id, StoreChange(segments: segments, stateDigest: .zero, additions: []))
        case .read(let id, let replica, let start, _):
            let found = segments.map(\.segment).filter { $0.replica == replica && $0.start >= start }
            return .segmentsRead(id, found.sorted { $0.start < $1.start })
        case .readHeads(let id, let entries): return .headsRead(id, entries.map { _ in nil })
        case .acknowledge: return .acknowledgeFailed(code: "disk_full")
        case .collect: return .collectFailed(code: "disk_full")
        case .compact: return .compactFailed(code: "disk_full")
        case .dropEvents: return .droppedEvents(hasMore: false)
        case .state(let effect): return answer(effect).map(Input.state)
        case .rewriteVoid: return .rewriteFailed(code: "disk_full")
        case .takeBack: return .takenBack(.nothing)
        case .redoTakenBack: return .redoFailed(code: "disk_full")
        case .seal: return .sealed(StoreChange(segments: [], stateDigest: .zero, additions: []))
        case .dial(let id, _): return .dialFailed(id, code: "connection_refused")
        case .close(let id, let reason):
            if let peer = connections.firstIndex(of: id) { connections[peer] = nil }
            return .closed(id, code: reason.rawValue)
        case .keep, .readmit, .settle, .leaveOpen, .closeIncarnation, .send, .establish, .trust, .remember, .bulkPeerUp,
            .bulkPeerDown, .bulkWanted, .presence, .renewPresence, .report, .takeStatements, .wipe, .takeWipeReceipt,
            .wipeReceiptTaken:
            return nil
        }
    }

    private func answer(_ effect: StateEffect) -> StateInput? {
        switch effect {
        case .begin(let id, _):
            .begun(id, since: VersionVector(), stagedEvents: VersionVector(), hasObjects: false)
        case .stage(let id, _): .staged(id, isComplete: false)
        case .lookUp(let id, let announcements): .lookedUp(id, announcements.map { _ in false })
        case .review(let id), .join(let id), .weigh(let id, _), .open(let id, _, _, _, _), .read(let id, _, _):
            .failed(id, code: "disk_full")
        case .discard, .close: nil
        }
    }
}
