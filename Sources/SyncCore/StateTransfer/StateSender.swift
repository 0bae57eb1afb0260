import SyncModel

/// Hands state to peers: the offers, and the streams within what each receiver grants.
///
/// Bounds: `statesServed` streams at once, one for each session.
struct StateSender: Sendable {
    private struct Exchange: Sendable {
        /// True if both sides know frames of states.
        var isSpoken = false
        /// The ID under which state and changes are being weighed for the peer.
        var weighing: StateID?
        /// The operations that the peer lacked when state was last weighed.
        var weighedOperations: UInt64 = 0
        /// The floor for which we offered state.
        var offeredFloor: VersionVector?
        /// The time until which the wants of the peer wait for its request of state, after our offer.
        var holdsWantsUntil: Tick?
    }

    private let settings: CoreSettings
    private let space: SpaceID
    private var exchanges = PerSession(initial: Exchange())
    /// The states that are being handed to peers. Their sessions are up.
    private var outlets: [StateOutlet] = []
    /// Outlets that ended before the store answered that it opened them: they cost until it does.
    private var unansweredOutlets: [StateOutlet] = []

    init(_ settings: CoreSettings, space: SpaceID) {
        self.settings = settings
        self.space = space
    }

    mutating func open(_ id: ConnectionID) { exchanges.open(id) }
    mutating func close(_ id: ConnectionID) { exchanges.close(id) }

    mutating func handleEstablished(_ id: ConnectionID, isSpoken: Bool) { exchanges[id].isSpoken = isSpoken }

    mutating func handleSessionEnded(_ id: ConnectionID, _ step: inout CoreStep) {
        for outlet in outlets where outlet.connection == id { closeOutlet(outlet.id, &step) }
        exchanges[id] = Exchange()
    }

    /// The number of states that the store has open for peers, or was asked to open.
    var load: Int { outlets.count + unansweredOutlets.count }

    // MARK: Offers

    /// True if both sides know frames of states.
    func isSpoken(with id: ConnectionID) -> Bool { exchanges[id].isSpoken }

    /// True if answers to the peer's wants wait for its reply about state.
    func holdsWants(of id: ConnectionID, at now: Tick) -> Bool {
        let exchange = exchanges[id]
        return exchange.weighing != nil || exchange.holdsWantsUntil.map { $0 > now } ?? false
    }

    /// Considers an offer of state to a peer that lacks operations. Where deletions are forgotten, a peer that lacks part of
    /// our floor takes state: only state tells it what became of its writes on objects that are gone here. A peer that lacks
    /// so much that state may be far less may take it too: the store weighs both. That changes are not held is said when
    /// they are wanted: another peer may have them.
    mutating func considerOffer(
        to id: ConnectionID, holding tips: TipTable, lacking: UInt64, floor: VersionVector, _ step: inout CoreStep
    ) {
        if settings.collectsDeletions, !floor.isEmpty, !tips.covers(floor.entries) {
            guard exchanges[id].offeredFloor != floor else { return }
            exchanges[id].offeredFloor = floor
            return offer(to: id, &step)
        }
        guard exchanges[id].weighing == nil, lacking >= settings.bounds.stateOfferOperations,
            lacking / 2 >= exchanges[id].weighedOperations
        else { return }
        let weighing = StateID(rawValue: step.nextID())
        exchanges[id].weighing = weighing
        exchanges[id].weighedOperations = lacking
        step.emit(.state(.weigh(weighing, since: tips.vector())))
    }

    private mutating func offer(to id: ConnectionID, _ step: inout CoreStep) {
        // Its wants of before crossed our offer.
        exchanges[id].holdsWantsUntil = step.now + settings.timing.stateOfferWait
        step.counters.statesOffered += 1
        step.send(id, .stateOffer(Frame.StateOffer(space: space)))
        step.probe(id)
    }

    mutating func handleWeighed(_ weighing: StateID, _ weight: StateWeight, _ step: inout CoreStep) {
        guard let id = exchanges.ids.first(where: { exchanges[$0].weighing == weighing }) else { return }
        exchanges[id].weighing = nil
        let bounds = settings.bounds
        let (threshold, overflow) = weight.stateBytes.multipliedReportingOverflow(by: bounds.stateOfferFactor)
        guard !overflow, weight.changeBytes >= bounds.stateOfferBytes, weight.changeBytes >= threshold else { return }
        offer(to: id, &step)
    }

