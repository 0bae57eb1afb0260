import SyncCore
import SyncModel
import SyncStore

// Processes and disks: starting, stepping, committing, crashing.
extension World {
    static let epochMilliseconds: Int64 = 1_700_000_000_000

    func wall(_ node: Int) -> Int64 { Self.epochMilliseconds + now / 1_000_000 + nodes[node].wallOffsetMilliseconds }

    func endpoint(of node: Int) -> Endpoint { Endpoint(host: "node\(node)", port: 21_817) }

    mutating func start(_ node: Int) {
        guard !nodes[node].isUp else { return }
        nodes[node].generation += 1
        nodes[node].wakeAt = nil
        nodes[node].pausedUntil = 0
        let device = nodes[node].device
        let incarnations = nodes[node].incarnations
        let store: SQLiteStore
        let state: StoreState
        do throws(StoreError) {
            store = try nodes[node].disk.open(
                device, leases: nodes[node].leases, faults: storeFaults(of: node), incarnations: { incarnations.next() }
            )
            nodes[node].writesOn = false
            state = try store.state()
            try changes?.addFound(in: store, of: device.id)
        } catch {
            return fail("start", "node \(node) cannot open its store: \(error)")
        }
        nodes[node].store = store
        nodes[node].states = SimulatedStates()
        nodes[node].diverged = []
        if !isOutlaw(node) { check { $0.started(node: node, digest: state.digest) } }
        nodes[node].durable = VersionVector(state.tips)
        var membership = Membership(own: device.fact, sinceMilliseconds: 0)
        for addition in state.additions { _ = membership.add(addition) }
        var configuration = CoreConfiguration(
            own: device.id, name: device.fact.name, agentVersion: "simulated", runID: random.next(), seed: random.next()
        )
        configuration.bounds = options.bounds
        configuration.timing.acknowledgeAfter = .milliseconds(options.acknowledgeMilliseconds)
        configuration.timing.acknowledgeEvery = .milliseconds(2 * options.acknowledgeMilliseconds)
        // A user who restores an old disk needs what the others have forgotten.
        configuration.collectsDeletions = options.forgetsDeletions
        configuration.features = nodes[node].version.features
        configuration.featuresRequired = nodes[node].version.featuresRequired
        configuration.exchangesState = options.states != nil
        configuration.compacts = options.states?.retentionMilliseconds != nil && options.forgetsDeletions
        configuration.timing.compactAfter = .milliseconds(options.states?.compactMilliseconds ?? 0)
        configuration.timing.compactEvery = configuration.timing.compactAfter
        configuration.dropsEvents = options.retention != nil
        configuration.timing.dropEventsEvery = .milliseconds(options.retention?.everyMilliseconds ?? 0)
        configuration.faults = bug?.core ?? []
        var core = AgentCore(
            configuration: configuration, space: .home, membership: membership,
            tips: state.tips.map { ($0.replica, $0.tip) }, stateDigest: state.digest,
            acknowledgements: state.acknowledgements, ownReplica: state.ownReplica, firstHeld: state.firstHeld,
            floor: state.floor,
            hasStaging: (try? store.hasStaging()) ?? false, cuts: state.cuts,
            isIncomplete: state.isIncomplete, settled: state.settled, gaveWay: state.gaveWay, awaited: state.awaited,
            hasTakenBack: state.hasTakenBack, at: Tick(nanoseconds: now))
        let effects = core.start(at: Tick(nanoseconds: now))
        nodes[node].core = core
        trace.record(now, node, "starts")
        perform(node, effects)
        startBlobs(node)
        step(node, .announced(instance: "instance\(node)-\(nodes[node].generation)", listenPort: 21_817))
        for address in state.addresses {
            let known = Endpoint(host: address.host, port: address.port)
            step(node, .addressAdded(known, device: address.device, isStatic: address.isStatic))
        }
        announceRecords(of: node)
    }

    /// mDNS: everybody hears of the new instance after a while, and it of the others.
    private mutating func announceRecords(of node: Int) {
        for other in nodes.indices
        where other != node && nodes[other].isUp && nodes[other].isPaired && nodes[node].isPaired {
            hear(other, of: node)
            hear(node, of: other)
        }
    }

    mutating func hear(_ listener: Int, of node: Int) {
        let instance = "instance\(node)-\(nodes[node].generation)"
        let event = Event.input(
            node: listener, generation: nodes[listener].generation,
            .recordAppeared(instance: instance, [endpoint(of: node)]))
        queue.plan(event, at: now + milliseconds(20...2_000))
    }

