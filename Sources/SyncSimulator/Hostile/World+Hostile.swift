import SyncCore
import SyncModel
import SyncStore

// The hostile member dials nodes and talks to their cores; each frame passes the codec, as on a socket.
extension World {
    enum HostileStep {
        /// A person lets it in.
        case join
        case act
        case hear(node: Int, generation: Int, ConnectionID, Frame)
    }

    private static let delayNanoseconds: Int64 = 1_000_000

    mutating func planHostile(until end: Int64) {
        guard let options = options.hostile, var peer = hostile else { return }
        queue.plan(.hostile(.join), at: 500_000_000)
        for _ in 0..<options.acts {
            queue.plan(.hostile(.act), at: Int64.random(in: 600_000_000..<end, using: &peer.random))
        }
        hostile = peer
    }

    mutating func handle(_ hostileStep: HostileStep) {
        switch hostileStep {
        case .join: letHostileIn()
        case .act: act()
        case .hear(let node, let generation, let id, let frame):
            if nodes[node].generation == generation { hear(node, id, frame) }
        }
    }

    private mutating func letHostileIn() {
        guard let fact = hostile?.device.fact, isFaulty else { return }
        guard nodes[0].isUp, commit(0, [.operations([.addMember(fact)])]) else {
            return queue.plan(.hostile(.join), at: now + 500_000_000)
        }
    }

    /// Ends the hostile peer: no node asks it for anything any more, and only what it signed is left.
    mutating func endHostile() {
        for session in hostile?.sessions ?? [] { end(session, code: "closed_by_peer") }
        hostile?.sessions = []
    }

    private mutating func end(_ session: HostilePeer.Session, code: String) {
        tell(session.node, session.generation, .closed(session.connection, code: code))
    }

    private mutating func tell(_ node: Int, _ generation: Int, _ input: Input) {
        queue.plan(.input(node: node, generation: generation, input), at: now + Self.delayNanoseconds)
    }

    private mutating func say(_ frame: Frame, to session: HostilePeer.Session) {
        do {
            let bytes = try FrameCodec.encode(frame)
            guard let arriving = try FrameCodec.decode(bytes) else { return }
            tell(session.node, session.generation, .received(session.connection, arriving, bytes: bytes.count))
        } catch { fail("codec", "the hostile member cannot encode a frame: \(error)") }
    }

    // MARK: Sessions

    private func hostileSession(_ node: Int, _ id: ConnectionID) -> Int? {
        hostile?.sessions.firstIndex {
            $0.node == node && $0.connection == id && $0.generation == nodes[node].generation
        }
    }

    /// - Returns: whether the connection is one with the hostile member, which then hears the frame.
    mutating func hostileTakes(_ node: Int, _ id: ConnectionID, _ frame: Frame) -> Bool {
        guard hostileSession(node, id) != nil else { return false }
        let bytes = (try? FrameCodec.encode(frame).count) ?? 0
        let generation = nodes[node].generation
        tell(node, generation, .written(id, bytes: bytes))
        queue.plan(
            .hostile(.hear(node: node, generation: generation, id, frame)), at: now + Self.delayNanoseconds)
        return true
    }

    /// - Returns: whether the connection was one with the hostile member.
    mutating func hostileCloses(_ node: Int, _ id: ConnectionID, code: String) -> Bool {
        guard let number = hostileSession(node, id), let session = hostile?.sessions.remove(at: number) else {
            return false
        }
        end(session, code: code)
        return true
    }

    /// Refuses a dial: the hostile peer dials, and is not to be dialled.
    mutating func refuseDial(_ node: Int, _ id: ConnectionID) {
        guard hostile != nil else { return }
        tell(node, nodes[node].generation, .dialFailed(id, code: "connection_refused"))
    }

    private mutating func dialAsHostile(_ node: Int) {
        guard var peer = hostile else { return }
        nodes[node].nextAcceptedConnection += 2
        let session = HostilePeer.Session(
            node: node, generation: nodes[node].generation,
            connection: ConnectionID(rawValue: nodes[node].nextAcceptedConnection), said: peer.own)
        let number = peer.next()
        peer.sessions.removeAll { $0.node == node }
        peer.sessions.append(session)
        hostile = peer
        trace.record(now, node, "is dialled by the hostile member")
        let remote = Endpoint(host: "hostile", port: 21_817)
        tell(node, session.generation, .opened(session.connection, peer.device.id, remote: remote))
        say(
            .hello(
                Frame.Hello(
                    protocols: SessionProtocol.versions, features: SessionProtocol.features & ~SessionProtocol.bulk,
                    featuresRequired: 0, name: "hostile", runID: 1, sessionNumber: number, wallMilliseconds: 0,
                    agentVersion: "simulated", instance: "", listenPort: 0, waitingRoomBytes: 1 << 20)), to: session)
        say(HostilePeer.have(session.said), to: session)
    }