    // MARK: Requests

    /// - Parameters:
    ///   - claims: where histories end that the peer holds in part.
    ///   - mayHand: true if this device may hand its state to this peer now.
    mutating func handleRequest(
        _ request: Frame.StateRequest, from id: ConnectionID, claims: [ReplicaID: ChainEnd], mayHand: Bool,
        _ step: inout CoreStep
    ) -> ProtocolOffence? {
        guard exchanges[id].isSpoken else { return ProtocolOffence(.unexpectedFrame, "stateRequest") }
        guard request.space == space else { return nil }
        // A peer takes back what it asked for before it asks again.
        if outlets.contains(where: { $0.connection == id }) { return ProtocolOffence(.overLimit, "stateRequest") }
        guard mayHand, load < settings.bounds.statesServed,
            !unansweredOutlets.contains(where: { $0.connection == id })
        else {
            exchanges[id].holdsWantsUntil = nil
            step.send(id, .stateItems(Frame.StateItems(id: request.id, bytes: [], last: true)))
            return nil
        }
        let outlet = StateOutlet(
            id: StateID(rawValue: step.nextID()), connection: id, requestID: request.id,
            creditBytes: Int(clamping: min(request.creditBytes, UInt64(settings.bounds.inFlightBytesPerPeer))),
            at: step.now)
        outlets.append(outlet)
        // What it wanted before it takes back once it knows what the state covers; until then it would stand before the state.
        exchanges[id].holdsWantsUntil = step.now + settings.timing.stateOfferWait
        step.emit(
            .state(
                .open(
                    outlet.id, since: request.since, stagedEvents: request.stagedEvents, asks: request.asks,
                    claims: claims)))
        return nil
    }

    mutating func handleOpened(_ id: StateID, _ vector: VersionVector, _ step: inout CoreStep) {
        unansweredOutlets.removeAll { $0.id == id }
        guard let number = outlets.firstIndex(where: { $0.id == id }) else { return step.emit(.state(.close(id))) }
        outlets[number].isOpen = true
        outlets[number].progressAt = step.now
        let connection = outlets[number].connection
        // Of a vector that is too long to say the receiver learns at the end.
        exchanges[connection].holdsWantsUntil = step.now + settings.timing.stateOfferWait
        let first = Frame.StateItems(id: outlets[number].requestID, vector: vector, bytes: [], last: false)
        if first.vector != nil { step.send(connection, .stateItems(first)) }
    }

    /// - Returns: true if the credit was for a state.
    mutating func handleCredit(_ credit: Frame.Credit, from id: ConnectionID, _ step: inout CoreStep) -> Bool {
        guard let number = outlets.firstIndex(where: { $0.connection == id && $0.requestID == credit.wantID })
        else { return false }
        outlets[number].progressAt = step.now
        if credit.cancel {
            closeOutlet(outlets[number].id, &step)
        } else {
            let limit = settings.bounds.inFlightBytesPerPeer
            outlets[number].creditBytes = min(
                limit, outlets[number].creditBytes + Int(clamping: min(credit.bytes, UInt64(limit))))
        }
        return true
    }

    mutating func handleAnswer(
        _ answer: Frame.StateAnswer, from id: ConnectionID, at now: Tick
    ) -> ProtocolOffence? {
        guard exchanges[id].isSpoken else { return ProtocolOffence(.unexpectedFrame, "stateAnswer") }
        // Of a state that we gave up meanwhile, or not as many as were asked about.
        guard let number = outlets.firstIndex(where: { $0.connection == id && $0.requestID == answer.id })
        else { return nil }
        guard outlets[number].asked == answer.staged.count else {
            return ProtocolOffence(.unexpectedFrame, "stateAnswer")
        }
        outlets[number].asked = nil
        outlets[number].answer = answer.staged
        outlets[number].progressAt = now
        return nil
    }

    // MARK: The stream

