import SyncCore
import SyncModel
import SyncSimulator
import SyncStore
import Synchronization
import Testing

/// A few agents, each a core and a store, on links without delay: small enough to tell one history exactly.
struct Mesh {
    struct Node {
        let device: SimulatedDevice
        /// As others know it.
        var fact: MemberFact
        var disk: SimulatedDisk
        var store: SQLiteStore
        var core: AgentCore
        /// Rows of acknowledgements it sent, with the bytes of their frames.
        var rowsSent = 0
        var rowBytesSent = 0
        var framesSent = 0
        var states = SimulatedStates()
    }

    private struct Link {
        let ends: [Int]
        /// The connection's number at each end.
        let ids: [ConnectionID]
        var isOpen = true

        func id(at node: Int) -> ConnectionID { ids[ends[0] == node ? 0 : 1] }
    }

    /// The counts that a node showed once something that it received was durable.
    struct View {
        let node: Int
        let counts: StoreCounts
        let isWritingAgain: Bool
    }

    private(set) var nodes: [Node] = []
    private(set) var views: [View] = []
    private var links: [Link] = []
    private var queue: [(node: Int, Effect)] = []
    private(set) var now = Tick.milliseconds(1_000)
    private var lastConnection: UInt64 = 0
    private let faults: CoreFaults
    private let bounds: CoreConfiguration.Bounds
    private let configure: (inout CoreConfiguration) -> Void
    /// Is told each step of each core.
    var observe: ((_ node: Int, Input, [Effect], Tick) -> Void)?
    /// Is told the bytes of each frame that one node sends another.
    var carry: ((_ sender: Int, _ node: Int, Frame, [UInt8], Tick) -> Void)?
    /// Nodes whose cores and stores do nothing: what they say comes by `send(_:from:to:)`, from a recording.
    var recorded: Set<Int> = []
    /// Nodes that take nothing back of what they wrote, as the agent of a thief would be made not to.
    var stubborn: Set<Int> = []
    /// Cores reach what they dial; otherwise every dial fails.
    var dials = false
    private var dialled: [(node: Int, ConnectionID, Endpoint)] = []
    /// Nodes that read nothing, with what waits for them.
    private var stalled: [Int: [(sender: Int, ConnectionID, Frame)]] = [:]

    init(
        _ count: Int, faults: CoreFaults = [], readers: Set<Int> = [],
        bounds: CoreConfiguration.Bounds = .init(), configure: @escaping (inout CoreConfiguration) -> Void = { _ in }
    ) throws {
        self.faults = faults
        self.bounds = bounds
        self.configure = configure
        for number in 0..<count {
            let device = SimulatedDevice.all[number]
            let disk = SimulatedDisk()
            let store = try Self.open(disk, device, incarnation: 1)
            var fact = device.fact
            if readers.contains(number) {
                fact = MemberFact(
                    subjectPublicKeyInfo: fact.subjectPublicKeyInfo, signingKey: fact.signingKey,
                    binding: fact.binding, discoveryKey: fact.discoveryKey, role: .reader, name: fact.name)
            }
            let core = try core(device, store)
            nodes.append(Node(device: device, fact: fact, disk: disk, store: store, core: core))
        }
    }

    private static func open(
        _ disk: SimulatedDisk, _ device: SimulatedDevice, incarnation: UInt64, _ faults: StoreFaults = []
    ) throws -> SQLiteStore {
        let next = Mutex(incarnation << 32)
        return try disk.open(device, faults: faults) {
            next.withLock {
                $0 += 1
                return $0
            }
        }
    }

