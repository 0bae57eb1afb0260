import SyncModel

// How a session begins, which of two is kept, how it is kept alive, and how it ends.
extension AgentCore {
    mutating func noteOpened(_ id: ConnectionID, _ device: DeviceID, _ remote: Endpoint) {
        let session = PeerSession(
            id: id, device: device, remote: remote, openedAt: now, deadline: now + configuration.timing.helloDeadline)
        noteDialOpened(id, device)
        sessionNumber += 1
        sessions.append(session)
        let index = sessions.count - 1
        // Ourselves, or a copy of our disk that runs elsewhere: the Hello tells which.
        if device == configuration.own { return send(index, .hello(hello(to: device))) }
        guard isTrusted(device) else { return refuse(index, .notMember, detail: device.shortID) }
        send(index, .hello(hello(to: device)))
        counters.sessionsOpened += 1
    }

    /// The shell adds what only it has: the time, and a signature if there is a twin.
    private func hello(to device: DeviceID) -> Frame.Hello {
        Frame.Hello(
            protocols: SessionProtocol.versions,
            features: SessionProtocol.features & (configuration.exchangesState ? .max : ~SessionProtocol.state),
            featuresRequired: SessionProtocol.featuresRequired, name: configuration.name, runID: configuration.runID,
            sessionNumber: sessionNumber, wallMilliseconds: 0,
            agentVersion: configuration.agentVersion, instance: instance, listenPort: listenPort,
            waitingRoomBytes: UInt64(configuration.bounds.waitingRoomBytes),
            twinRun: twins.claims[device]?.otherRun ?? 0)
    }

    mutating func noteReceived(_ id: ConnectionID, _ frame: Frame, _ bytes: Int) {
        guard let index = sessionIndex(id), sessions[index].state != .closing else { return }
        sessions[index].lastReceivedAt = now
        sessions[index].unansweredSince = nil
        switch (sessions[index].state, frame) {
        case (.greeting, .hello(let hello)): accept(index, hello)
        case (.greeting, .goodbye(let goodbye)), (.up, .goodbye(let goodbye)): noteGoodbye(index, goodbye)
        case (.greeting, _), (.up, .hello): refuse(index, .unexpectedFrame, detail: "")
        case (.up, .have(let have)): noteHave(index, have)
        case (.up, .haveRequest(let request)): answerHaveRequest(index, request)
        case (.up, .want(let want)): noteWant(index, want)
        case (.up, .credit(let credit)): noteCredit(index, credit)
        case (.up, .changes(let changes)): noteChanges(index, changes)
        case (.up, .prune(let prune)): notePrune(index, prune)
        case (.up, .acknowledgements(let sent)): noteAcknowledgements(index, sent)
        case (.up, .acknowledgementRequest(let request)): answerAcknowledgementRequest(index, request)
        case (.up, .bulkWanted): noteBulkWanted(index)
        case (.up, .stateOffer(let offer)): noteStateOffer(index, offer)
        case (.up, .stateRequest(let request)): noteStateRequest(index, request)
        case (.up, .stateItems(let items)): noteStateItems(index, items)
        case (.up, .stateQuestion(let question)): noteStateQuestion(index, question)
        case (.up, .stateAnswer(let answer)): noteStateAnswer(index, answer)
        case (.up, .ping(let ping)): send(index, .pong(Frame.Pong(nonce: ping.nonce)))
        case (.up, .pong(let pong)): notePong(index, pong.nonce)
        case (.closing, _): break
        }
    }

