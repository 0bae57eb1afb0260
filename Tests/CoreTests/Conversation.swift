import SyncCore
import SyncModel
import SyncSimulator
import Testing

/// One core among paired devices, told what happens and asked what it does. Device 0 is the core's own.
struct Conversation {
    var core: AgentCore
    var now = Tick.milliseconds(1_000)
    /// What the last step asked for.
    private(set) var effects: [Effect] = []
    private var lastAccepted: UInt64 = 0

    static let devices = SimulatedDevice.all

    init(
        own: Int = 0, members: Int = 3, tips: [(replica: ReplicaID, tip: ReplicaTip)] = [],
        bounds: CoreConfiguration.Bounds = .init(), timing: CoreConfiguration.Timing = .init(), compacts: Bool = false,
        faults: CoreFaults = [], blocked: [Int] = [], features: UInt64 = SessionProtocol.features,
        featuresRequired: UInt64 = 0
    ) {
        let device = Self.devices[own]
        var membership = Membership(own: device.fact, sinceMilliseconds: 0)
        for other in Self.devices.prefix(members) where other.id != device.id {
            _ = membership.add(.init(author: device.id, fact: other.fact, wallMilliseconds: 0))
        }
        var configuration = CoreConfiguration(
            own: device.id, name: "own", agentVersion: "test", runID: 1, seed: 1)
        configuration.collectsDeletions = true
        configuration.compacts = compacts
        configuration.bounds = bounds
        configuration.timing = timing
        configuration.faults = faults
        configuration.features = features
        configuration.featuresRequired = featuresRequired
        core = AgentCore(
            configuration: configuration, space: .home, membership: membership, tips: tips, stateDigest: .zero,
            blocked: blocked.map { Self.devices[$0].id }, at: now)
        effects = core.start(at: now)
    }

    mutating func hear(_ input: Input) { effects = core.step(input, at: now) }

    mutating func wait(milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        hear(.deadlinePassed)
    }

    /// The other side dialled us, and has said nothing.
    mutating func open(_ device: Int) -> ConnectionID {
        lastAccepted += 2
        let id = ConnectionID(rawValue: lastAccepted)
        hear(.opened(id, Self.devices[device].id, remote: Endpoint(host: "h\(device)", port: 40_000)))
        return id
    }

    /// The other side dialled us and said hello; what we answered is in `effects`.
    mutating func accept(
        _ device: Int, runID: UInt64 = 7, protocols: ClosedRange<UInt32> = 1...1, features: UInt64 = 0
    ) -> ConnectionID {
        let id = open(device)
        hear(.received(id, .hello(Self.hello(runID: runID, protocols: protocols, features: features)), bytes: 60))
        return id
    }

    static func hello(
        runID: UInt64 = 7, protocols: ClosedRange<UInt32> = 1...1, sessionNumber: UInt64 = 1, features: UInt64 = 0
    ) -> Frame.Hello {
        Frame.Hello(
            protocols: protocols, features: features, featuresRequired: 0, name: "peer", runID: runID,
            sessionNumber: sessionNumber,
            wallMilliseconds: 0, agentVersion: "test", instance: "", listenPort: 21_817, waitingRoomBytes: 1 << 20)
    }

    /// Frames sent on a connection by the last step.
    func sent(_ id: ConnectionID) -> [Frame] {
        effects.compactMap { effect in
            guard case .send(id, let frame) = effect else { return nil }
            return frame
        }
    }

    /// What the peer was told last, if it was told why this ends.
    func goodbye(_ id: ConnectionID) -> Frame.Goodbye? {
        guard case .goodbye(let goodbye)? = sent(id).last else { return nil }
        return goodbye
    }

    func closed(_ id: ConnectionID) -> CloseReason? {
        effects.lazy.compactMap { effect in
            guard case .close(id, let reason) = effect else { return nil }
            return reason
        }.first
    }

    var persisted: (id: PersistID, segments: [VerifiedSegment])? {
        effects.lazy.compactMap { effect in
            guard case .persist(let id, let segments) = effect else { return nil }
            return (id, segments)
        }.first
    }

    /// The store made durable what the core asked for.
    mutating func persist() {
        guard let (id, segments) = persisted else { return }
        hear(.persisted(id, StoreChange(segments: segments, stateDigest: .zero, additions: [])))
    }
}

/// Writes the history of one device, as its own store would.
struct Author {
    private let device: SimulatedDevice
    private var author: ChangeAuthor
    let replica: ReplicaID

    init(_ number: Int, incarnation: UInt64 = 1) {
        device = SimulatedDevice.all[number]
        replica = ReplicaID(device: device.id, incarnation: incarnation)
        author = ChangeAuthor(
            space: .home, replica: replica, tip: .empty(space: .home, replica: replica), named: VersionVector())
    }

    /// One segment of `count` changes, written by somebody who holds `held`.
    mutating func write(_ count: Int = 1, holding held: VersionVector = VersionVector()) -> VerifiedSegment {
        let event = Operation.appendEvent(.init(stream: "s", type: nil, payload: Array("{}".utf8)))
        return write(Array(repeating: [event], count: count), holding: held)
    }

    /// One segment of these changes.
    mutating func write(
        _ changes: [[Operation]], holding held: VersionVector = VersionVector()
    ) -> VerifiedSegment {
        let segments = author.author(
            changes, held: held, greatestStamp: .zero, wallMilliseconds: 1_000,
            sign: device.sign)
        guard let first = segments?.first else { preconditionFailure("stamps are not used up") }
        return first
    }
}

extension VerifiedSegment {
    func push(wantID: UInt64 = 0, last: Bool = false) -> Frame {
        .changes(
            Frame.Changes(
                space: .home, replica: segment.replica, wantID: wantID,
                segments: [
                    Frame.SegmentPart(
                        start: segment.start, end: segment.end, bytes: segment.bytes, signature: segment.signature)
                ], last: last))
    }

    var have: Frame {
        .have(
            Frame.Have(
                space: .home, vectorDigest: tip.digestTerm(of: segment.replica),
                entries: [Frame.HaveEntry(replica: segment.replica, next: tip.next, head: tip.head)], complete: true,
                stateDigest: .zero))
    }
}
