import SyncModel

// Handing state to peers: the choice of peers to offer it to, and the stream, within what the receiver grants.
extension SpaceMachine {
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
    mutating func considerOffer(_ index: Int, _ step: inout CoreStep) {
        let session = peers[index]
        guard session.stateExchange.isSpoken, session.peerTipsAreComplete, mayHandState,
            !session.forks.isDue, !disputesOurs(session)
        else { return }
        let lacking = held.operations(beyond: session.peerTips)
        guard lacking > 0 else { return }
        if configuration.collectsDeletions, !floor.isEmpty, !session.peerTips.covers(floor.entries) {
            guard session.stateExchange.offeredFloor != floor else { return }
            peers[index].stateExchange.offeredFloor = floor
            return offerState(index, &step)
        }
        guard session.stateExchange.weighing == nil, lacking >= configuration.bounds.stateOfferOperations,
            lacking / 2 >= session.stateExchange.weighedOperations
        else { return }
        let id = StateID(rawValue: step.nextID())
        peers[index].stateExchange.weighing = id
        peers[index].stateExchange.weighedOperations = lacking
        step.emit(.state(.weigh(id, since: session.peerTips.vector())))
    }

    private mutating func offerState(_ index: Int, _ step: inout CoreStep) {
        // Its wants of before crossed our offer.
        peers[index].stateExchange.holdsWantsUntil = step.now + configuration.timing.stateOfferWait
        step.counters.statesOffered += 1
        send(index, .stateOffer(Frame.StateOffer(space: space)), &step)
        probe(index, &step)
    }

    mutating func handleWeighed(_ id: StateID, _ weight: StateWeight, _ step: inout CoreStep) {
        guard let index = upPeers.first(where: { peers[$0].stateExchange.weighing == id }) else { return }
        peers[index].stateExchange.weighing = nil
        let bounds = configuration.bounds
        let (threshold, overflow) = weight.stateBytes.multipliedReportingOverflow(by: bounds.stateOfferFactor)
        guard !overflow, weight.changeBytes >= bounds.stateOfferBytes, weight.changeBytes >= threshold else { return }
        offerState(index, &step)
    }

    /// True if answers to the peer's wants wait for its reply about state.
    func holdsWants(_ session: SpacePeer, _ step: CoreStep) -> Bool {
        session.stateExchange.weighing != nil || session.stateExchange.holdsWantsUntil.map { $0 > step.now } ?? false
    }

    /// Returns the first counter held of the replica if the want begins before it; otherwise nil.
    func refusedFrom(_ want: Frame.Want) -> UInt64? {
        let first = firstHeld.next(of: want.replica)
        return want.from < first ? first : nil
    }

    // MARK: Requests

    mutating func handleStateRequest(_ index: Int, _ request: Frame.StateRequest, _ step: inout CoreStep) {
        guard peers[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateRequest", &step)
        }
        guard request.space == space else { return }
        let connection = peers[index].id
        // A peer takes back what it asked for before it asks again.
        if outlets.contains(where: { $0.connection == connection }) {
            return refuse(index, .overLimit, detail: "stateRequest", &step)
        }
        guard mayHandState, !disputesOurs(peers[index]), !doubtsOurs(peers[index]),
            outlets.count + unansweredOutlets.count < configuration.bounds.statesServed,
            !unansweredOutlets.contains(where: { $0.connection == connection })
        else {
            peers[index].stateExchange.holdsWantsUntil = nil
            return send(index, .stateItems(Frame.StateItems(id: request.id, bytes: [], last: true)), &step)
        }
        let outlet = StateOutlet(
            id: StateID(rawValue: step.nextID()), connection: connection, requestID: request.id,
            creditBytes: Int(clamping: min(request.creditBytes, UInt64(configuration.bounds.inFlightBytesPerPeer))),
            at: step.now)
        outlets.append(outlet)
        // What it wanted before it takes back once it knows what the state covers; until then it would stand before the state.
        peers[index].stateExchange.holdsWantsUntil = step.now + configuration.timing.stateOfferWait
        step.emit(
            .state(.open(outlet.id, since: request.since, stagedEvents: request.stagedEvents, asks: request.asks)))
    }

    mutating func handleOutletOpened(_ id: StateID, _ vector: VersionVector, _ step: inout CoreStep) {
        unansweredOutlets.removeAll { $0.id == id }
        guard let number = outlets.firstIndex(where: { $0.id == id }),
            let index = peerIndex(outlets[number].connection)
        else { return step.emit(.state(.close(id))) }
        outlets[number].isOpen = true
        outlets[number].progressAt = step.now
        // Of a vector that is too long to say the receiver learns at the end.
        peers[index].stateExchange.holdsWantsUntil = step.now + configuration.timing.stateOfferWait
        let first = Frame.StateItems(id: outlets[number].requestID, vector: vector, bytes: [], last: false)
        if first.vector != nil { send(index, .stateItems(first), &step) }
    }

    /// - Returns: true if the credit was for a state.
    mutating func handleStateCredit(_ index: Int, _ credit: Frame.Credit, _ step: inout CoreStep) -> Bool {
        let connection = peers[index].id
        guard let number = outlets.firstIndex(where: { $0.connection == connection && $0.requestID == credit.wantID })
        else { return false }
        outlets[number].progressAt = step.now
        if credit.cancel {
            closeOutlet(outlets[number].id, &step)
        } else {
            let limit = configuration.bounds.inFlightBytesPerPeer
            outlets[number].creditBytes = min(
                limit, outlets[number].creditBytes + Int(clamping: min(credit.bytes, UInt64(limit))))
        }
        return true
    }

