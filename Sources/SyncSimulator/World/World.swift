import Crypto
import SyncCore
import SyncModel
import SyncStore

/// Some machines, their disks and the network between them, in one process and one thread: seed in, digest out.
///
/// The cores, the stores' rules, the codec and the signatures are those that ship. Time is a number; chance comes from
/// the seed; nothing depends on hash order.
struct World {
    enum Event {
        case input(node: Int, generation: Int, Input)
        case wake(node: Int, generation: Int)
        case persist(node: Int, generation: Int, PersistID, [VerifiedSegment])
        case seal(node: Int, generation: Int)
        case read(node: Int, generation: Int, ReadID, ReplicaID, start: UInt64, bytes: Int)
        case stability(node: Int, generation: Int, StabilityTask)
        case state(node: Int, generation: Int, StateEffect)
        case commit(node: Int, generation: Int, [LocalWrite])
        case answer(node: Int, generation: Int, Commit)
        case dial(node: Int, generation: Int, ConnectionID, target: Int, isBulk: Bool)
        case packet(link: Int, toDialer: Bool, SimulatedLink.Packet)
        case bulk(node: Int, generation: Int, BulkInput)
        case bulkWake(node: Int, generation: Int)
        case blobTask(node: Int, generation: Int, BulkEffect)
        /// Generation nil: of whatever process runs then.
        case blobWork(node: Int, generation: Int?, BlobWork)
        case blobFault(BlobFault)
        case hostile(HostileStep)
        case thief(ThiefStep)
        case write(node: Int)
        case pair(Int, Int)
        case start(node: Int)
        case cutTail(node: Int)
        case revert(node: Int)
        case fault(Fault)
        case changeVersion(node: Int, SimulatedVersion)
        case unblock([Way])
        case setClock(node: Int, offsetMilliseconds: Int64)
        case look
        case inspect
        case heal
    }

    enum Fault {
        case partition
        /// A machine is taken elsewhere for a long time, and used there.
        case absence
        case crash
        case pause
        case disk
        case clock
        /// The clock is a year ahead for a while.
        case glitch
        case backup
        /// A user retires a device, whether or not it is there.
        case retirement
        /// The next crash takes what is committed from here on.
        case tail
        /// Another machine runs from a copy of the disk.
        case clone
        /// A running machine will be put back to this moment.
        case snapshot
    }

    struct Way: Hashable {
        let from: Int
        let to: Int
    }

    let options: WorldOptions
    let bug: PlantedBug?
    var random: SplitMix64
    var objectWork: ObjectWork
    /// The generator of faults of bytes, separate so that they do not change the faults of records.
    var blobRandom: SplitMix64
    /// The contents that may be attached; empty if no bytes are moved.
    let blobContents: [BlobContent]
    /// The generator of faults of states.
    var stateRandom: SplitMix64
    /// The generator of faults of whole disks.
    var copyRandom: SplitMix64
    var copyCounts = CopyCounts()
    /// The generator of upgrades and downgrades.
    var versionRandom: SplitMix64
    /// Nil where all members keep the rules.
    var hostile: HostilePeer?
    /// Nil where all members are writers for good.
    var thieves: Thieves?
    /// Everything that was ever written, in a world in which nodes hold state in place of changes.
    var changes: WrittenChanges?
    /// Disks that were put back: what others may have forgotten, their devices may not know.
    var forgettings: [Forgetting] = []
    var now: Int64 = 0
    var queue = EventQueue<Event>()
    var nodes: [SimulatedNode]
    var links: [SimulatedLink] = []
    /// The link of a node's connection, by node, generation and connection.
    var linkNumbers: [LinkKey: (number: Int, isDialer: Bool)] = [:]
    var blocked: Set<Way> = []
    var checkers: [any Checker]
    var failure: CheckFailure?
    var healedAt: Int64?
    var restedAt: Int64?
    /// The end of a world that does not come to rest, and may; nil elsewhere.
    var standstill: Standstill?
    /// The digests of what members held some time before that.
    var heldBefore: [Sum256?]?
    /// True if records have come to rest since the heal; bytes may take longer.
    var haveRecordsRested = false
    var trace: WorldTrace
    /// Copies of each change that crossed a link, and changes times links: how well flooding is pruned.
    var framesSent = 0

    struct LinkKey: Hashable {
        let node: Int
        let generation: Int
        let connection: ConnectionID
    }