    private mutating func hear(_ node: Int, _ id: ConnectionID, _ frame: Frame) {
        guard let number = hostileSession(node, id), var peer = hostile else { return }
        let session = peer.sessions[number]
        switch frame {
        case .ping(let ping): say(.pong(Frame.Pong(nonce: ping.nonce)), to: session)
        case .haveRequest: say(HostilePeer.have(session.said), to: session)
        case .want(let want): if let answer = peer.answer(to: want) { say(answer, to: session) }
        case .have(let have) where have.complete && session.contradicts:
            peer.sessions[number].said = peer.contradicting(have)
            peer.sessions[number].contradicts = false
            hostile = peer
            say(HostilePeer.have(peer.sessions[number].said), to: session)
        case _: break
        }
    }

    // MARK: What it does

    private mutating func act() {
        guard isFaulty, var peer = hostile else { return }
        let candidates = nodes.indices.filter { nodes[$0].isUp && nodes[$0].trusted.contains(peer.device.id) }
        guard let node = candidates.randomElement(using: &peer.random),
            let act = HostilePeer.Act.allCases.randomElement(using: &peer.random)
        else { return }
        hostile = peer
        let generation = nodes[node].generation
        if !peer.sessions.contains(where: { $0.node == node && $0.generation == generation }) { dialAsHostile(node) }
        guard let number = hostile?.sessions.firstIndex(where: { $0.node == node }) else { return }
        trace.record(now, node, "hears the hostile member \(act)")
        perform(act, number)
    }

    private mutating func perform(_ act: HostilePeer.Act, _ number: Int) {
        guard var peer = hostile else { return }
        defer { hostile = peer }
        let session = peer.sessions[number]
        let honest = nodes.map(\.device)
        let wall = Self.epochMilliseconds + now / 1_000_000
        switch act {
        case .invent:
            guard let author = (honest + [peer.device]).randomElement(using: &peer.random) else { return }
            for _ in 0..<500 {
                let replica = ReplicaID(device: author.id, incarnation: peer.random.next())
                let head = ChainHead(space: .home, replica: replica)
                peer.sessions[number].said.set(replica, ReplicaTip(next: 3, head: head, stamp: .zero))
            }
            say(HostilePeer.have(peer.sessions[number].said), to: session)
        case .contradict:
            peer.sessions[number].contradicts = true
            say(.haveRequest(Frame.HaveRequest(space: .home)), to: session)
        case .revoke:
            let cuts = honest.map { Operation.cut(CutFact(device: $0.id, isStrict: true, ends: [])) }
            push(peer.write(cuts, wallMilliseconds: wall), &peer, number)
        case .duplicate:
            let otherRun = peer.random.next()
            say(
                .goodbye(
                    Frame.Goodbye(
                        code: CloseReason.duplicateIdentity.rawValue, message: "", otherRun: otherRun, proof: [])),
                to: session)
        case .flood: push(peer.flood(wallMilliseconds: wall), &peer, number)
        case .askForState:
            for _ in 0..<3 {
                let nothing = VersionVector()
                say(
                    .stateRequest(
                        Frame.StateRequest(
                            id: peer.next(), space: .home, since: nothing, stagedEvents: nothing, asks: false,
                            creditBytes: 1 << 20)), to: session)
            }
        case .rewriteFacts:
            let facts = honest.map { Operation.addMember($0.fact) }
            push(peer.write(facts, wallMilliseconds: 1_000), &peer, number)
        case .inviteInvented: push(peer.write(peer.inventedMembers(), wallMilliseconds: wall), &peer, number)
        case .write: push(peer.write([HostilePeer.event], wallMilliseconds: wall), &peer, number)
        }
    }

    private mutating func push(_ segments: [VerifiedSegment], _ peer: inout HostilePeer, _ number: Int) {
        let session = peer.sessions[number]
        for verified in segments {
            let segment = verified.segment
            peer.sessions[number].said.set(segment.replica, verified.tip)
            say(HostilePeer.changes(segment.replica, [segment], wantID: 0, last: false), to: session)
        }
    }
}