    private func core(_ device: SimulatedDevice, _ store: SQLiteStore) throws -> AgentCore {
        let state = try store.state()
        var membership = Membership(own: device.fact, sinceMilliseconds: 0)
        for addition in state.additions { _ = membership.add(addition) }
        var configuration = CoreConfiguration(
            own: device.id, name: device.fact.name, agentVersion: "test", runID: UInt64(now.nanoseconds), seed: 1)
        configuration.faults = faults
        configuration.bounds = bounds
        configuration.exchangesState = false
        configuration.collectsDeletions = true
        configuration.bounds.collectionStepObjects = 4
        configure(&configuration)
        return AgentCore(
            configuration: configuration, space: .home, membership: membership,
            tips: state.tips.map { ($0.replica, $0.tip) }, stateDigest: state.digest,
            acknowledgements: state.acknowledgements, ownReplica: state.ownReplica, firstHeld: state.firstHeld,
            cuts: state.cuts,
            settled: state.settled, gaveWay: state.gaveWay,
            awaited: state.awaited, hasTakenBack: state.hasTakenBack, at: now)
    }

    // MARK: What happens

    /// Bounds with which a state is offered for a handful of operations.
    static var offeringSoon: CoreConfiguration.Bounds {
        var bounds = CoreConfiguration.Bounds()
        (bounds.stateOfferOperations, bounds.stateOfferBytes, bounds.stateOfferFactor) = (8, 1, 1)
        return bounds
    }

    /// Both make each other members, and connect.
    mutating func pair(_ left: Int, _ right: Int) throws {
        for (node, other) in [(left, right), (right, left)] where !recorded.contains(node) {
            try append(node, .operations([.addMember(nodes[other].fact)]))
        }
        connect(left, right)
    }

    /// A machine that holds nothing yet.
    mutating func add() throws { try add(SimulatedDisk()) }

    /// A machine with a copy of a node's disk, and a key of its own.
    mutating func addCopy(of node: Int, _ faults: StoreFaults = []) throws { try add(try image(of: node), faults) }

    private mutating func add(_ disk: SimulatedDisk, _ faults: StoreFaults = []) throws {
        let device = SimulatedDevice.all[nodes.count]
        let store = try Self.open(disk, device, incarnation: UInt64(now.nanoseconds), faults)
        let core = try core(device, store)
        nodes.append(Node(device: device, fact: device.fact, disk: disk, store: store, core: core))
    }

    mutating func connect(_ left: Int, _ right: Int) {
        lastConnection += 2
        let link = Link(
            ends: [left, right],
            ids: [ConnectionID(rawValue: lastConnection), ConnectionID(rawValue: lastConnection)])
        links.append(link)
        for (one, other) in [(left, right), (right, left)] {
            let remote = Endpoint(host: "node\(other)", port: 1)
            step(one, .opened(link.ids[0], nodes[other].device.id, remote: remote))
        }
        performAll()
    }

    mutating func disconnect(_ node: Int) {
        for number in links.indices where links[number].ends.contains(node) { close(number) }
        performAll()
    }

    private mutating func close(_ number: Int) {
        guard links[number].isOpen else { return }
        links[number].isOpen = false
        for (end, id) in zip(links[number].ends, links[number].ids) { step(end, .closed(id, code: "connection_reset")) }
    }

    /// The agent says goodbye and ends.
    mutating func stop(_ node: Int) {
        for effect in nodes[node].core.stop(at: now) { queue.append((node, effect)) }
        performAll()
    }

    /// The process is killed and starts again; its sessions are over.
    mutating func restart(_ node: Int) throws {
        disconnect(node)
        nodes[node].disk.crash(nodes[node].store, losingPower: false)
        nodes[node].store = try Self.open(nodes[node].disk, nodes[node].device, incarnation: UInt64(now.nanoseconds))
        nodes[node].core = try core(nodes[node].device, nodes[node].store)
    }

    /// What the machine is now, with what is in its memory.
    mutating func image(of node: Int) throws -> SimulatedDisk {
        step(node, .sealed(StoreChange(of: try nodes[node].store.seal())))
        performAll()
        return nodes[node].disk.copy()
    }