    init(seed: UInt64, bug: PlantedBug?, kind: WorldKind, tracing: Bool) {
        options = WorldOptions(seed: seed, kind: kind)
        self.bug = bug
        random = SplitMix64(seed: seed)
        blobContents = options.blobs?.contents.map { BlobContent.all[$0] } ?? []
        blobRandom = SplitMix64(seed: seed ^ 0x6265_6661_6c6c_7321)
        objectWork = ObjectWork(
            seed: seed, options: options.objects, contents: blobContents,
            wrongSizePercent: options.blobs?.wrongSizePercent ?? 0)
        let exchangesState = options.states != nil
        // The accomplice of a thief is one more.
        nodes = (0..<options.nodes + (options.thieves?.thief == nil ? 0 : 1)).map {
            SimulatedNode(
                number: $0, device: SimulatedDevice.all[$0], seed: seed, disk: SimulatedDisk())
        }
        // Where deletions are judged by stamps, those and clocks are not to be the same by chance.
        if options.objects.policies.contains(.lastWriterWins) {
            var clockRandom = SplitMix64(seed: seed ^ 0x636c_6f63_6b73_2121)
            for node in nodes.indices {
                nodes[node].wallOffsetMilliseconds = Int64.random(in: -600_000...600_000, using: &clockRandom)
            }
        }
        changes = exchangesState ? WrittenChanges() : nil
        copyRandom = SplitMix64(seed: seed ^ 0x636c_6f6e_6573_2121)
        stateRandom = SplitMix64(seed: seed ^ 0x7374_6174_6573_2121)
        versionRandom = SplitMix64(seed: seed ^ 0x7570_6772_6164_6521)
        checkers = [
            ConvergenceChecker(), AcknowledgedWriteChecker(), CausalDeliveryChecker(),
            SingleHistoryChecker(forkers: options.forkers),
            VectorChecker(), DurableFirstChecker(), BoundedMemoryChecker(), StabilityChecker(), VoidWorkChecker(),
            DroppedEventsChecker(),
            SameDigestChecker(seed: seed, faults: bug?.store ?? []),
            HistoryChecker(seed: seed, faults: bug?.store ?? []),
            DeletedStaysDeletedChecker(),
            NoEditLostChecker(), LeastEditsChecker(), NeededBlobChecker(), ReadableBlobChecker(), PartialBlobChecker(),
            SweptBlobChecker(), PresentBlobChecker(), BulkMemoryChecker(), FetchOnceChecker(), LiarChecker(),
            LateChunkChecker(),
        ]
        if options.hostile != nil {
            hostile = HostilePeer(seed: seed)
            checkers.append(HostileMemberChecker())
        }
        if options.versions != nil { checkers.append(AgreementChecker()) }
        if options.reverts != nil { checkers.append(WrittenAgainChecker()) }
        if options.thieves != nil {
            thieves = Thieves(seed: seed)
            checkers.append(ThievesChecker())
        }
        trace = WorldTrace(isKept: tracing)
        giveBlobs()
        planRun()
    }

    // MARK: Running

