import SyncModel

// How a session begins, which of two is kept, and how it ends.
extension PeerNetwork {
    /// Begins a session on a connection whose TLS is up, and says `Hello`.
    mutating func handleOpened(_ id: ConnectionID, _ device: DeviceID, _ remote: Endpoint, _ output: inout StepOutput) {
        let session = PeerSession(
            id: id, device: device, remote: remote, openedAt: output.now,
            deadline: output.now + settings.timing.helloDeadline)
        recordDialOpened(id, device)
        sessionNumber += 1
        sessions.append(session)
        let index = sessions.count - 1
        // Ourselves, or a copy of our disk that runs elsewhere: the Hello tells which.
        if device == settings.own { return send(index, .hello(hello(to: device)), &output) }
        guard isTrusted(device) || isHeard(device) || isAddressee(device) else {
            return refuse(index, .notMember, detail: device.shortID, &output)
        }
        send(index, .hello(hello(to: device)), &output)
        output.counters.sessionsOpened += 1
    }

    /// The shell adds what only it has: the time, and a signature if there is a twin.
    private func hello(to device: DeviceID) -> Frame.Hello {
        Frame.Hello(
            protocols: SessionProtocol.versions, features: settings.features,
            featuresRequired: settings.featuresRequired, name: name, runID: settings.runID,
            sessionNumber: sessionNumber, wallMilliseconds: 0,
            agentVersion: settings.agentVersion, instance: instance, listenPort: listenPort,
            waitingRoomBytes: UInt64(settings.bounds.waitingRoomBytes),
            twinRun: twins.claims[device]?.otherRun ?? 0,
            // One that is only told of a wipe would wait for them.
            statementCount: member(device) == nil && device != settings.own ? 0 : UInt32(statements.count),
            wipeReceipt: isAddressee(device) ? settings.configuration.wipeReceipt : nil)
    }

    /// The part of the agent that a frame is for.
    enum Received {
        /// The network took care of it, or the session is ending.
        case done
        /// The frame established the session, with these features known on both sides.
        case established(features: UInt64)
        /// The frame is for a space.
        case forSpace
    }

    /// Handles a frame of a peer, as far as it is about the session itself.
    mutating func handleReceived(_ id: ConnectionID, _ frame: Frame, _ output: inout StepOutput) -> Received {
        guard let index = sessionIndex(id), sessions[index].state != .closing else { return .done }
        sessions[index].lastReceivedAt = output.now
        sessions[index].unansweredSince = nil
        switch (sessions[index].state, frame) {
        case (.greeting, .statements(let sent)) where sessions[index].isHearing:
            // Of another space than this one's, if it is only told of a wipe.
            guard isHeard(sessions[index].device) else { break }
            recordReceived(sent.statements, from: sessions[index].device)
            bar(index, &output)
        case (.greeting, .goodbye(let goodbye)) where sessions[index].isHearing:
            handleGoodbye(index, goodbye, &output)
        // It takes the session for one that is up.
        case (.greeting, _) where sessions[index].isHearing: break
        case (.up, .statements(let sent)): recordReceived(sent.statements, from: sessions[index].device)
        case (.greeting, .hello(let hello)):
            return accept(index, hello, &output).map { .established(features: $0) } ?? .done
        case (.greeting, .goodbye(let goodbye)), (.up, .goodbye(let goodbye)): handleGoodbye(index, goodbye, &output)
        case (.greeting, _), (.up, .hello): refuse(index, .unexpectedFrame, detail: "", &output)
        case (.up, .bulkWanted): handleBulkWanted(index, &output)
        case (.up, .ping(let ping)): send(index, .pong(Frame.Pong(nonce: ping.nonce)), &output)
        case (.up, .pong(let pong)): handlePong(index, pong.nonce, &output)
        case (.up, .have), (.up, .haveRequest), (.up, .want), (.up, .credit), (.up, .changes), (.up, .prune),
            (.up, .acknowledgements), (.up, .acknowledgementRequest), (.up, .stateOffer), (.up, .stateRequest),
            (.up, .stateItems), (.up, .stateQuestion), (.up, .stateAnswer), (.up, .presence):
            return .forSpace
        case (.closing, _): break
        }
        return .done
    }

