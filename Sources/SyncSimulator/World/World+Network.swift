import SyncCore
import SyncModel

// Connections: dialled, carrying frames in order, reset, partitioned, half open.
extension World {
    mutating func dial(_ node: Int, _ id: ConnectionID, _ endpoint: Endpoint, isBulk: Bool) {
        guard let target = nodes.firstIndex(where: { self.endpoint(of: $0.number) == endpoint }) else {
            return refuseDial(node, id)
        }
        let at = now + milliseconds(options.delayMilliseconds)
        let dial = Event.dial(node: node, generation: nodes[node].generation, id, target: target, isBulk: isBulk)
        queue.plan(dial, at: at)
    }

    mutating func connect(_ node: Int, _ id: ConnectionID, _ target: Int, isBulk: Bool) {
        let generation = nodes[node].generation
        func failed(_ code: String, after nanoseconds: Int64) {
            let answer: Event =
                isBulk
                ? .bulk(node: node, generation: generation, .dialFailed(id, code: code))
                : .input(node: node, generation: generation, .dialFailed(id, code: code))
            queue.plan(answer, at: now + nanoseconds)
        }
        guard target != node else { return failed("own_device", after: 1_000_000) }
        guard !blocked.contains(Way(from: node, to: target)), !blocked.contains(Way(from: target, to: node)),
            nodes[target].pausedUntil <= now
        else { return failed("no_answer", after: 5_000_000_000) }
        guard nodes[target].isUp else { return failed("connection_refused", after: 1_000_000) }
        let areTwins = nodes[target].device.id == nodes[node].device.id
        guard
            areTwins
                || (nodes[target].trusted.contains(nodes[node].device.id)
                    || !isBulk && nodes[target].heard.contains(nodes[node].device.id))
                    && nodes[node].trusted.contains(nodes[target].device.id)
        else { return failed("not_paired_there", after: milliseconds(options.delayMilliseconds)) }
        nodes[target].nextAcceptedConnection += 2
        let accepted = ConnectionID(rawValue: nodes[target].nextAcceptedConnection)
        let link = SimulatedLink(
            number: links.count, isBulk: isBulk,
            dialer: .init(node: node, generation: generation, connection: id, version: nodes[node].version),
            acceptor: .init(
                node: target, generation: nodes[target].generation, connection: accepted,
                version: nodes[target].version))
        links.append(link)
        linkNumbers[LinkKey(node: node, generation: generation, connection: id)] = (link.number, true)
        linkNumbers[LinkKey(node: target, generation: nodes[target].generation, connection: accepted)] =
            (link.number, false)
        for isDialer in [true, false] {
            let (end, other) = (link[isDialer: isDialer], link.other(isDialer))
            let at = now + milliseconds(options.delayMilliseconds)
            // Frames must not overtake the news that the connection is there.
            links[link.number][isDialer: isDialer].arrivesAfter = at
            let device = nodes[other.node].device.id
            let opened: Event =
                isBulk
                ? .bulk(node: end.node, generation: end.generation, .opened(end.connection, device))
                : .input(
                    node: end.node, generation: end.generation,
                    .opened(end.connection, device, remote: endpoint(of: other.node)))
            queue.plan(opened, at: at)
        }
    }

    func link(_ node: Int, _ id: ConnectionID) -> (number: Int, isDialer: Bool)? {
        linkNumbers[LinkKey(node: node, generation: nodes[node].generation, connection: id)]
    }