    /// Runs until all is at rest, a check fails, or time is up.
    mutating func run() {
        while failure == nil, restedAt == nil, standstill == nil, let next = queue.next() {
            now = next.at
            handle(next.event)
        }
        if failure != nil { describeNodes() }
        guard failure == nil else { return }
        if standstill != nil {
            checkStandstill()
            if failure != nil { describeNodes() }
            return
        }
        inspectBlobs()
        for node in memberNodes { inspect(node, isThorough: node == memberNodes.last) }
        checkThieves()
        let ending = ending
        check { $0.ended(ending) }
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .input(let node, let generation, let input):
            if isReady(node, generation, event) { step(node, input) }
        case .wake(let node, let generation):
            guard isReady(node, generation, event) else { return }
            nodes[node].wakeAt = nil
            step(node, .deadlinePassed)
        case .persist(let node, let generation, let id, let segments):
            if isReady(node, generation, event) { persist(node, id, segments) }
        case .seal(let node, let generation): if isReady(node, generation, event) { seal(node) }
        case .read(let node, let generation, let id, let replica, let start, let bytes):
            guard isReady(node, generation, event), let store = nodes[node].store else { return }
            let segments = (try? store.segments(of: replica, from: start, byteBudget: bytes)) ?? []
            step(node, .segmentsRead(id, segments))
        case .stability(let node, let generation, let task):
            if isReady(node, generation, event) { perform(node, task) }
        case .state(let node, let generation, let effect):
            if isReady(node, generation, event) { perform(node, effect) }
        case .commit(let node, let generation, let writes):
            if isReady(node, generation, event) { commit(node, writes) }
        case .answer(let node, let generation, let commit):
            guard isReady(node, generation, event) else { return }
            if !leaves(node) { check { $0.acknowledged(node: node, commit.segments) } }
            step(node, .appended(StoreChange(commit)))
        case .dial(let node, let generation, let id, let target, let isBulk):
            if isReady(node, generation, event) { connect(node, id, target, isBulk: isBulk) }
        case .bulk, .bulkWake, .blobTask, .blobWork, .blobFault: handleBulk(event)
        case .packet(let link, let toDialer, let packet): arrive(link, toDialer, packet)
        case .hostile(let hostileStep): handle(hostileStep)
        case .thief(let thiefStep): handle(thiefStep)
        case .write(let node): write(node)
        case .pair(let left, let right): pair(left, right)
        case .start(let node): start(node)
        case .cutTail(let node): cutTail(node)
        case .revert(let node): revert(node)
        case .fault(let fault): inflict(fault)
        case .changeVersion(let node, let version): changeVersion(node, version)
        case .unblock(let ways): unblock(ways)
        case .setClock(let node, let offset): nodes[node].wallOffsetMilliseconds = offset
        case .look: look()
        case .inspect: inspect()
        case .heal: heal()
        }
    }

    /// Returns whether the process that an event was meant for still runs; a paused process receives the event when it goes
    /// on.
    mutating func isReady(_ node: Int, _ generation: Int, _ event: Event) -> Bool {
        guard nodes[node].generation == generation, nodes[node].isUp else { return false }
        guard nodes[node].pausedUntil <= now else {
            queue.plan(event, at: nodes[node].pausedUntil)
            return false
        }
        return true
    }

    mutating func check(_ body: (inout any Checker) -> String?) {
        for index in checkers.indices where failure == nil {
            if let message = body(&checkers[index]) {
                failure = CheckFailure(checker: type(of: checkers[index]).name, message: message, atNanoseconds: now)
            }
        }
    }

    mutating func fail(_ checker: String, _ message: String) {
        if failure == nil { failure = CheckFailure(checker: checker, message: message, atNanoseconds: now) }
    }

    /// The last lines of a failed run's trace: who holds what, and what each thinks of the others.
    private mutating func describeNodes() {
        for node in nodes {
            trace.record(now, node.number, "holds \(node.durable.entries.map { "\($0.replica):\($0.next)" })")
            for peer in node.core?.peers(at: Tick(nanoseconds: now)) ?? [] {
                let lacks =
                    "lacks \(peer.weLack.map(String.init) ?? "?"), they \(peer.theyLack.map(String.init) ?? "?")"
                trace.record(now, node.number, "sees \(peer.name) \(peer.state), \(lacks), \(peer.lastFailure ?? "")")
            }
            trace.record(now, node.number, "\(node.core.map { "\($0.load)" } ?? "is down")")
            if let core = node.core, !core.cuts.isEmpty {
                let away = core.cuts.away.map { "\($0.shortID) by \(core.cuts.cuts(holdingAway: $0).map(\.dot))" }
                trace.record(
                    now, node.number, "away \(away), void work \(core.hasVoidWork), incomplete \(core.isIncomplete)")
            }
            describeBlobs(node)
        }
    }

    // MARK: Chance

    mutating func milliseconds(_ range: ClosedRange<Int64>) -> Int64 {
        Int64.random(in: range.lowerBound * 1_000_000...max(range.upperBound * 1_000_000, 1), using: &random)
    }

    mutating func chance(per10000 share: Int) -> Bool {
        share > 0 && Int.random(in: 0..<10_000, using: &random) < share
    }

    mutating func pick(_ candidates: [Int]) -> Int? { candidates.randomElement(using: &random) }

    // MARK: The end

    var ending: WorldEnding {
        WorldEnding(
            nodes: memberNodes.map { nodes[$0] }.map { node in
                let state = try? node.store?.logState()
                let recomputed = try? node.store?.recomputedDigest(of: .home)
                return WorldEnding.Node(
                    number: node.number, durable: node.durable, vectorDigest: node.core?.held.digest ?? .zero,
                    stateDigest: state?.digest ?? .zero, recomputedDigest: recomputed ?? .zero,
                    isInStep: node.core?.isInStepWithConnected ?? false,
                    connected: node.core?.connectedDevices.count ?? 0,
                    bufferedBytes: node.core?.load.bufferedBytes ?? 0)
            }, healedAfterNanoseconds: restedAt.flatMap { rest in healedAt.map { rest - $0 } },
            isAsking: standstill != nil && isMixing)
    }
}

extension StoreChange {
    init(_ commit: Commit) {
        self.init(
            segments: commit.segments, stateDigest: commit.digest, additions: commit.additions, cuts: commit.cuts,
            ignoredRevocations: commit.ignoredRevocations, isIncomplete: commit.isIncomplete)
    }
}

/// A check that did not hold.
package struct CheckFailure: Error, Sendable, Equatable {
    package let checker: String
    package let message: String
    package let atNanoseconds: Int64
}
