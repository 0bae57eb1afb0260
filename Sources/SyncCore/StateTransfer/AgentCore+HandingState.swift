import SyncModel

// Handing state to peers: the choice of peers to offer it to, and the stream, within what the receiver grants.
extension AgentCore {
    /// True if this device may hand state over. A reader relays changes, each of which is signed; no peer takes state from
    /// it.
    private var mayHandState: Bool {
        configuration.exchangesState && !isIncomplete && membership[configuration.own]?.fact.role == .writer
    }

    // MARK: Offers

    /// Considers an offer of state, after a peer announced what it holds. Where deletions are forgotten, a peer that lacks
    /// part of our floor takes state: only state tells it what became of its writes on objects that are gone here. A peer
    /// that lacks so much that state may be far less may take it too: the store weighs both. That changes are not held is
    /// said when they are wanted: another peer may have them.
    mutating func considerOffer(_ index: Int) {
        let session = sessions[index]
        guard session.stateExchange.isSpoken, session.peerTipsAreComplete, mayHandState,
            !session.forks.isDue, !disputesOurs(session)
        else { return }
        let lacking = held.operations(beyond: session.peerTips)
        guard lacking > 0 else { return }
        if configuration.collectsDeletions, !floor.isEmpty, !session.peerTips.covers(floor.entries) {
            guard session.stateExchange.offeredFloor != floor else { return }
            sessions[index].stateExchange.offeredFloor = floor
            return offerState(index)
        }
        guard session.stateExchange.weighing == nil, lacking >= configuration.bounds.stateOfferOperations,
            lacking / 2 >= session.stateExchange.weighedOperations
        else { return }
        let id = StateID(rawValue: nextID())
        sessions[index].stateExchange.weighing = id
        sessions[index].stateExchange.weighedOperations = lacking
        effects.append(.state(.weigh(id, since: session.peerTips.vector())))
    }

    private mutating func offerState(_ index: Int) {
        // Its wants of before crossed our offer.
        sessions[index].stateExchange.holdsWantsUntil = now + configuration.timing.stateOfferWait
        counters.statesOffered += 1
        send(index, .stateOffer(Frame.StateOffer(space: space)))
        probe(index)
    }

    mutating func noteWeighed(_ id: StateID, _ weight: StateWeight) {
        guard let index = upSessions.first(where: { sessions[$0].stateExchange.weighing == id }) else { return }
        sessions[index].stateExchange.weighing = nil
        let bounds = configuration.bounds
        let (threshold, overflow) = weight.stateBytes.multipliedReportingOverflow(by: bounds.stateOfferFactor)
        guard !overflow, weight.changeBytes >= bounds.stateOfferBytes, weight.changeBytes >= threshold else { return }
        offerState(index)
    }

    /// True if answers to the peer's wants wait for its reply about state.
    func holdsWants(_ session: PeerSession) -> Bool {
        session.stateExchange.weighing != nil || session.stateExchange.holdsWantsUntil.map { $0 > now } ?? false
    }

    /// Returns the first counter held of the replica if the want begins before it; otherwise nil.
    func refusedFrom(_ want: Frame.Want) -> UInt64? {
        let first = firstHeld.next(of: want.replica)
        return want.from < first ? first : nil
    }

    // MARK: Requests

    mutating func noteStateRequest(_ index: Int, _ request: Frame.StateRequest) {
        guard sessions[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateRequest")
        }
        guard request.space == space else { return }
        let connection = sessions[index].id
        // A peer takes back what it asked for before it asks again.
        if outlets.contains(where: { $0.connection == connection }) {
            return refuse(index, .overLimit, detail: "stateRequest")
        }
        guard mayHandState, !disputesOurs(sessions[index]), !doubtsOurs(sessions[index]),
            outlets.count + unansweredOutlets.count < configuration.bounds.statesServed,
            !unansweredOutlets.contains(where: { $0.connection == connection })
        else {
            sessions[index].stateExchange.holdsWantsUntil = nil
            return send(index, .stateItems(Frame.StateItems(id: request.id, bytes: [], last: true)))
        }
        let outlet = StateOutlet(
            id: StateID(rawValue: nextID()), connection: connection, requestID: request.id,
            creditBytes: Int(clamping: min(request.creditBytes, UInt64(configuration.bounds.inFlightBytesPerPeer))),
            at: now)
        outlets.append(outlet)
        // What it wanted before it takes back once it knows what the state covers; until then it would stand before the state.
        sessions[index].stateExchange.holdsWantsUntil = now + configuration.timing.stateOfferWait
        effects.append(
            .state(.open(outlet.id, since: request.since, stagedEvents: request.stagedEvents, asks: request.asks)))
    }

    mutating func noteOpened(_ id: StateID, _ vector: VersionVector) {
        unansweredOutlets.removeAll { $0.id == id }
        guard let number = outlets.firstIndex(where: { $0.id == id }),
            let index = sessionIndex(outlets[number].connection)
        else { return effects.append(.state(.close(id))) }
        outlets[number].isOpen = true
        outlets[number].progressAt = now
        // Of a vector that is too long to say the receiver learns at the end.
        sessions[index].stateExchange.holdsWantsUntil = now + configuration.timing.stateOfferWait
        let first = Frame.StateItems(id: outlets[number].requestID, vector: vector, bytes: [], last: false)
        if first.vector != nil { send(index, .stateItems(first)) }
    }