    private mutating func accept(_ index: Int, _ hello: Frame.Hello) {
        if sessions[index].device == configuration.own { return meetOwnKey(index, hello) }
        do {
            let agreement = try self.hello(to: sessions[index].device).agreed(with: hello)
            sessions[index].acknowledgements.isSpoken = agreement.features & SessionProtocol.acknowledgements != 0
            sessions[index].packsChanges = agreement.features & SessionProtocol.packedChanges != 0
            sessions[index].knowsBulk = agreement.features & SessionProtocol.bulk != 0
            sessions[index].stateExchange.isSpoken = agreement.features & SessionProtocol.state != 0
        } catch {
            switch error {
            case .protocolMismatch: return refuse(index, .protocolMismatch, detail: error.message)
            case .featureRequired: return refuse(index, .featureRequired, detail: error.message)
            }
        }
        let id = sessions[index].id
        let device = sessions[index].device
        sessions[index].runID = hello.runID
        sessions[index].sessionNumber = hello.sessionNumber
        sessions[index].peerName = hello.name
        sessions[index].peerVersion = hello.agentVersion
        sessions[index].peerInstance = hello.instance
        sessions[index].listenPort = hello.listenPort
        recordTwinStatement(of: device, hello)
        if isDuplicateIdentity(index) { return }
        sessions[index].state = .up
        effects.append(.establish(id))
        effects.append(.report(.peerClock(device, wallMilliseconds: hello.wallMilliseconds)))
        noteSessionUp(index, hello)
        resolveRedundancy(of: id)
        guard let index = sessionIndex(id), sessions[index].state == .up else { return }
        // A second connection to a peer that is connected is no news.
        if !sessions.contains(where: { $0.device == device && $0.state == .up && $0.id != id }) {
            effects.append(
                .report(.sessionUp(device, name: hello.name, sessions[index].remote, version: hello.agentVersion)))
        }
        sendHave(index, isComplete: false)
        sendPing(index)
    }

    /// Closes one of two sessions with the same device. If each side dialled one, the one dialled by the greater DeviceID is
    /// kept. If one side dialled both, its dialler closes one: the silent one if there is one, else the newer.
    private mutating func resolveRedundancy(of id: ConnectionID) {
        guard let new = sessions.first(where: { $0.id == id }) else { return }
        for other in sessions where other.state == .up && other.device == new.device && other.id != id {
            let loser: ConnectionID
            if other.id.isOutbound != new.id.isOutbound {
                if isSuspected(other) {
                    loser = other.id
                } else {
                    let keepsOutbound = configuration.own > new.device
                    loser = new.id.isOutbound == keepsOutbound ? other.id : new.id
                }
            } else {
                guard new.id.isOutbound else { continue }
                loser = isSuspected(other) ? other.id : new.id
            }
            if let index = sessionIndex(loser) { close(index, .redundant) }
            if loser == id { return }
        }
    }

    private mutating func noteGoodbye(_ index: Int, _ goodbye: Frame.Goodbye) {
        if goodbye.code == CloseReason.duplicateIdentity.rawValue {
            handleTwinGoodbye(from: sessions[index].device, goodbye)
        }
        noteFarewell(sessions[index].id, code: goodbye.code)
        close(index, .redundant, sayingGoodbye: false)
    }

    mutating func noteMalformed(_ id: ConnectionID, _ code: String) {
        guard let index = sessionIndex(id) else { return }
        refuse(index, .malformedFrame, detail: code)
    }

    mutating func noteWritten(_ id: ConnectionID, _ bytes: Int) {
        guard let index = sessionIndex(id) else { return }
        sessions[index].bufferedBytes = max(0, sessions[index].bufferedBytes - bytes)
    }

    /// An offence or a refusal: reported, said to the peer, closed.
    mutating func refuse(_ index: Int, _ reason: CloseReason, detail: String) {
        counters.offences += 1
        effects.append(.report(.refused(sessions[index].device, reason, detail: detail)))
        close(index, reason, detail: detail)
    }

    /// - Parameter twin: with `duplicateIdentity`, the other run of the peer's device, and its signature if there is one.
    mutating func close(
        _ index: Int, _ reason: CloseReason, detail: String = "", sayingGoodbye: Bool = true,
        twin: (run: UInt64, proof: [UInt8]) = (0, [])
    ) {
        guard sessions[index].state != .closing else { return }
        if sayingGoodbye {
            let goodbye = Frame.Goodbye(
                code: reason.rawValue, message: detail, otherRun: twin.run, proof: twin.proof)
            send(index, .goodbye(goodbye))
        }
        let wasUp = sessions[index].state == .up
        sessions[index].state = .closing
        effects.append(.close(sessions[index].id, reason))
        endSession(index, wasUp: wasUp, code: reason.rawValue)
    }

    mutating func noteClosed(_ id: ConnectionID, _ code: String) {
        guard let index = sessionIndex(id) else { return noteDialFailed(id, code) }
        let wasUp = sessions[index].state == .up
        if sessions[index].state != .closing { endSession(index, wasUp: wasUp, code: code) }
        sessions.remove(at: index)
    }