    mutating func step(_ node: Int, _ input: Input) {
        // Moved out and back: a copy of a core costs more than most of its steps.
        guard failure == nil, var core = nodes[node].core.take() else { return }
        // Until then it speaks of what was durable.
        if case .takenBack(.done(let history)) = input { nodes[node].durable = VersionVector(history.tips) }
        let effects = core.step(input, at: Tick(nanoseconds: now))
        check(node, core)
        nodes[node].core = consume core
        perform(node, effects)
        planWake(node)
    }

    /// A function of its own: a closure that captures a variable copies it for each checker.
    private mutating func check(_ node: Int, _ core: AgentCore) {
        let bounds = options.bounds
        check { $0.stepped(node: node, core, bounds: bounds) }
    }

    /// Far more steps than a core takes for what became due at once.
    private static let lateDeadlineLimit = 1_000

    private mutating func planWake(_ node: Int) {
        guard let core = nodes[node].core.take() else { return }
        let next = core.nextDeadline
        nodes[node].core = consume core
        guard let deadline = next else { return }
        nodes[node].lateDeadlines = deadline.nanoseconds > now ? 0 : nodes[node].lateDeadlines + 1
        if nodes[node].lateDeadlines > Self.lateDeadlineLimit {
            fail("deadlines pass", "node \(node) wakes again and again for what it does not do")
        }
        // A deadline in the past is passed at once, but not in the same instant, so that time goes on.
        let at = max(deadline.nanoseconds, now + 1_000)
        if let planned = nodes[node].wakeAt, planned <= at { return }
        nodes[node].wakeAt = at
        queue.plan(.wake(node: node, generation: nodes[node].generation), at: at)
    }

    private mutating func perform(_ node: Int, _ effects: [Effect]) {
        let generation = nodes[node].generation
        for effect in effects where failure == nil {
            switch effect {
            case .persist(let id, let segments):
                queue.plan(.persist(node: node, generation: generation, id, segments), at: diskTime(node))
            case .read(let id, let replica, let start, let bytes):
                let at = now + milliseconds(options.diskMilliseconds)
                queue.plan(.read(node: node, generation: generation, id, replica, start: start, bytes: bytes), at: at)
            case .state(let effect): planState(node, effect)
            case .leaveOpen: if options.coalesces { try? nodes[node].store?.leaveOpen() }
            case .closeIncarnation(let replica): try? nodes[node].store?.closeIncarnation(of: replica)
            case .seal: queue.plan(.seal(node: node, generation: generation), at: diskTime(node))
            case .readHeads, .acknowledge, .keep, .collect, .compact, .dropEvents, .readmit, .settle, .rewriteVoid,
                .takeBack, .redoTakenBack, .takeStatements:
                let task = StabilityTask(effect)
                queue.plan(.stability(node: node, generation: generation, task), at: diskTime(node))
            case .dial(let id, let endpoint): dial(node, id, endpoint, isBulk: false)
            case .bulkPeerUp(let device, let dial): stepBulk(node, .sessionUp(device, dial: dial))
            case .bulkPeerDown(let device): stepBulk(node, .sessionDown(device))
            case .bulkWanted(let device): stepBulk(node, .bulkWanted(device))
            case .send(let id, let frame): send(node, id, frame)
            // No client of these worlds is present anywhere.
            case .establish, .presence, .renewPresence, .wipe, .takeWipeReceipt, .wipeReceiptTaken: break
            case .close(let id, let reason): close(node, id, code: reason.rawValue)
            case .trust(let devices, let heard):
                nodes[node].trusted = devices
                nodes[node].heard = heard
            case .remember(let endpoint, let device):
                let address = PeerAddress(
                    host: endpoint.host, port: endpoint.port, device: device, isStatic: false,
                    lastConnectedMilliseconds: wall(node))
                try? nodes[node].store?.remember(address)
            case .report(let report):
                switch report {
                case .duplicateIdentity: copyCounts.noticedTwins += 1
                case .diverged(let peer): nodes[node].diverged.insert(peer)
                case .sessionUp(let peer, _, _, _): nodes[node].diverged.remove(peer)
                default: break
                }
                trace.record(now, node, "\(report)")
                let device = nodes[node].device.id
                check { $0.reported(node: node, device: device, report) }
            }
        }
        // In the middle of a step the devices may be those of before what the step took in.
        checkTrusted(node)
    }

