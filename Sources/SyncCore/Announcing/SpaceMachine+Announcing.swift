import SyncModel

// Who holds what: Have and HaveRequest. In step, two agents exchange a digest and nothing that grows with the store.
extension SpaceMachine {
    /// The tips that we announce.
    private var announced: TipTable {
        var tips = held
        if configuration.faults.contains(.acknowledgeWaitingRoom) {
            for entry in held.entries { if let tip = room.tip(of: entry.replica) { tips.set(entry.replica, tip) } }
        }
        if configuration.faults.contains(.offByOneVector), let last = tips.entries.last {
            tips.set(last.replica, ReplicaTip(next: last.tip.next + 1, head: last.tip.head, stamp: last.tip.stamp))
        }
        return tips
    }

    /// The first Have of a session names no entries: a peer in step needs none, any other asks for all of them.
    mutating func sendHave(_ index: Int, isComplete: Bool, _ step: inout CoreStep) {
        let tips = announced
        let entries: [TipTable.Entry]
        switch (isComplete, peers[index].said) {
        case (true, _): entries = tips.entries
        case (false, nil): entries = []
        case (false, let said?):
            entries = tips.entries(changedSince: said)
            if configuration.faults.contains(.dropHave) {
                (peers[index].haveDue, peers[index].haveLatest) = (nil, nil)
                return
            }
        }
        peers[index].said = tips
        (peers[index].haveDue, peers[index].haveLatest) = (nil, nil)
        step.counters.havesSent += 1
        sendHave(index, tips.digest, entries, isComplete: isComplete, &step)
    }

    /// A frame with fewer entries than fit, or a `complete` one, is the last of its row.
    private mutating func sendHave(
        _ index: Int, _ vectorDigest: Sum256, _ entries: [TipTable.Entry], isComplete: Bool, _ step: inout CoreStep
    ) {
        let acknowledged = peers[index].acknowledgements.isSpoken ? acknowledgements.digest : nil
        var rest = entries[...]
        var isLast = false
        while !isLast {
            let part = rest.prefix(Limits.haveEntries)
            rest = rest.dropFirst(part.count)
            isLast = rest.isEmpty && (isComplete || part.count < Limits.haveEntries)
            send(
                index,
                .have(
                    Frame.Have(
                        space: space, vectorDigest: vectorDigest,
                        entries: part.map {
                            Frame.HaveEntry(replica: $0.replica, next: $0.tip.next, head: $0.tip.head)
                        }, complete: isComplete && isLast, stateDigest: stateDigest,
                        acknowledgementsDigest: acknowledged)), &step)
        }
    }

    /// Schedules a Have soon, together with what else happens by then; at the latest after the maximum wait.
    mutating func scheduleHave(_ index: Int, _ step: CoreStep) {
        let latest = peers[index].haveLatest ?? step.now + configuration.timing.haveMaximumWait
        peers[index].haveLatest = latest
        peers[index].haveDue = min(latest, step.now + configuration.timing.haveDebounce)
    }

    mutating func handleHave(_ index: Int, _ frame: Frame.Have, _ step: inout CoreStep) {
        guard frame.space == space else { return }
        var have = frame
        have.entries = peers[index].haveRow + frame.entries
        guard have.entries.count <= Limits.vectorEntries else {
            return refuse(index, .badVector, detail: "size", &step)
        }
        guard frame.complete || frame.entries.count < Limits.haveEntries else {
            peers[index].haveRow = have.entries
            return
        }
        peers[index].haveRow = []
        learn(index, have, &step)
    }

    /// Handles all entries of a peer's announcement, after the last frame of it.
    private mutating func learn(_ index: Int, _ have: Frame.Have, _ step: inout CoreStep) {
        handleAcknowledgementsDigest(index, have.acknowledgementsDigest, &step)
        if have.complete { peers[index].haveRequested = false }
        let entries = have.entries.map {
            TipTable.Entry(replica: $0.replica, tip: ReplicaTip(next: $0.next, head: $0.head, stamp: .zero))
        }
        let membership = membership
        peers[index].claims.take(
            entries, isComplete: have.complete, held: held, isAuthor: { membership.signingKey(of: $0) != nil })
        guard peers[index].peerTips.entries.count <= Limits.vectorEntries else {
            return refuse(index, .badVector, detail: "size", &step)
        }
        if peers[index].peerTips.digest != have.vectorDigest, have.vectorDigest == held.digest {
            peers[index].claims.agree(with: held)
        }
        let isKnown = peers[index].peerTips.digest == have.vectorDigest
        peers[index].peerTipsAreComplete = isKnown
        if !isKnown {
            if have.complete { return refuse(index, .badVector, detail: "digest", &step) }
            return requestHave(index, &step)
        }
        peers[index].progress.record(peers[index].claims.operations, at: step.now)
        peers[index].confirm()
        handleTips(index, &step)
        if have.vectorDigest == held.digest, have.stateDigest != stateDigest, persisting == nil {
            step.emit(.report(.diverged(peers[index].device)))
        }
    }

    mutating func requestHave(_ index: Int, _ step: inout CoreStep) {
        guard !peers[index].haveRequested else { return }
        peers[index].haveRequested = true
        probe(index, &step)
        send(index, .haveRequest(Frame.HaveRequest(space: space)), &step)
    }

    mutating func handleHaveRequest(_ index: Int, _ request: Frame.HaveRequest, _ step: inout CoreStep) {
        guard request.space == space else { return }
        // All that is held may be long: a peer that asks in a loop gets it as often as news.
        if let next = peers[index].toldAllAt.map({ $0 + configuration.timing.haveMaximumWait }), step.now < next {
            peers[index].owesAll = true
            peers[index].haveDue = min(peers[index].haveDue ?? next, next)
            return
        }
        tellAll(index, &step)
    }

    private mutating func tellAll(_ index: Int, _ step: inout CoreStep) {
        peers[index].toldAllAt = step.now
        peers[index].owesAll = false
        sendHave(index, isComplete: true, &step)
    }

    /// Sends a postponed Have.
    mutating func sendDueHave(_ index: Int, _ step: inout CoreStep) {
        if peers[index].owesAll { tellAll(index, &step) } else { sendHave(index, isComplete: false, &step) }
    }
}