    /// Ends a session. Its work goes to other sessions, and its address may be dialled again.
    private mutating func endSession(_ index: Int, wasUp: Bool, code: String) {
        let session = sessions[index]
        abandonPulls(of: session.id)
        abandonIntake(of: session.id)
        abandonOutlets(of: session.id)
        abandonInquiry(of: session.id)
        reads.removeAll { $0.connection == session.id }
        noteSessionEnded(session, wasUp: wasUp, code: code)
        if wasUp { recordLastWord(of: session) }
        let isStillConnected = sessions.contains { $0.device == session.device && $0.state == .up }
        if wasUp, !isStillConnected { effects.append(.report(.sessionDown(session.device, code: code))) }
    }

    // MARK: Liveness

    mutating func sendPing(_ index: Int) {
        if sessions[index].unansweredSince == nil { sessions[index].unansweredSince = now }
        guard sessions[index].ping == nil else { return }
        let nonce = random.next()
        sessions[index].ping = PeerSession.Ping(nonce: nonce, sentAt: now)
        send(index, .ping(Frame.Ping(nonce: nonce)))
    }

    private mutating func notePong(_ index: Int, _ nonce: UInt64) {
        guard let ping = sessions[index].ping, ping.nonce == nonce else { return }
        sessions[index].record(roundTrip: now - ping.sentAt, at: now, again: configuration.timing.sampleEvery)
        sessions[index].ping = nil
        noteTwinAnswer(index, nonce)
    }

    /// Sends a ping with something that is sent to a quiet peer, so that a dead link is noticed within seconds. The answer
    /// does not wait for the peer's disk, as the answer to a push would.
    mutating func probe(_ index: Int) {
        if now - sessions[index].lastReceivedAt >= .milliseconds(250) { sendPing(index) }
    }

    /// True if our message has waited for an answer for too long, and not a byte came.
    func isSuspected(_ session: PeerSession) -> Bool { isSuspected(session, at: now) }

    func isSuspected(_ session: PeerSession, at now: Tick) -> Bool {
        guard session.state == .up, let since = session.unansweredSince else { return false }
        return now - since >= configuration.timing.suspectAfter
    }

    private func pingAt(_ session: PeerSession) -> Tick {
        let span = configuration.timing.pingAfter
        return session.lastReceivedAt + span + (session.id.isOutbound ? .seconds(0) : .seconds(1))
    }

    func deadline(of session: PeerSession) -> Tick? {
        switch session.state {
        case .greeting(let deadline): return deadline
        case .closing: return nil
        case .up:
            let alive: Tick? =
                configuration.faults.contains(.countDeadSessionAsAlive)
                ? nil : session.ping == nil ? pingAt(session) : session.lastReceivedAt + configuration.timing.deadAfter
            let suspicion =
                isSuspected(session) ? nil : session.unansweredSince.map { $0 + configuration.timing.suspectAfter }
            let pause = session.pullsPausedUntil.flatMap { $0 > now ? $0 : nil }
            let question = session.forks.question?.deadline
            return [session.haveDue, alive, suspicion, pause, session.sampleAt, question].compactMap(\.self).min()
        }
    }

    mutating func passDeadlines() {
        for id in sessions.map(\.id) {
            guard let index = sessionIndex(id) else { continue }
            switch sessions[index].state {
            case .closing: break
            case .greeting(let deadline): if now >= deadline { refuse(index, .helloTimeout, detail: "") }
            case .up: passDeadline(ofUp: index)
            }
        }
        passPullDeadlines()
        if let retry = storeRetryAt, now >= retry { storeRetryAt = nil }
    }

    private mutating func passDeadline(ofUp index: Int) {
        if let due = sessions[index].haveDue, now >= due { sendDueHave(index) }
        if let due = sessions[index].sampleAt, now >= due {
            sessions[index].sampleAt = nil
            sendPing(index)
        }
        guard !configuration.faults.contains(.countDeadSessionAsAlive) else { return }
        if sessions[index].ping != nil, now >= sessions[index].lastReceivedAt + configuration.timing.deadAfter {
            close(index, .silent)
        } else if now >= pingAt(sessions[index]) {
            sendPing(index)
        }
    }
}