    /// Sends what was read as far as credit and the transport's buffer go; then reads on. So a receiver that is slow costs one
    /// chunk, and live changes never stand behind more than the window.
    mutating func pump(_ step: inout CoreStep) {
        for id in outlets.map(\.id) {
            guard let number = outlets.firstIndex(where: { $0.id == id }) else { continue }
            sendPending(number, &step)
            let outlet = outlets[number]
            guard outlet.pending.isEmpty else { continue }
            if !outlet.question.isEmpty {
                outlets[number].question = []
                outlets[number].asked = outlet.question.count
                step.send(
                    outlet.connection,
                    .stateQuestion(Frame.StateQuestion(id: outlet.requestID, announcements: outlet.question)))
            } else if outlet.isLastRead {
                step.counters.statesHanded += 1
                closeOutlet(id, &step)
            } else if outlet.isOpen, !outlet.isReading, outlet.asked == nil, outlet.creditBytes > 0,
                step.bufferedBytes(outlet.connection) < settings.bounds.stateWindowBytes
            {
                outlets[number].isReading = true
                outlets[number].answer = []
                let bytes = min(outlet.creditBytes, settings.bounds.servedReadBytes)
                step.emit(.state(.read(id, bytes: bytes, staged: outlet.answer)))
            }
        }
    }

    private mutating func sendPending(_ number: Int, _ step: inout CoreStep) {
        var outlet = outlets[number]
        var offset = 0
        while offset < outlet.pending.count, outlet.creditBytes > 0,
            step.bufferedBytes(outlet.connection) < settings.bounds.stateWindowBytes
        {
            let count = min(outlet.pending.count - offset, outlet.creditBytes, Limits.statePartBytes)
            let part = Array(outlet.pending[offset..<offset + count])
            offset += count
            outlet.creditBytes -= count
            let isLast = outlet.isLastRead && offset == outlet.pending.count
            let items = Frame.StateItems(id: outlet.requestID, bytes: part, last: isLast)
            step.send(outlet.connection, .stateItems(items), bufferedBytes: count)
        }
        if offset > 0 { outlet.pending.removeFirst(offset) }
        outlets[number] = outlet
    }

    mutating func handleChunk(_ id: StateID, _ chunk: StateChunk, at now: Tick) {
        guard let number = outlets.firstIndex(where: { $0.id == id }) else { return }
        outlets[number].isReading = false
        outlets[number].progressAt = now
        outlets[number].pending = chunk.bytes
        outlets[number].question = chunk.question
        outlets[number].isLastRead = chunk.isLast
    }

    // MARK: Ends

    /// - Returns: true if it was about handing state over.
    mutating func handleFailed(_ id: StateID, _ step: inout CoreStep) -> Bool {
        if let peer = exchanges.ids.first(where: { exchanges[$0].weighing == id }) {
            exchanges[peer].weighing = nil
            return true
        }
        if let number = unansweredOutlets.firstIndex(where: { $0.id == id }) {
            unansweredOutlets.remove(at: number)
            return true
        }
        guard let outlet = outlets.first(where: { $0.id == id }) else { return false }
        exchanges[outlet.connection].holdsWantsUntil = nil
        endOutlet(id, &step)
        unansweredOutlets.removeAll { $0.id == id }
        return true
    }

    /// Tells the peer that no more of the state comes: it may ask another peer.
    private mutating func endOutlet(_ id: StateID, _ step: inout CoreStep) {
        guard let outlet = outlets.first(where: { $0.id == id }) else { return }
        closeOutlet(id, &step)
        step.send(outlet.connection, .stateItems(Frame.StateItems(id: outlet.requestID, bytes: [], last: true)))
    }

    private mutating func closeOutlet(_ id: StateID, _ step: inout CoreStep) {
        unansweredOutlets += outlets.filter { $0.id == id && !$0.isOpen }
        outlets.removeAll { $0.id == id }
        step.emit(.state(.close(id)))
    }

    // MARK: Deadlines

    /// Ends the outlets of peers that make no progress, since each keeps a transaction of our store open.
    mutating func passDeadlines(_ step: inout CoreStep) {
        for outlet in outlets where step.now >= outlet.progressAt + settings.timing.stateIdle {
            endOutlet(outlet.id, &step)
        }
    }

    func nextDeadline(after now: Tick) -> Tick? {
        let idle = outlets.map { $0.progressAt + settings.timing.stateIdle }
        let holds = exchanges.values.compactMap { exchange in
            exchange.holdsWantsUntil.flatMap { $0 > now ? $0 : nil }
        }
        return (idle + holds).min()
    }
}