    mutating func send(_ node: Int, _ id: ConnectionID, _ frame: Frame) {
        let durable = nodes[node].durable
        check { $0.sending(node: node, frame, durable: durable) }
        if failure == nil, hostileTakes(node, id, frame) { return }
        guard failure == nil, let (number, isDialer) = link(node, id), !links[number][isDialer: isDialer].isClosed
        else {
            return
        }
        checkAgreement(node, frame, on: number)
        guard failure == nil else { return }
        let isLater = nodes[node].version.isLater
        var frame = frame
        if case .hello(let hello) = frame {
            frame = .hello(hello.signing(as: nodes[node].device.id, nodes[node].device.sign))
        }
        var bytes: [UInt8]
        do { bytes = try FrameCodec.encode(frame) } catch {
            return fail("codec", "node \(node) cannot encode a frame: \(error)")
        }
        if case .changes(let changes) = frame, !changes.segments.isEmpty, isFaulty,
            chance(per10000: options.corruptionsPer10000)
        {
            bytes = corrupted(changes, bytes)
        }
        if isLater { bytes = LaterFrames.extended(bytes) }
        if let copies = stateCopies(of: frame, bytes) {
            // To its sender a frame that is dropped is a frame that went out.
            if copies.isEmpty {
                let written = Input.written(id, bytes: bytes.count)
                queue.plan(.input(node: node, generation: nodes[node].generation, written), at: now)
            }
            return sendState(copies, on: number, toDialer: !isDialer)
        }
        framesSent += 1
        trace.record(now, node, "sends \(frame.kind), \(bytes.count) bytes on \(number)")
        if isFaulty, chance(per10000: options.resetsPer10000) { return reset(number) }
        post(.frame(bytes), on: number, toDialer: !isDialer)
        if isLater, case .have = frame { post(.frame(LaterFrames.unknownKind), on: number, toDialer: !isDialer) }
    }

    /// Before the heal the network and its machines misbehave, afterwards they do not.
    var isFaulty: Bool { healedAt == nil }

    /// A relay that lies: one bit of what an author wrote is another.
    private mutating func corrupted(_ changes: Frame.Changes, _ bytes: [UInt8]) -> [UInt8] {
        var forged = changes
        let part = Int.random(in: 0..<forged.segments.count, using: &random)
        let byte = Int.random(in: 0..<forged.segments[part].bytes.count, using: &random)
        forged.segments[part].bytes[byte] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        return (try? FrameCodec.encode(.changes(forged))) ?? bytes
    }

    mutating func post(_ packet: SimulatedLink.Packet, on number: Int, toDialer: Bool) {
        let at = max(links[number][isDialer: toDialer].arrivesAfter, now + milliseconds(options.delayMilliseconds))
        links[number][isDialer: toDialer].arrivesAfter = at
        queue.plan(.packet(link: number, toDialer: toDialer, packet), at: at)
    }

    mutating func arrive(_ number: Int, _ toDialer: Bool, _ packet: SimulatedLink.Packet) {
        let end = links[number][isDialer: toDialer]
        let sender = links[number].other(toDialer)
        let isHeldUp = blocked.contains(Way(from: sender.node, to: end.node)) || !end.isReading
        if isHeldUp || !end.stalled.isEmpty {
            return links[number][isDialer: toDialer].stalled.append(packet)
        }
        let isThere = nodes[end.node].generation == end.generation && nodes[end.node].isUp
        guard isThere else {
            // A machine that is up and knows nothing of the connection says so; one without power says nothing.
            if nodes[end.node].isUp, case .frame = packet {
                post(.end(code: "connection_reset"), on: number, toDialer: !toDialer)
            }
            return
        }
        if nodes[end.node].pausedUntil > now {
            return queue.plan(.packet(link: number, toDialer: toDialer, packet), at: nodes[end.node].pausedUntil)
        }
        guard !end.isClosed else { return }
        switch packet {
        case .frame(let bytes):
            guard !links[number].isReset else { return }
            // Packets that a machine sent before it died may have been held up on the way: until now it seemed alive.
            if end.aloneSince != nil { links[number][isDialer: toDialer].aloneSince = now }
            if links[number].isBulk { return deliverBulk(bytes, from: sender, to: end) }
            let written = Input.written(sender.connection, bytes: bytes.count)
            queue.plan(.input(node: sender.node, generation: sender.generation, written), at: now)
            deliver(bytes, to: end)
        case .end(let code):
            links[number][isDialer: toDialer].isClosed = true
            if links[number].isBulk { return stepBulk(end.node, .closed(end.connection, code: code)) }
            step(end.node, .closed(end.connection, code: code))
        }
    }

