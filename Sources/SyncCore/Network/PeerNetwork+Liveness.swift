import SyncModel

// How a session is kept alive, and when its silence ends it.
extension PeerNetwork {
    mutating func sendPing(_ index: Int, _ output: inout StepOutput) {
        if sessions[index].unansweredSince == nil { sessions[index].unansweredSince = output.now }
        guard sessions[index].ping == nil else { return }
        let nonce = random.next()
        sessions[index].ping = PeerSession.Ping(nonce: nonce, sentAt: output.now)
        send(index, .ping(Frame.Ping(nonce: nonce)), &output)
    }

    mutating func handlePong(_ index: Int, _ nonce: UInt64, _ output: inout StepOutput) {
        guard let ping = sessions[index].ping, ping.nonce == nonce else { return }
        sessions[index].record(
            roundTrip: output.now - ping.sentAt, at: output.now, again: settings.timing.sampleEvery)
        sessions[index].ping = nil
        handleTwinAnswer(index, nonce, &output)
    }

    /// Sends a ping with something that is sent to a quiet peer, so that a dead link is noticed within seconds. The answer
    /// does not wait for the peer's disk, as the answer to a push would.
    private mutating func probe(_ index: Int, _ output: inout StepOutput) {
        if output.now - sessions[index].lastReceivedAt >= .milliseconds(250) { sendPing(index, &output) }
    }

    mutating func probe(_ id: ConnectionID, _ output: inout StepOutput) {
        if let index = sessionIndex(id) { probe(index, &output) }
    }

    /// Pings a peer as soon as its session is up.
    mutating func sendPing(_ id: ConnectionID, _ output: inout StepOutput) {
        if let index = sessionIndex(id) { sendPing(index, &output) }
    }

    func isSuspected(_ id: ConnectionID, at now: Tick) -> Bool {
        session(id).map { isSuspected($0, at: now) } ?? false
    }

    /// True if our message has waited for an answer for too long, and not a byte came.
    func isSuspected(_ session: PeerSession, at now: Tick) -> Bool {
        guard session.state == .up, let since = session.unansweredSince else { return false }
        return now - since >= settings.timing.suspectAfter
    }

    private func pingAt(_ session: PeerSession) -> Tick {
        let span = settings.timing.pingAfter
        return session.lastReceivedAt + span + (session.id.isOutbound ? .seconds(0) : .seconds(1))
    }

    /// The time of the next step that a session needs.
    func sessionDeadline(at now: Tick) -> Tick? { sessions.compactMap { deadline(of: $0, at: now) }.min() }

    private func deadline(of session: PeerSession, at now: Tick) -> Tick? {
        switch session.state {
        case .greeting(let deadline): return deadline
        case .closing: return nil
        case .up:
            let alive: Tick? =
                settings.faults.contains(.countDeadSessionAsAlive)
                ? nil : session.ping == nil ? pingAt(session) : session.lastReceivedAt + settings.timing.deadAfter
            let suspicion =
                isSuspected(session, at: now)
                ? nil : session.unansweredSince.map { $0 + settings.timing.suspectAfter }
            return [alive, suspicion, session.sampleAt].compactMap(\.self).min()
        }
    }

    /// Handles what is due on a connection.
    mutating func passDeadline(of id: ConnectionID, _ output: inout StepOutput) {
        guard let index = sessionIndex(id) else { return }
        switch sessions[index].state {
        case .closing: break
        case .greeting(let deadline): if output.now >= deadline { refuse(index, .helloTimeout, detail: "", &output) }
        case .up: passDeadline(ofUp: index, &output)
        }
    }

    private mutating func passDeadline(ofUp index: Int, _ output: inout StepOutput) {
        if let due = sessions[index].sampleAt, output.now >= due {
            sessions[index].sampleAt = nil
            sendPing(index, &output)
        }
        guard !settings.faults.contains(.countDeadSessionAsAlive) else { return }
        if sessions[index].ping != nil, output.now >= sessions[index].lastReceivedAt + settings.timing.deadAfter {
            close(index, .silent, &output)
        } else if output.now >= pingAt(sessions[index]) {
            sendPing(index, &output)
        }
    }
}