    /// - Returns: the features that both sides know, if the session is up now.
    private mutating func accept(_ index: Int, _ hello: Frame.Hello, _ output: inout StepOutput) -> UInt64? {
        if sessions[index].device == settings.own {
            meetOwnKey(index, hello, &output)
            return nil
        }
        let features: UInt64
        do {
            let agreed = try self.hello(to: sessions[index].device).agreed(with: hello).features
            features = settings.faults.contains(.sendUnagreedFrames) ? settings.features : agreed
        } catch {
            switch error {
            case .protocolMismatch: refuse(index, .protocolMismatch, detail: error.message, &output)
            case .featureRequired: refuse(index, .featureRequired, detail: error.message, &output)
            }
            return nil
        }
        let id = sessions[index].id
        let device = sessions[index].device
        sessions[index].takesReceipts = features & SessionProtocol.roles != 0
        if let receipt = hello.wipeReceipt, member(device) != nil {
            output.emit(.takeWipeReceipt(receipt, from: device))
        }
        guard !isHeard(device) else {
            // What the recovery key said comes next: a thief may have revoked the device. Ours goes as well: the device may
            // refuse this one, and wait for it.
            if features & SessionProtocol.roles != 0 { sendStatements(index, &output) }
            guard features & SessionProtocol.roles != 0, hello.statementCount > 0 else {
                bar(index, &output)
                return nil
            }
            sessions[index].isHearing = true
            output.emit(.establish(id))
            return nil
        }
        guard isTrusted(device) else {
            // Of the space that this device was told to leave. That one says why it refuses, and then has the receipt.
            sessions[index].isHearing = true
            output.emit(.establish(id))
            return nil
        }
        recordReceiptTaken(sessions[index], &output)
        sessions[index].knowsBulk = features & SessionProtocol.bulk != 0
        sessions[index].runID = hello.runID
        sessions[index].sessionNumber = hello.sessionNumber
        heardNames[device] = hello.name
        sessions[index].peerVersion = hello.agentVersion
        sessions[index].peerInstance = hello.instance
        sessions[index].listenPort = hello.listenPort
        recordTwinStatement(of: device, hello)
        if isDuplicateIdentity(index, &output) { return nil }
        sessions[index].state = .up
        output.emit(.establish(id))
        output.emit(.report(.peerClock(device, wallMilliseconds: hello.wallMilliseconds)))
        recordSessionUp(index, hello, &output)
        resolveRedundancy(of: id, &output)
        guard let index = sessionIndex(id), sessions[index].state == .up else { return nil }
        if features & SessionProtocol.roles != 0 { sendStatements(index, &output) }
        // A second connection to a peer that is connected is no news.
        if !sessions.contains(where: { $0.device == device && $0.state == .up && $0.id != id }) {
            output.emit(
                .report(.sessionUp(device, name: hello.name, sessions[index].remote, version: hello.agentVersion)))
        }
        return features
    }

    private mutating func sendStatements(_ index: Int, _ output: inout StepOutput) {
        guard !statements.isEmpty else { return }
        send(index, .statements(Frame.Statements(space: .home, statements: statements)), &output)
    }

    /// Closes one of two sessions with the same device. If each side dialled one, the one dialled by the greater DeviceID is
    /// kept. If one side dialled both, its dialler closes one: the silent one if there is one, else the newer.
    private mutating func resolveRedundancy(of id: ConnectionID, _ output: inout StepOutput) {
        guard let new = sessions.first(where: { $0.id == id }) else { return }
        for other in sessions where other.state == .up && other.device == new.device && other.id != id {
            let loser: ConnectionID
            if other.id.isOutbound != new.id.isOutbound {
                if isSuspected(other, at: output.now) {
                    loser = other.id
                } else {
                    let keepsOutbound = settings.own > new.device
                    loser = new.id.isOutbound == keepsOutbound ? other.id : new.id
                }
            } else {
                guard new.id.isOutbound else { continue }
                loser = isSuspected(other, at: output.now) ? other.id : new.id
            }
            if let index = sessionIndex(loser) { close(index, .redundant, &output) }
            if loser == id { return }
        }
    }

    private mutating func handleGoodbye(_ index: Int, _ goodbye: Frame.Goodbye, _ output: inout StepOutput) {
        if member(sessions[index].device) != nil {
            recordReceived(goodbye.statements, from: sessions[index].device)
        }
        sessions[index].isBarredThere = goodbye.code == CloseReason.revoked.rawValue
        if sessions[index].isBarredThere { recordReceiptTaken(sessions[index], &output) }
        if goodbye.code == CloseReason.duplicateIdentity.rawValue {
            handleTwinGoodbye(from: sessions[index].device, goodbye, &output)
        }
        recordFarewell(sessions[index].id, code: goodbye.code, at: output.now)
        close(index, sessions[index].isBarredThere ? .revoked : .redundant, sayingGoodbye: false, &output)
    }

    /// Ends the session of a device that the space refuses, and tells it why.
    mutating func bar(_ index: Int, _ output: inout StepOutput) {
        let device = sessions[index].device
        let reasons = member(device)?.reasons ?? []
        output.emit(.report(.refused(device, .revoked, detail: device.shortID)))
        let message = reasons.first.map { "by \($0.dot.replica.device.shortID)" } ?? "no member's word admits it"
        let others = statements.filter { !reasons.contains($0) }
        close(index, .revoked, detail: message, statements: reasons + others, &output)
    }

