import SyncModel

// The peers of a space, from the opening of a session to its end.
extension SpaceMachine {
    func peerIndex(_ id: ConnectionID) -> Int? { peers.firstIndex { $0.id == id } }

    var upPeers: [Int] { peers.indices.filter { peers[$0].isUp } }

    mutating func handleOpened(_ id: ConnectionID, _ device: DeviceID, _ step: CoreStep) {
        peers.append(SpacePeer(id: id, device: device, openedAt: step.now))
        announcer.open(id)
        sender.open(id)
        stability.open(id)
        puller.open(id)
        receiver.open(id)
        stateSender.open(id)
        stateReceiver.open(id)
        presence.open(id)
        forks.open(id)
    }

    /// Handles a session that is up.
    ///
    /// - Parameter features: the features that both sides know.
    mutating func handleEstablished(_ id: ConnectionID, features: UInt64, _ step: inout CoreStep) {
        guard let index = peerIndex(id) else { return }
        peers[index].isUp = true
        peers[index].knowsRoles = features & SessionProtocol.roles != 0
        stability.handleEstablished(id, isSpoken: features & SessionProtocol.acknowledgements != 0)
        sender.handleEstablished(id, packsChanges: features & SessionProtocol.packedChanges != 0)
        let speaksState = features & SessionProtocol.state != 0
        stateSender.handleEstablished(id, isSpoken: speaksState)
        stateReceiver.handleEstablished(id, isSpoken: speaksState)
        presence.handleEstablished(
            id, with: peers[index].device, isSpoken: features & SessionProtocol.presence != 0)
        sendHave(index, isComplete: false, &step)
    }

    /// Handles a frame about this space.
    mutating func handleReceived(_ id: ConnectionID, _ frame: Frame, _ step: inout CoreStep) {
        guard let index = peerIndex(id), peers[index].isUp else { return }
        switch frame {
        case .have(let have): handleHave(index, have, &step)
        case .haveRequest(let request): handleHaveRequest(index, request, &step)
        case .want(let want): handleWant(index, want, &step)
        case .credit(let credit): handleCredit(index, credit, &step)
        case .changes(let changes): handleChanges(index, changes, &step)
        case .prune(let prune): handlePrune(index, prune)
        case .acknowledgements(let sent): stability.handleAcknowledgements(sent, from: id, log, &step)
        case .acknowledgementRequest(let request): stability.handleRequest(request, from: id, log, &step)
        case .stateOffer(let offer): handleStateOffer(index, offer, &step)
        case .stateRequest(let request): handleStateRequest(index, request, &step)
        case .stateItems(let items): handleStateItems(index, items, &step)
        case .stateQuestion(let question): handleStateQuestion(index, question, &step)
        case .stateAnswer(let answer): handleStateAnswer(index, answer, &step)
        case .presence(let sent): presence.handle(sent, from: id, log, &step)
        case .hello, .goodbye, .ping, .pong, .bulkWanted, .statements: break
        }
    }

    /// Handles the end of a session: its work goes to other sessions.
    mutating func handleSessionEnded(_ id: ConnectionID, _ step: inout CoreStep) {
        guard let index = peerIndex(id) else { return }
        let wasUp = peers[index].isUp
        peers[index].isUp = false
        puller.handleSessionEnded(id)
        stateReceiver.handleSessionEnded(id, &step)
        stateSender.handleSessionEnded(id, &step)
        abandonInquiry(of: id)
        sender.handleSessionEnded(id)
        stability.handleSessionEnded(id)
        presence.handleSessionEnded(id)
        if wasUp { recordLastWord(of: peers[index]) }
    }

    /// Handles the end of the connection, after that of its session: what each machine kept for it goes.
    mutating func handleClosed(_ id: ConnectionID) {
        peers.removeAll { $0.id == id }
        announcer.close(id)
        sender.close(id)
        stability.close(id)
        puller.close(id)
        receiver.close(id)
        stateSender.close(id)
        stateReceiver.close(id)
        presence.close(id)
        forks.close(id)
    }

    // MARK: What a space asks of the network

    mutating func send(_ index: Int, _ frame: Frame, _ step: inout CoreStep) { step.send(peers[index].id, frame) }

    mutating func probe(_ index: Int, _ step: inout CoreStep) { step.probe(peers[index].id) }

    /// Ends the session with a peer that broke the protocol, and says why.
    mutating func refuse(_ index: Int, _ reason: CloseReason, detail: String, _ step: inout CoreStep) {
        let id = peers[index].id
        step.network.refuse(id, reason, detail: detail, &step.output)
        handleSessionEnded(id, &step)
    }

    mutating func refuse(_ index: Int, _ offence: ProtocolOffence, _ step: inout CoreStep) {
        refuse(index, offence.reason, detail: offence.detail, &step)
    }

    mutating func close(_ index: Int, _ reason: CloseReason, _ step: inout CoreStep) {
        let id = peers[index].id
        step.network.close(id, reason, &step.output)
        handleSessionEnded(id, &step)
    }

    // MARK: Members

    /// Tells the network which devices may have a session.
    mutating func trustMembers(_ step: inout CoreStep) {
        step.network.trust(networkMembers, recoveryStatements, &step.output)
    }

    var networkMembers: [NetworkMember] {
        membership.members.map { member in
            NetworkMember(
                device: member.device, signingKey: member.fact.signingKey, isBarred: cuts.isBarred(member.device),
                reasons: cuts.revocation(of: member.device).map { [PlacedStatement($0)] } ?? [])
        }
    }
}
