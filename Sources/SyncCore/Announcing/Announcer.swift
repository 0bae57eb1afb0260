import SyncModel

/// Tells each peer what is held here, and decides when: Have and HaveRequest.
///
/// In step, two agents exchange a digest and nothing that grows with the store. The machine remembers what each peer was last
/// told; what a peer says of itself stands in `SpacePeer.claims`.
struct Announcer: Sendable {
    private struct Exchange: Sendable {
        /// Entries of a `Have` of the peer that goes on in the next frame.
        var row: [Frame.HaveEntry] = []
        /// The tips that the peer was last told; nil before the first Have.
        var told: TipTable?
        /// True while the peer has not answered our request for all that it holds.
        var isRequested = false
        /// The time at which the peer was last told all that is held here, and whether it has asked for that again since.
        var toldAllAt: Tick?
        var owesAll = false
        /// The time at which the next Have is due, and the latest time for it.
        var due: Tick?
        var latest: Tick?
    }

    /// The holdings of this node, as they are announced.
    struct Holdings: Sendable {
        let space: SpaceID
        let tips: TipTable
        let stateDigest: Sum256
        /// The digest over the acknowledgements held; nil for a peer that does not know them.
        let acknowledgementsDigest: Sum256?
    }

    /// The result of a frame of a peer's announcement.
    enum Collected: Sendable {
        case unfinished
        case tooLong
        /// The announcement with the entries of all its frames.
        case whole(Frame.Have)
    }

    private let settings: CoreSettings
    private var exchanges = PerSession(initial: Exchange())

    init(_ settings: CoreSettings) { self.settings = settings }

    mutating func open(_ id: ConnectionID) { exchanges.open(id) }
    mutating func close(_ id: ConnectionID) { exchanges.close(id) }

    // MARK: Telling

    /// The time at which the peer is to be told; nil while it knows all.
    func dueAt(_ id: ConnectionID) -> Tick? { exchanges[id].due }

    /// Schedules a Have soon, together with what else happens by then; at the latest after the maximum wait.
    mutating func schedule(_ id: ConnectionID, at now: Tick) {
        let latest = exchanges[id].latest ?? now + settings.timing.haveMaximumWait
        exchanges[id].latest = latest
        exchanges[id].due = min(latest, now + settings.timing.haveDebounce)
    }

    /// True if what is due is all that is held, since the peer asked for it.
    func owesAll(_ id: ConnectionID) -> Bool { exchanges[id].owesAll }

    /// The first Have of a session names no entries: a peer in step needs none, any other asks for all of them.
    mutating func announce(_ holdings: Holdings, to id: ConnectionID, isComplete: Bool, _ step: inout CoreStep) {
        let entries: [TipTable.Entry]
        switch (isComplete, exchanges[id].told) {
        case (true, _): entries = holdings.tips.entries
        case (false, nil): entries = []
        case (false, let told?):
            entries = holdings.tips.entries(changedSince: told)
            if settings.faults.contains(.dropHave) {
                (exchanges[id].due, exchanges[id].latest) = (nil, nil)
                return
            }
        }
        if isComplete { (exchanges[id].toldAllAt, exchanges[id].owesAll) = (step.now, false) }
        exchanges[id].told = holdings.tips
        (exchanges[id].due, exchanges[id].latest) = (nil, nil)
        step.counters.havesSent += 1
        send(holdings, entries, to: id, isComplete: isComplete, &step)
    }

    /// Tells the peer of one replica, whatever it was told before.
    mutating func announce(_ entry: TipTable.Entry, of holdings: Holdings, to id: ConnectionID, _ step: inout CoreStep)
    {
        step.counters.havesSent += 1
        send(holdings, [entry], to: id, isComplete: false, &step)
    }

    /// A frame with fewer entries than fit, or a `complete` one, is the last of its row.
    private func send(
        _ holdings: Holdings, _ entries: [TipTable.Entry], to id: ConnectionID, isComplete: Bool,
        _ step: inout CoreStep
    ) {
        var rest = entries[...]
        var isLast = false
        while !isLast {
            let part = rest.prefix(Limits.haveEntries)
            rest = rest.dropFirst(part.count)
            isLast = rest.isEmpty && (isComplete || part.count < Limits.haveEntries)
            let have = Frame.Have(
                space: holdings.space, vectorDigest: holdings.tips.digest,
                entries: part.map { Frame.HaveEntry(replica: $0.replica, next: $0.tip.next, head: $0.tip.head) },
                complete: isComplete && isLast, stateDigest: holdings.stateDigest,
                acknowledgementsDigest: holdings.acknowledgementsDigest)
            step.send(id, .have(have))
        }
    }

    /// Records that the peer hears of this much by a push.
    mutating func recordPushed(_ replica: ReplicaID, _ tip: ReplicaTip, to id: ConnectionID) {
        exchanges[id].told?.advance(replica, tip)
    }

    /// Handles a peer's request for all that is held here. That may be long: a peer that asks in a loop gets it as often as
    /// news.
    ///
    /// - Returns: true if it is to be told at once.
    mutating func handleRequest(from id: ConnectionID, at now: Tick) -> Bool {
        guard let next = exchanges[id].toldAllAt.map({ $0 + settings.timing.haveMaximumWait }), now < next else {
            return true
        }
        exchanges[id].owesAll = true
        exchanges[id].due = min(exchanges[id].due ?? next, next)
        return false
    }

    // MARK: Hearing

    /// Asks the peer for all that it holds, unless it is asked already.
    mutating func request(_ space: SpaceID, of id: ConnectionID, _ step: inout CoreStep) {
        guard !exchanges[id].isRequested else { return }
        exchanges[id].isRequested = true
        step.probe(id)
        step.send(id, .haveRequest(Frame.HaveRequest(space: space)))
    }

    /// Joins the frames of an announcement.
    mutating func collect(_ frame: Frame.Have, from id: ConnectionID) -> Collected {
        var have = frame
        have.entries = exchanges[id].row + frame.entries
        guard have.entries.count <= Limits.vectorEntries else { return .tooLong }
        guard frame.complete || frame.entries.count < Limits.haveEntries else {
            exchanges[id].row = have.entries
            return .unfinished
        }
        exchanges[id].row = []
        if have.complete { exchanges[id].isRequested = false }
        return .whole(have)
    }
}
