import SyncModel

/// The surroundings of one step of the core: its time, the sessions with other devices, and the effects decided so far.
/// One machine hands it on to the next.
struct CoreStep: Sendable {
    var network: PeerNetwork
    var output: StepOutput

    var now: Tick { output.now }

    var counters: CoreCounters {
        get { output.counters }
        _modify { yield &output.counters }
    }

    mutating func emit(_ effect: Effect) { output.emit(effect) }

    /// Returns a number that no earlier call returned: for requests to peers and to the store.
    mutating func nextID() -> UInt64 { output.nextID() }

    /// True if a message of ours to the peer has waited too long for an answer.
    func isSuspected(_ id: ConnectionID) -> Bool { network.isSuspected(id, at: now) }

    /// Returns the bytes that the transport holds for the peer and has not yet written.
    func bufferedBytes(_ id: ConnectionID) -> Int { network.bufferedBytes(id) }

    /// - Parameter bufferedBytes: the bytes that the transport will report as written.
    mutating func send(_ id: ConnectionID, _ frame: Frame, bufferedBytes: Int = 0) {
        network.addBuffered(bufferedBytes, to: id)
        emit(.send(id, frame))
    }

    /// Makes sure that a dead link is noticed within seconds after something was sent to a quiet peer.
    mutating func probe(_ id: ConnectionID) { network.probe(id, &output) }
}

/// The effects that a step hands to the shell, and the numbers that every machine draws from.
///
/// Invariant: time never goes back, and no ID is given out twice.
struct StepOutput: Sendable {
    var now: Tick
    var counters = CoreCounters()
    private var effects: [Effect] = []
    private var lastID: UInt64 = 0

    init(at now: Tick) { self.now = now }

    mutating func emit(_ effect: Effect) { effects.append(effect) }

    mutating func nextID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Returns the effects of this step, in order, and begins with none.
    mutating func takeEffects() -> [Effect] {
        defer { effects = [] }
        return effects
    }
}
