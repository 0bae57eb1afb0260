import SyncCore
import SyncModel
import SyncStore

// The plan of a seed: work, faults, the heal, and the final checks.
extension World {
    /// After the heal all must be in step within this.
    private static let patienceNanoseconds: Int64 = 90_000_000_000
    /// The same where a window of a kilobyte goes there and back in two seconds: what one device wrote in the whole run (100 KB)
    /// takes longer than that.
    private static let narrowPatienceNanoseconds: Int64 = 120_000_000_000
    private var isNarrow: Bool {
        options.delayMilliseconds.upperBound >= 1_000 && options.bounds.wantWindowBytes <= 1_024
    }
    private var patienceNanoseconds: Int64 {
        if thieves != nil { return Self.thievesPatienceNanoseconds }
        return isNarrow ? Self.narrowPatienceNanoseconds : Self.patienceNanoseconds
    }
    /// A session whose peer is gone must be given up within 15 s; a second for the clocks, one for the look.
    private static let deadAfterNanoseconds: Int64 = 17_000_000_000

    mutating func planRun() {
        let end = options.safetySeconds * 1_000_000_000
        let firstLate = options.nodes - options.lateJoiners
        for node in nodes.indices {
            nodes[node].isPaired = node < firstLate
            queue.plan(.start(node: node), at: Int64(node) * 1_000_000)
        }
        // Everybody has joined through node 0: the others learn of each other from its log.
        for node in 1..<firstLate { queue.plan(.pair(0, node), at: 10_000_000 + Int64(node) * 1_000_000) }
        for node in firstLate..<options.nodes {
            let through = Int.random(in: 0..<firstLate, using: &random)
            queue.plan(.pair(through, node), at: Int64.random(in: end / 4...end, using: &random))
        }
        for _ in 0..<options.appends {
            let node = Int.random(in: nodes.indices, using: &random)
            queue.plan(.write(node: node), at: Int64.random(in: 0..<end, using: &random))
        }
        plan(.partition, options.partitionsPerMinute, until: end)
        plan(.crash, options.crashesPerMinute, until: end)
        plan(.pause, options.pausesPerMinute, until: end)
        plan(.disk, options.diskFaultsPerMinute, until: end)
        plan(.clock, options.clockStepsPerMinute, until: end)
        for _ in 0..<options.absences {
            queue.plan(.fault(.absence), at: Int64.random(in: 0..<end / 2, using: &random))
        }
        plan(.glitch, options.glitchesPerMinute, until: end)
        for _ in 0..<options.retirements {
            queue.plan(.fault(.retirement), at: Int64.random(in: end / 4..<end, using: &random))
        }
        plan(.backup, options.restorePercent > 0 ? 3 : 0, until: end)
        for second in 1...(options.safetySeconds + 100) { queue.plan(.look, at: second * 1_000_000_000) }
        queue.plan(.heal, at: end)
        planBlobs(until: end)
        planCopies(until: end)
        planHostile(until: end)
        planVersions(until: end)
        planThieves(until: end)
        for _ in 0..<options.inspections { queue.plan(.inspect, at: objectWork.moment(before: end)) }
    }

    private mutating func plan(_ fault: Fault, _ perMinute: Double, until end: Int64) {
        let count = Int((perMinute * Double(options.safetySeconds) / 60).rounded())
        for _ in 0..<count { queue.plan(.fault(fault), at: Int64.random(in: 0..<end, using: &random)) }
    }

    // MARK: Work

    mutating func write(_ node: Int) {
        guard nodes[node].isUp, !isReader(node) else { return }
        let at = now + milliseconds(options.diskMilliseconds)
        // Where events go, there are some.
        let isForEvents = options.retention != nil && chance(per10000: 4_000)
        let writes = (isForEvents ? nil : objectWrites(node)) ?? eventWrites()
        // Its bytes may have found no room, or its machine may not have outlived writing them.
        guard nodes[node].isUp, !writes.isEmpty else { return }
        queue.plan(.commit(node: node, generation: nodes[node].generation, writes), at: at)
    }

    private mutating func eventWrites() -> [LocalWrite] {
        if let retention = options.retention, chance(per10000: retention.settingPercent * 100) {
            let stream = "stream\(Int.random(in: 0...2, using: &random))"
            return [.planned([.setStream(retention.setting(of: stream, using: &random))])]
        }
        let count = Int.random(in: 1...options.changesPerAppend, using: &random)
        return (0..<count).map { _ in
            .operations((0..<Int.random(in: 1...2, using: &random)).map { _ in operation() })
        }
    }