    /// Drops from its log what is in the vector, which all have.
    mutating func compact(_ node: Int, upTo stable: VersionVector) throws {
        let store = nodes[node].store
        var pass = try store.beginCompaction(stable: stable, before: Stamp(rawValue: .max))
        while !pass.isOver { _ = try store.compact(&pass) }
        step(node, .compacted(firstHeld: try store.state().firstHeld, isLast: true))
        performAll()
    }

    /// What all nodes hold.
    func common() throws -> VersionVector {
        try nodes.map { node in
            VersionVector(try node.store.state().tips.map { .init(replica: $0.replica, next: $0.tip.next) })
        }.reduce(nil) { (common: VersionVector?, vector) in common?.meet(vector) ?? vector } ?? VersionVector()
    }

    /// The machine is put back to an earlier moment while it runs: it does not know, and writes on under the replica of then.
    mutating func putBack(_ node: Int, _ image: SimulatedDisk, _ faults: StoreFaults = []) throws {
        disconnect(node)
        nodes[node].disk.crash(nodes[node].store, losingPower: false)
        nodes[node].disk = image.copy()
        nodes[node].store = try Self.open(
            nodes[node].disk, nodes[node].device, incarnation: UInt64(now.nanoseconds),
            faults.union(.reuseCounterAfterCrash))
        nodes[node].core = try core(nodes[node].device, nodes[node].store)
    }

    /// A node that turned bad sends this on its session with another one.
    mutating func send(_ frame: Frame, from hostile: Int, to node: Int) {
        guard let link = links.first(where: { $0.isOpen && Set($0.ends) == [hostile, node] }) else { return }
        step(node, .received(link.id(at: node), frame, bytes: 300))
        performAll()
    }

    func isConnected(_ left: Int, _ right: Int) -> Bool {
        links.contains { $0.isOpen && Set($0.ends) == [left, right] }
    }

    @discardableResult
    mutating func append(_ node: Int, _ write: LocalWrite) throws -> Result<WriteOutcome, WriteRefusal> {
        let result = try nodes[node].store.append([write], wallMilliseconds: 1_700_000_000_000)
        if !result.commit.segments.isEmpty { step(node, .appended(StoreChange(of: result.commit))) }
        performAll()
        return result.outcomes[0]
    }

    /// Time goes on, and every deadline in it passes.
    mutating func pass(seconds: Int64) { pass(until: now + .seconds(seconds)) }

    mutating func pass(until end: Tick) {
        let live = nodes.indices.filter { !recorded.contains($0) }
        var lastStep = now
        while let next = live.compactMap({ nodes[$0].core.nextDeadline }).min(), next <= end {
            now = max(now, next)
            lastStep = now
            for node in live where nodes[node].core.nextDeadline.map({ $0 <= now }) ?? false {
                step(node, .deadlinePassed)
            }
            performAll()
            // A deadline that stays where it is must not stop time.
            now = now + Tick.Span(nanoseconds: 1_000)
        }
        // A core may have been told a time a little behind the end, by such a deadline.
        now = max(end, lastStep)
    }

    // MARK: Interpreting

    private mutating func step(_ node: Int, _ input: Input) {
        guard !recorded.contains(node) else { return }
        let effects = nodes[node].core.step(input, at: now)
        observe?(node, input, effects, now)
        for effect in effects { queue.append((node, effect)) }
    }

    /// Performs all effects, and what follows from them at this moment. Dials of one moment cross each other.
    private mutating func performAll() {
        repeat {
            while !queue.isEmpty {
                let (node, effect) = queue.removeFirst()
                perform(node, effect)
            }
            let open = dialled
            dialled = []
            for (node, id, endpoint) in open { answer(node, id, endpoint) }
        } while !queue.isEmpty || !dialled.isEmpty
    }