    /// A disk does one thing after the other.
    mutating func diskTime(_ node: Int) -> Int64 {
        let at = max(now, nodes[node].diskFreeAt) + milliseconds(options.diskMilliseconds)
        nodes[node].diskFreeAt = at
        return at
    }

    /// Durable and not yet told: a crash may come between. One thread tells it, in the order it was done.
    mutating func answerTime(_ node: Int, after delay: Int64 = 0) -> Int64 {
        let at = max(now + delay, nodes[node].answersAfter)
        nodes[node].answersAfter = at
        return at
    }

    mutating func persist(_ node: Int, _ id: PersistID, _ segments: [VerifiedSegment]) {
        guard let store = nodes[node].store else { return }
        let generation = nodes[node].generation
        let answer: Input
        do {
            let commit = try store.apply(segments, wallMilliseconds: wall(node))
            recordCommit(node, commit)
            answer = .persisted(id, StoreChange(commit))
        } catch {
            answer = .persistFailed(id, code: "\(error)")
        }
        queue.plan(.input(node: node, generation: generation, answer), at: answerTime(node, after: milliseconds(0...1)))
    }

    mutating func seal(_ node: Int) {
        guard let store = nodes[node].store, let before = try? store.logState().digest else { return }
        let commit: Commit
        do { commit = try store.seal() } catch {
            let answer = Event.input(
                node: node, generation: nodes[node].generation, .sealFailed(code: "\(error)"))
            return queue.plan(answer, at: answerTime(node, after: milliseconds(0...1)))
        }
        let isEmpty = commit.segments.isEmpty
        if !isEmpty {
            recordCommit(node, commit)
            if !isOutlaw(node) { check { $0.sealed(node: node, before: before, after: commit.digest) } }
        }
        let answer = Event.input(
            node: node, generation: nodes[node].generation, .sealed(StoreChange(commit)))
        queue.plan(answer, at: answerTime(node, after: isEmpty ? 0 : milliseconds(0...1)))
    }

    /// - Returns: false when the disk refused.
    @discardableResult
    mutating func commit(_ node: Int, _ writes: [LocalWrite]) -> Bool {
        guard let store = nodes[node].store else { return false }
        guard let result = try? store.append(writes, wallMilliseconds: wall(node)) else { return false }
        if !writes.isStatement, let cuts = try? store.logState().cuts, cuts.isAway(nodes[node].device.id) {
            fail("retired devices write nothing", "node \(node) wrote, and holds that it is retired")
        }
        recordCommit(node, result.commit)
        checkWritten(node, writes, result)
        let answer = Event.answer(node: node, generation: nodes[node].generation, result.commit)
        queue.plan(answer, at: answerTime(node, after: milliseconds(0...1)))
        return true
    }

    mutating func recordCommit(_ node: Int, _ commit: Commit) {
        let before = nodes[node].durable
        if !isOutlaw(node) { check { $0.committed(node: node, digest: commit.digest) } }
        check { $0.committed(node: node, commit.segments, before: before) }
        if let store = nodes[node].store { changes?.add(commit.segments, from: store) }
        for verified in commit.segments {
            nodes[node].durable.advance(verified.segment.replica, to: verified.segment.end)
        }
        trace.record(now, node, "holds \(nodes[node].durable.entries.map(\.next)) \(commit.digest)")
        handleRecords(node)
    }

    mutating func crash(_ node: Int, losingPower: Bool, restores: Bool = true) {
        guard nodes[node].isUp else { return }
        trace.record(now, node, losingPower ? "loses power" : "is killed")
        nodes[node].states.crash()
        if let store = nodes[node].store { nodes[node].disk.crash(store, losingPower: losingPower) }
        if losingPower { nodes[node].leases.reboot() }
        nodes[node].store = nil
        nodes[node].core = nil
        crashBlobs(node, losingPower: losingPower)
        abandonLinks(of: node, silently: losingPower)
        if restores, chance(per10000: options.restorePercent * 100) { restore(node) }
        queue.plan(.start(node: node), at: now + milliseconds(50...(losingPower ? 30_000 : 3_000)))
    }

    /// A person puts an older state of the disk back.
    private mutating func restore(_ node: Int) {
        guard let backup = nodes[node].backup else { return }
        trace.record(now, node, "gets an old disk")
        copyCounts.restores += 1
        putBack(node, backup)
    }
}

extension VersionVector {
    /// Creates the vector of a store from the tips of its histories.
    init(_ tips: [KnownReplica]) { self.init(tips.map { Entry(replica: $0.replica, next: $0.tip.next) }) }
}