    /// Nil when this time it is events that are written.
    private mutating func objectWrites(_ node: Int) -> [LocalWrite]? {
        guard let store = nodes[node].store, objectWork.chance(options.objects.sharePercent) else { return nil }
        let count = objectWork.number(1..<5)
        return addingBytes(node, (0..<count).map { _ in objectWork.write(reading: store) })
    }

    private mutating func operation() -> SyncModel.Operation {
        if chance(per10000: 500) {
            // An operation of a later version: kept and forwarded, not understood.
            return .unknown(kind: 77, span: UInt64.random(in: 1...3, using: &random), body: [1, 2, 3])
        }
        let size = chance(per10000: 300) ? 3_000 : Int.random(in: 1...60, using: &random)
        let payload =
            "{\"n\":\(UInt32.random(in: 0...UInt32.max, using: &random)),\"pad\":\""
            + String(repeating: "x", count: size) + "\"}"
        return .appendEvent(
            .init(
                stream: "stream\(Int.random(in: 0...2, using: &random))", type: chance(per10000: 3_000) ? "t" : nil,
                payload: Array(payload.utf8)))
    }

    /// Each makes the other a member, durably, and dials.
    mutating func pair(_ host: Int, _ right: Int) {
        let left = self.host(host, of: right)
        guard nodes[left].isUp, nodes[right].isUp else {
            return queue.plan(.pair(left, right), at: now + 500_000_000)
        }
        for (node, other) in [(left, right), (right, left)] {
            nodes[node].isPaired = true
            guard commit(node, [.operations([.addMember(fact(about: other, isHost: node == right))])]) else {
                // As a person would: the ticket stays good, and is tried again.
                return queue.plan(.pair(left, right), at: now + 500_000_000)
            }
            nodes[node].letIn.insert(other)
        }
        // After the commits were answered.
        for (node, other) in [(left, right), (right, left)] {
            let known = Input.addressAdded(endpoint(of: other), device: nodes[other].device.id, isStatic: false)
            queue.plan(.input(node: node, generation: nodes[node].generation, known), at: now + 5_000_000)
        }
        for node in nodes.indices where node != right && nodes[node].isPaired && nodes[node].isUp {
            hear(node, of: right)
            hear(right, of: node)
        }
    }

    // MARK: Faults

    mutating func inflict(_ fault: Fault) {
        guard isFaulty else { return }
        let up = nodes.indices.filter { nodes[$0].isUp }
        guard let node = pick(up) else { return }
        switch fault {
        case .partition: partition()
        case .absence: beAbsent(node)
        case .crash: crash(node, losingPower: chance(per10000: options.powerLossPercent * 100))
        case .pause:
            nodes[node].pausedUntil = max(nodes[node].pausedUntil, now + milliseconds(100...20_000))
            trace.record(now, node, "is stopped")
        case .disk:
            nodes[node].disk.failNextWrites(
                chance(per10000: 5_000) ? .diskFull : .inputOutput(code: 5),
                count: Int.random(in: 1...5, using: &random))
        case .clock:
            let years: Int64 = 10 * 365 * 86_400_000
            nodes[node].wallOffsetMilliseconds = Int64.random(in: -years...years, using: &random)
        case .glitch:
            let back = Event.setClock(node: node, offsetMilliseconds: nodes[node].wallOffsetMilliseconds)
            nodes[node].wallOffsetMilliseconds = 365 * 86_400_000
            queue.plan(back, at: now + milliseconds(500...20_000))
        case .backup: if let image = diskImage(of: node) { nodes[node].backup = image }
        case .tail: beginTail(node)
        case .clone: clone(node)
        case .snapshot: takeSnapshot()
        case .retirement: retire(from: node)
        }
    }

    private mutating func beAbsent(_ node: Int) {
        let ways = nodes.indices.filter { $0 != node }.flatMap { [Way(from: node, to: $0), Way(from: $0, to: node)] }
        blocked.formUnion(ways)
        trace.record(now, node, "is taken elsewhere")
        queue.plan(.unblock(ways), at: now + milliseconds(20_000...200_000))
    }

    mutating func retire(from node: Int) {
        guard let core = nodes[node].core, !core.cuts.isAway(nodes[node].device.id) else { return }
        let others = core.membership.members.map(\.device).filter {
            $0 != nodes[node].device.id && !core.cuts.isAway($0)
        }
        guard let device = others.randomElement(using: &random) else { return }
        trace.record(now, node, "lets \(device.shortID) go")
        _ = commit(node, [.retire(device)])
    }