    private mutating func answer(_ node: Int, _ id: ConnectionID, _ endpoint: Endpoint) {
        guard let other = nodes.indices.first(where: { endpoint.host == "node\($0)" }) else {
            return step(node, .dialFailed(id, code: "no_answer"))
        }
        lastConnection += 2
        let accepted = ConnectionID(rawValue: lastConnection)
        links.append(Link(ends: [node, other], ids: [id, accepted]))
        step(node, .opened(id, nodes[other].device.id, remote: endpoint))
        step(other, .opened(accepted, nodes[node].device.id, remote: Endpoint(host: "node\(node)", port: 1)))
    }

    private mutating func perform(_ node: Int, _ effect: Effect) {
        let store = nodes[node].store
        switch effect {
        case .persist(let id, let segments):
            do {
                let commit = try store.apply(segments, wallMilliseconds: 0)
                step(node, .persisted(id, StoreChange(of: commit)))
                if let counts = try? store.state().counts {
                    views.append(View(node: node, counts: counts, isWritingAgain: nodes[node].core.isWritingAgain))
                }
            } catch {
                step(node, .persistFailed(id, code: "\(error)"))
            }
        case .read(let id, let replica, let start, let bytes):
            let segments = (try? store.segments(of: replica, from: start, byteBudget: bytes)) ?? []
            step(node, .segmentsRead(id, segments))
        case .readHeads(let id, let entries):
            step(node, .headsRead(id, (try? store.heads(at: entries)) ?? []))
        case .acknowledge(let acknowledgement):
            do { step(node, .acknowledged(try store.acknowledge(acknowledgement))) } catch {
                step(node, .acknowledgeFailed(code: "\(error)"))
            }
        case .leaveOpen: try? store.leaveOpen()
        case .closeIncarnation(let replica): try? store.closeIncarnation(of: replica)
        case .seal: if let commit = try? store.seal() { step(node, .sealed(StoreChange(of: commit))) }
        case .keep(let acknowledgements): try? store.keep(acknowledgements)
        case .collect(let stable, let after, let limit):
            do {
                let collected = try store.collect(upTo: stable, after: after, limit: limit)
                step(node, .collected(next: collected.next, hasForgotten: collected.objects > 0))
            } catch {
                step(node, .collectFailed(code: "\(error)"))
            }
        case .dropEvents(let stable):
            let terms = RetentionTerms(stable: stable, supersededMilliseconds: nil)
            let dropped = try? store.dropEvents(terms, of: .home, wallMilliseconds: 1_700_000_000_000)
            if let commit = dropped?.commit { step(node, .appended(StoreChange(of: commit))) }
            step(node, .droppedEvents(hasMore: dropped?.hasMore ?? false))
        case .readmit(let fact):
            if let result = try? store.append([.operations([.addMember(fact)])], wallMilliseconds: 1_700_000_000_000) {
                step(node, .appended(StoreChange(of: result.commit)))
            }
        case .settle(let cut):
            if let result = try? store.append(
                [.operations([.settleCut(.init(cut))])], wallMilliseconds: 1_700_000_000_000)
            {
                step(node, .appended(StoreChange(of: result.commit)))
            }
        case .rewriteVoid(let limit):
            do {
                let rewriting = try store.rewriteVoid(limit: limit, wallMilliseconds: 1_700_000_000_000)
                if !rewriting.commit.segments.isEmpty {
                    step(node, .appended(StoreChange(of: rewriting.commit)))
                }
                step(node, .rewritten(hasMore: rewriting.hasMore))
            } catch {
                step(node, .rewriteFailed(code: "\(error)"))
            }
        case .takeBack where stubborn.contains(node): step(node, .takenBack(.impossible))
        case .takeBack(let other):
            do {
                let isDone = try store.takeBack(other, wallMilliseconds: 1_700_000_000_000)
                step(node, .takenBack(isDone ? .done(StoredHistory(try store.state())) : .nothing))
            } catch StoreError.notApplicable {
                step(node, .takenBack(.impossible))
            } catch {
                step(node, .takenBack(.refused(code: "\(error)")))
            }
        case .redoTakenBack(let limit):
            do {
                let redone = try store.redoTakenBack(limit: limit, wallMilliseconds: 1_700_000_000_000)
                if !redone.commit.segments.isEmpty { step(node, .appended(StoreChange(of: redone.commit))) }
                step(node, .redone(hasMore: redone.hasMore, isWaiting: redone.isWaiting))
            } catch {
                step(node, .redoFailed(code: "\(error)"))
            }
        case .send(let id, let frame): send(node, id, frame)
        case .close(let id, _):
            if let number = link(of: node, id) { close(number) }
        case .dial(let id, let endpoint):
            if dials { dialled.append((node, id, endpoint)) } else { step(node, .dialFailed(id, code: "no_dialling")) }
        case .state(let effect):
            let input = nodes[node].states.answer(effect, store) { store throws(StoreError) in
                let commit = try store.joinStaged(wallMilliseconds: 1_700_000_000_000)
                return try JoinedState(store, change: StoreChange(of: commit))
            }
            if let input { step(node, .state(input)) }
        case .compact(let stable): compactStep(node, store, stable)
        case .takeStatements(let statements):
            guard let commit = try? store.takeStatements(statements, wallMilliseconds: 1_700_000_000_000) else {
                return
            }
            step(node, .appended(StoreChange(of: commit)))
        case .establish, .trust, .remember, .report, .presence, .renewPresence, .bulkPeerUp, .bulkPeerDown, .bulkWanted,
            .wipe, .takeWipeReceipt, .wipeReceiptTaken:
            break
        }
    }