    mutating func handleStateAnswer(_ index: Int, _ answer: Frame.StateAnswer, _ step: inout CoreStep) {
        let connection = peers[index].id
        guard peers[index].stateExchange.isSpoken else {
            return refuse(index, .unexpectedFrame, detail: "stateAnswer", &step)
        }
        // Of a state that we gave up meanwhile, or not as many as were asked about.
        guard let number = outlets.firstIndex(where: { $0.connection == connection && $0.requestID == answer.id })
        else { return }
        guard outlets[number].asked == answer.staged.count else {
            return refuse(index, .unexpectedFrame, detail: "stateAnswer", &step)
        }
        outlets[number].asked = nil
        outlets[number].answer = answer.staged
        outlets[number].progressAt = step.now
    }

    // MARK: The stream

    /// Sends what was read as far as credit and the transport's buffer go; then reads on. So a receiver that is slow costs one
    /// chunk, and live changes never stand behind more than the window.
    mutating func pumpStates(_ step: inout CoreStep) {
        for id in outlets.map(\.id) {
            guard let number = outlets.firstIndex(where: { $0.id == id }),
                let index = peerIndex(outlets[number].connection), peers[index].isUp
            else { continue }
            sendPending(number, index, &step)
            let outlet = outlets[number]
            guard outlet.pending.isEmpty else { continue }
            if !outlet.question.isEmpty {
                outlets[number].question = []
                outlets[number].asked = outlet.question.count
                send(
                    index,
                    .stateQuestion(Frame.StateQuestion(id: outlet.requestID, announcements: outlet.question)), &step)
            } else if outlet.isLastRead {
                step.counters.statesHanded += 1
                closeOutlet(id, &step)
            } else if outlet.isOpen, !outlet.isReading, outlet.asked == nil, outlet.creditBytes > 0,
                step.bufferedBytes(peers[index].id) < configuration.bounds.stateWindowBytes
            {
                outlets[number].isReading = true
                outlets[number].answer = []
                let bytes = min(outlet.creditBytes, configuration.bounds.servedReadBytes)
                step.emit(.state(.read(id, bytes: bytes, staged: outlet.answer)))
            }
        }
    }

    private mutating func sendPending(_ number: Int, _ index: Int, _ step: inout CoreStep) {
        var outlet = outlets[number]
        var offset = 0
        while offset < outlet.pending.count, outlet.creditBytes > 0,
            step.bufferedBytes(peers[index].id) < configuration.bounds.stateWindowBytes
        {
            let count = min(outlet.pending.count - offset, outlet.creditBytes, Limits.statePartBytes)
            let part = Array(outlet.pending[offset..<offset + count])
            offset += count
            outlet.creditBytes -= count
            let isLast = outlet.isLastRead && offset == outlet.pending.count
            let items = Frame.StateItems(id: outlet.requestID, bytes: part, last: isLast)
            step.send(peers[index].id, .stateItems(items), bufferedBytes: count)
        }
        if offset > 0 { outlet.pending.removeFirst(offset) }
        outlets[number] = outlet
    }

    mutating func handleChunk(_ id: StateID, _ chunk: StateChunk, _ step: CoreStep) {
        guard let number = outlets.firstIndex(where: { $0.id == id }) else { return }
        outlets[number].isReading = false
        outlets[number].progressAt = step.now
        outlets[number].pending = chunk.bytes
        outlets[number].question = chunk.question
        outlets[number].isLastRead = chunk.isLast
    }

    /// - Returns: true if it was about handing state over.
    mutating func handleServingFailed(_ id: StateID, _ step: inout CoreStep) -> Bool {
        if let index = upPeers.first(where: { peers[$0].stateExchange.weighing == id }) {
            peers[index].stateExchange.weighing = nil
            return true
        }
        if let number = unansweredOutlets.firstIndex(where: { $0.id == id }) {
            unansweredOutlets.remove(at: number)
            return true
        }
        guard outlets.contains(where: { $0.id == id }) else { return false }
        endOutlet(id, &step)
        unansweredOutlets.removeAll { $0.id == id }
        return true
    }

    /// Tells the peer that no more of the state comes: it may ask another peer.
    private mutating func endOutlet(_ id: StateID, _ step: inout CoreStep) {
        guard let outlet = outlets.first(where: { $0.id == id }) else { return }
        closeOutlet(id, &step)
        guard let index = peerIndex(outlet.connection), peers[index].isUp else { return }
        send(index, .stateItems(Frame.StateItems(id: outlet.requestID, bytes: [], last: true)), &step)
    }

    private mutating func closeOutlet(_ id: StateID, _ step: inout CoreStep) {
        unansweredOutlets += outlets.filter { $0.id == id && !$0.isOpen }
        outlets.removeAll { $0.id == id }
        step.emit(.state(.close(id)))
    }

    mutating func abandonOutlets(of connection: ConnectionID, _ step: inout CoreStep) {
        for outlet in outlets where outlet.connection == connection { closeOutlet(outlet.id, &step) }
    }

    /// Ends the outlets of peers that make no progress, since each keeps a transaction of our store open.
    mutating func passOutletDeadlines(_ step: inout CoreStep) {
        for outlet in outlets where step.now >= outlet.progressAt + configuration.timing.stateIdle {
            endOutlet(outlet.id, &step)
        }
    }
}