    /// - Returns: true if the credit was for a state.
    mutating func noteStateCredit(_ index: Int, _ credit: Frame.Credit) -> Bool {
        let connection = sessions[index].id
        guard let number = outlets.firstIndex(where: { $0.connection == connection && $0.requestID == credit.wantID })
        else { return false }
        outlets[number].progressAt = now
        if credit.cancel {
            closeOutlet(outlets[number].id)
        } else {
            let limit = configuration.bounds.inFlightBytesPerPeer
            outlets[number].creditBytes = min(
                limit, outlets[number].creditBytes + Int(clamping: min(credit.bytes, UInt64(limit))))
        }
        return true
    }

    mutating func noteStateAnswer(_ index: Int, _ answer: Frame.StateAnswer) {
        let connection = sessions[index].id
        guard sessions[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateAnswer")
        }
        // Of a state that we gave up meanwhile, or not as many as were asked about.
        guard let number = outlets.firstIndex(where: { $0.connection == connection && $0.requestID == answer.id })
        else { return }
        guard outlets[number].asked == answer.staged.count else {
            return refuse(index, .unexpectedFrame, detail: "stateAnswer")
        }
        outlets[number].asked = nil
        outlets[number].answer = answer.staged
        outlets[number].progressAt = now
    }

    // MARK: The stream

    /// Sends what was read as far as credit and the transport's buffer go; then reads on. So a receiver that is slow costs one
    /// chunk, and live changes never stand behind more than the window.
    mutating func pumpStates() {
        for id in outlets.map(\.id) {
            guard let number = outlets.firstIndex(where: { $0.id == id }),
                let index = sessionIndex(outlets[number].connection), sessions[index].state == .up
            else { continue }
            sendPending(number, index)
            let outlet = outlets[number]
            guard outlet.pending.isEmpty else { continue }
            if !outlet.question.isEmpty {
                outlets[number].question = []
                outlets[number].asked = outlet.question.count
                send(
                    index,
                    .stateQuestion(Frame.StateQuestion(id: outlet.requestID, announcements: outlet.question)))
            } else if outlet.isLastRead {
                counters.statesHanded += 1
                closeOutlet(id)
            } else if outlet.isOpen, !outlet.isReading, outlet.asked == nil, outlet.creditBytes > 0,
                sessions[index].bufferedBytes < configuration.bounds.stateWindowBytes
            {
                outlets[number].isReading = true
                outlets[number].answer = []
                let bytes = min(outlet.creditBytes, configuration.bounds.servedReadBytes)
                effects.append(.state(.read(id, bytes: bytes, staged: outlet.answer)))
            }
        }
    }

    private mutating func sendPending(_ number: Int, _ index: Int) {
        var outlet = outlets[number]
        var offset = 0
        while offset < outlet.pending.count, outlet.creditBytes > 0,
            sessions[index].bufferedBytes < configuration.bounds.stateWindowBytes
        {
            let count = min(outlet.pending.count - offset, outlet.creditBytes, Limits.statePartBytes)
            let part = Array(outlet.pending[offset..<offset + count])
            offset += count
            outlet.creditBytes -= count
            sessions[index].bufferedBytes += count
            let isLast = outlet.isLastRead && offset == outlet.pending.count
            send(index, .stateItems(Frame.StateItems(id: outlet.requestID, bytes: part, last: isLast)))
        }
        if offset > 0 { outlet.pending.removeFirst(offset) }
        outlets[number] = outlet
    }

    mutating func noteChunk(_ id: StateID, _ chunk: StateChunk) {
        guard let number = outlets.firstIndex(where: { $0.id == id }) else { return }
        outlets[number].isReading = false
        outlets[number].progressAt = now
        outlets[number].pending = chunk.bytes
        outlets[number].question = chunk.question
        outlets[number].isLastRead = chunk.isLast
    }

    /// - Returns: true if it was about handing state over.
    mutating func noteServingFailed(_ id: StateID) -> Bool {
        if let index = upSessions.first(where: { sessions[$0].stateExchange.weighing == id }) {
            sessions[index].stateExchange.weighing = nil
            return true
        }
        if let number = unansweredOutlets.firstIndex(where: { $0.id == id }) {
            unansweredOutlets.remove(at: number)
            return true
        }
        guard outlets.contains(where: { $0.id == id }) else { return false }
        endOutlet(id)
        unansweredOutlets.removeAll { $0.id == id }
        return true
    }

    /// Tells the peer that no more of the state comes: it may ask another peer.
    private mutating func endOutlet(_ id: StateID) {
        guard let outlet = outlets.first(where: { $0.id == id }) else { return }
        closeOutlet(id)
        guard let index = sessionIndex(outlet.connection), sessions[index].state == .up else { return }
        send(index, .stateItems(Frame.StateItems(id: outlet.requestID, bytes: [], last: true)))
    }

    private mutating func closeOutlet(_ id: StateID) {
        unansweredOutlets += outlets.filter { $0.id == id && !$0.isOpen }
        outlets.removeAll { $0.id == id }
        effects.append(.state(.close(id)))
    }

    mutating func abandonOutlets(of connection: ConnectionID) {
        for outlet in outlets where outlet.connection == connection { closeOutlet(outlet.id) }
    }

    /// Ends the outlets of peers that make no progress, since each keeps a transaction of our store open.
    mutating func passOutletDeadlines() {
        for outlet in outlets where now >= outlet.progressAt + configuration.timing.stateIdle { endOutlet(outlet.id) }
    }
}