    private mutating func partition() {
        let node = Int.random(in: nodes.indices, using: &random)
        let others = nodes.indices.filter { $0 != node }
        let isOneWay = chance(per10000: 3_000)
        let targets = chance(per10000: 5_000) ? others : [pick(others) ?? node]
        var ways: [Way] = []
        for other in targets {
            ways.append(Way(from: node, to: other))
            if !isOneWay { ways.append(Way(from: other, to: node)) }
        }
        blocked.formUnion(ways)
        trace.record(now, node, "is cut off from \(targets)")
        queue.plan(.unblock(ways), at: now + milliseconds(200...20_000))
    }

    mutating func heal() {
        trace.record(now, 0, "all is well again")
        healedAt = now
        endHostile()
        unblock(Array(blocked))
        for node in nodes { node.disk.failNextWrites(.diskFull, count: 0) }
        rekeyTwins()
        for node in nodes.indices {
            start(node)
            healBlobs(node)
        }
        planPuttingRight()
        for step in 1...900 { queue.plan(.look, at: now + Int64(step) * 100_000_000) }
        if isNarrow { for step in 901...1_201 { queue.plan(.look, at: now + Int64(step) * 100_000_000) } }
        if options.blobs != nil { for step in 91...250 { queue.plan(.look, at: now + Int64(step) * 1_000_000_000) } }
    }

    // MARK: Looking

    /// Sessions with the dead must end; after the heal, all must come to rest.
    mutating func look() {
        lookForDeadSessions()
        compareNodes()
        guard let healedAt, failure == nil else { return }
        let patience = patienceNanoseconds
        let isLate = now - healedAt > patience
        let members = memberNodes.map { nodes[$0] }
        let digests = members.map { $0.core?.held.digest }
        let states = members.map { try? $0.store?.logState() }
        let isLevel =
            Set(digests).count == 1 && digests[0] != nil && Set(states.map { $0?.digest }).count == 1
            && !states.contains { $0?.isIncomplete ?? true }
        if isLevel, areRolesRight, members.allSatisfy({ $0.core?.isAtRest(withThieves: thieves != nil) ?? false }) {
            haveRecordsRested = true
            if haveBlobsConverged() { restedAt = now }
        }
        guard restedAt == nil else { return }
        if haveRecordsRested {
            // While bytes are awaited, sessions come that are redundant; for a moment such a one says nothing of what it holds.
            checkBlobPatience(healedAt)
        } else if mayStandStill, now - healedAt > patience - Self.stillNanoseconds, !isLate {
            standStill(isLate: false)
        } else if isLate {
            if mayStandStill { standStill(isLate: true) }
            guard failure == nil, standstill == nil else { return }
            let ending = lateEnding
            check { $0.ended(ending) }
            fail("convergence", "the world did not come to rest within \(patience / 1_000_000_000) s")
        }
    }

    private var lateEnding: WorldEnding {
        WorldEnding(
            nodes: memberNodes.map { nodes[$0] }.map { node in
                let digest = (try? node.store?.logState().digest) ?? .zero
                return WorldEnding.Node(
                    number: node.number, durable: node.durable, vectorDigest: node.core?.held.digest ?? .zero,
                    stateDigest: digest, recomputedDigest: digest, isInStep: node.core?.isInStepWithConnected ?? false,
                    connected: node.core?.connectedDevices.count ?? 0,
                    bufferedBytes: node.core?.load.bufferedBytes ?? 0)
            }, healedAfterNanoseconds: nil)
    }

    private mutating func lookForDeadSessions() {
        for link in links {
            for isDialer in [true, false] {
                let end = link[isDialer: isDialer]
                guard let since = end.aloneSince, !end.isClosed, nodes[end.node].generation == end.generation,
                    nodes[end.node].pausedUntil + Self.deadAfterNanoseconds < now
                else { continue }
                if now - since > Self.deadAfterNanoseconds, let core = nodes[end.node].core,
                    core.upConnections.contains(end.connection)
                {
                    fail(
                        "dead sessions",
                        "node \(end.node) counts a session as alive whose peer has been gone for \((now - since) / 1_000_000_000) s"
                    )
                }
            }
        }
    }
}

extension AgentCore {
    /// True if no work is left, and a node is up.
    ///
    /// - Parameter withThieves: what a thief wrote may wait for what only the thief has.
    fileprivate func isAtRest(withThieves: Bool) -> Bool {
        (withThieves ? isLevelWithConnected : isInStepWithConnected) && !connectedDevices.isEmpty
            && load.bufferedBytes == 0 && cuts.away.allSatisfy(cuts.isBarred) && !isWritingAgain && !isIncomplete
    }
}