    mutating func bar(_ id: ConnectionID, _ output: inout StepOutput) {
        if let index = sessionIndex(id) { bar(index, &output) }
    }

    mutating func handleMalformed(_ id: ConnectionID, _ code: String, _ output: inout StepOutput) {
        guard let index = sessionIndex(id) else { return }
        refuse(index, .malformedFrame, detail: code, &output)
    }

    mutating func handleWritten(_ id: ConnectionID, _ bytes: Int) {
        guard let index = sessionIndex(id) else { return }
        sessions[index].bufferedBytes = max(0, sessions[index].bufferedBytes - bytes)
    }

    /// Ends a session because the peer broke the protocol or may not have one: reports it, and tells the peer why.
    mutating func refuse(_ index: Int, _ reason: CloseReason, detail: String, _ output: inout StepOutput) {
        output.counters.offences += 1
        output.emit(.report(.refused(sessions[index].device, reason, detail: detail)))
        close(index, reason, detail: detail, &output)
    }

    /// Refuses what a peer sent to a space.
    mutating func refuse(_ id: ConnectionID, _ reason: CloseReason, detail: String, _ output: inout StepOutput) {
        guard let index = sessionIndex(id) else { return }
        refuse(index, reason, detail: detail, &output)
    }

    /// Ends a session because a space asks for it.
    mutating func close(_ id: ConnectionID, _ reason: CloseReason, _ output: inout StepOutput) {
        guard let index = sessionIndex(id) else { return }
        close(index, reason, &output)
    }

    /// - Parameter twin: with `duplicateIdentity`, the other run of the peer's device, and its signature if there is one.
    mutating func close(
        _ index: Int, _ reason: CloseReason, detail: String = "", sayingGoodbye: Bool = true,
        twin: (run: UInt64, proof: [UInt8]) = (0, []), statements: [PlacedStatement] = [],
        _ output: inout StepOutput
    ) {
        guard sessions[index].state != .closing else { return }
        if sayingGoodbye {
            let goodbye = Frame.Goodbye(
                code: reason.rawValue, message: detail, otherRun: twin.run, proof: twin.proof,
                statements: PlacedStatement.fitting(statements, upTo: PlacedStatement.goodbyeByteLimit))
            send(index, .goodbye(goodbye), &output)
        }
        let wasUp = sessions[index].state == .up
        sessions[index].state = .closing
        output.emit(.close(sessions[index].id, reason))
        endSession(index, wasUp: wasUp, code: reason.rawValue, &output)
    }

    mutating func handleClosed(_ id: ConnectionID, _ code: String, _ output: inout StepOutput) {
        guard let index = sessionIndex(id) else { return handleDialFailed(id, code, at: output.now) }
        let wasUp = sessions[index].state == .up
        if sessions[index].state != .closing { endSession(index, wasUp: wasUp, code: code, &output) }
        sessions.remove(at: index)
    }

    /// Ends a session. Spaces hear of it, and its address may be dialled again.
    private mutating func endSession(_ index: Int, wasUp: Bool, code: String, _ output: inout StepOutput) {
        let session = sessions[index]
        recordEnded(session.id)
        recordSessionEnded(session, wasUp: wasUp, code: code, at: output.now)
        // A connection that broke is still in the list, and up.
        let isStillConnected = sessions.contains {
            $0.device == session.device && $0.state == .up && $0.id != session.id
        }
        if wasUp, !isStillConnected { output.emit(.report(.sessionDown(session.device, code: code))) }
    }

    /// Takes another name of this device. A peer learns it from a `Hello`, and a session has one: all sessions end, and are dialled
    /// again at once.
    mutating func handleRenamed(_ name: String, _ output: inout StepOutput) {
        guard name != self.name else { return }
        self.name = name
        for index in sessions.indices where sessions[index].device != settings.own { close(index, .renamed, &output) }
    }

    /// Takes this agent's mDNS instance and the port where it listens. A peer learns the port from a `Hello`, and a session has one:
    /// if the port is another than before, all sessions end, and are dialled again at once.
    mutating func handleAnnounced(instance: String, listenPort: UInt16, _ output: inout StepOutput) {
        let hasMoved = self.listenPort != 0 && listenPort != self.listenPort
        (self.instance, self.listenPort) = (instance, listenPort)
        guard hasMoved else { return }
        for index in sessions.indices where sessions[index].device != settings.own { close(index, .moved, &output) }
    }

    /// Says goodbye on every session.
    mutating func stop(_ output: inout StepOutput) {
        for index in sessions.indices { close(index, .shutdown, &output) }
    }
}