    private mutating func compactStep(_ node: Int, _ store: SQLiteStore, _ stable: VersionVector) {
        do {
            var pass =
                try nodes[node].states.pass ?? store.beginCompaction(stable: stable, before: Stamp(rawValue: .max))
            _ = try store.compact(&pass)
            nodes[node].states.pass = pass.isOver ? nil : pass
            step(node, .compacted(firstHeld: try store.state().firstHeld, isLast: pass.isOver))
        } catch {
            step(node, .compactFailed(code: "\(error)"))
        }
    }

    private func link(of node: Int, _ id: ConnectionID) -> Int? {
        links.firstIndex { $0.isOpen && $0.ends.contains(node) && $0.id(at: node) == id }
    }

    private mutating func send(_ node: Int, _ id: ConnectionID, _ frame: Frame) {
        guard let number = link(of: node, id), let bytes = try? FrameCodec.encode(frame),
            let arrived = try? FrameCodec.decode(bytes)
        else { return }
        nodes[node].framesSent += 1
        if case .acknowledgements(let sent) = frame {
            nodes[node].rowsSent += sent.rows.count
            nodes[node].rowBytesSent += bytes.count
        }
        let peer = links[number].ends.first { $0 != node } ?? node
        carry?(node, peer, frame, bytes, now)
        if stalled[peer] != nil {
            stalled[peer]?.append((node, id, frame))
            return
        }
        step(node, .written(id, bytes: bytes.count))
        step(peer, .received(links[number].id(at: peer), arrived, bytes: bytes.count))
    }

    /// Reads nothing from now on, as over a cable that drops all; what is sent to it waits.
    mutating func stall(_ node: Int) { stalled[node] = stalled[node] ?? [] }

    /// Reads what has waited, and goes on reading.
    mutating func read(_ node: Int) {
        for (sender, id, frame) in stalled.removeValue(forKey: node) ?? [] { send(sender, id, frame) }
        performAll()
    }

    /// Tells cores something at the same moment; what they do meets afterwards.
    mutating func tell(_ inputs: [(node: Int, Input)]) {
        for (node, input) in inputs { step(node, input) }
        performAll()
    }
}

extension StoreChange {
    init(of commit: Commit) {
        self.init(
            segments: commit.segments, stateDigest: commit.digest, additions: commit.additions, cuts: commit.cuts,
            ignoredRevocations: commit.ignoredRevocations)
    }
}