    private mutating func deliver(_ bytes: [UInt8], to end: SimulatedLink.End) {
        do {
            guard let frame = try FrameCodec.decode(bytes) else { return }
            step(end.node, .received(end.connection, frame, bytes: bytes.count))
        } catch {
            step(end.node, .malformed(end.connection, code: error.code))
        }
    }

    /// Both sides hear of it, each in its own time; what was under way is gone.
    mutating func reset(_ number: Int) {
        guard !links[number].isReset else { return }
        links[number].isReset = true
        post(.end(code: "connection_reset"), on: number, toDialer: true)
        post(.end(code: "connection_reset"), on: number, toDialer: false)
    }

    mutating func close(_ node: Int, _ id: ConnectionID, code: String) {
        if hostileCloses(node, id, code: code) { return }
        guard let (number, isDialer) = link(node, id), !links[number][isDialer: isDialer].isClosed else { return }
        links[number][isDialer: isDialer].isClosed = true
        let generation = nodes[node].generation
        let closed: Event =
            links[number].isBulk
            ? .bulk(node: node, generation: generation, .closed(id, code: code))
            : .input(node: node, generation: generation, .closed(id, code: code))
        queue.plan(closed, at: now + 1_000)
        post(.end(code: "closed_by_peer"), on: number, toDialer: !isDialer)
    }

    /// A process ended: the kernel says goodbye for it, unless the power went with it.
    mutating func abandonLinks(of node: Int, silently: Bool) {
        for number in links.indices {
            for isDialer in [true, false] {
                let end = links[number][isDialer: isDialer]
                guard end.node == node, end.generation == nodes[node].generation, !end.isClosed else { continue }
                links[number][isDialer: isDialer].isClosed = true
                if silently {
                    // Packets in its memory that waited to be sent again are gone with it.
                    links[number][isDialer: !isDialer].stalled = []
                    links[number][isDialer: !isDialer].aloneSince = now
                } else {
                    post(.end(code: "closed_by_peer"), on: number, toDialer: !isDialer)
                }
            }
        }
    }

    mutating func unblock(_ ways: [Way]) {
        blocked.subtract(ways)
        for number in links.indices {
            for toDialer in [true, false] { goOn(number, toDialer) }
        }
    }

    /// Delivers stalled packets, unless something else still holds them up.
    mutating func goOn(_ number: Int, _ toDialer: Bool) {
        let end = links[number][isDialer: toDialer]
        let way = Way(from: links[number].other(toDialer).node, to: end.node)
        guard !end.stalled.isEmpty, end.isReading, !blocked.contains(way) else { return }
        links[number][isDialer: toDialer].stalled = []
        // Now, in their order: whatever else is under way on this link was sent later.
        for packet in end.stalled { queue.plan(.packet(link: number, toDialer: toDialer, packet), at: now) }
    }
}

extension Frame {
    /// The name of the frame in a line of the trace.
    fileprivate var kind: String {
        switch self {
        case .hello: "hello"
        case .have(let have): "\(have.complete ? "all" : "some") \(have.entries.count) entries"
        case .haveRequest: "haveRequest"
        case .want(let want): "want \(want.id) of \(want.replica):\(want.from)..<\(want.to)"
        case .credit(let credit): "credit for \(credit.wantID)"
        case .changes(let changes): "\(changes.segments.count) changes for \(changes.wantID)"
        case .prune(let prune): "prune of \(prune.replica)"
        case .ping: "ping"
        case .pong: "pong"
        case .goodbye(let goodbye): "goodbye, \(goodbye.code)"
        case .acknowledgements(let acknowledgements): "\(acknowledgements.rows.count) acknowledgements"
        case .acknowledgementRequest: "acknowledgementRequest"
        case .bulkWanted: "bulkWanted"
        case .stateOffer: "stateOffer"
        case .stateRequest: "stateRequest"
        case .stateItems: "stateItems"
        case .stateQuestion: "stateQuestion"
        case .stateAnswer: "stateAnswer"
        case .presence(let presence): "\(presence.records.count) presences"
        case .statements(let sent): "\(sent.statements.count) statements of the recovery key"
        }
    }
}
