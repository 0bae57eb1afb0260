import SyncModel

// Who holds what: Have and HaveRequest. In step, two agents exchange a digest and nothing that grows with the store.
extension AgentCore {
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
    mutating func sendHave(_ index: Int, isComplete: Bool) {
        let tips = announced
        let entries: [TipTable.Entry]
        switch (isComplete, sessions[index].said) {
        case (true, _): entries = tips.entries
        case (false, nil): entries = []
        case (false, let said?):
            entries = tips.entries(changedSince: said)
            if configuration.faults.contains(.dropHave) {
                (sessions[index].haveDue, sessions[index].haveLatest) = (nil, nil)
                return
            }
        }
        sessions[index].said = tips
        (sessions[index].haveDue, sessions[index].haveLatest) = (nil, nil)
        counters.havesSent += 1
        sendHave(index, tips.digest, entries, isComplete: isComplete)
    }

    /// A frame with fewer entries than fit, or a `complete` one, is the last of its row.
    private mutating func sendHave(
        _ index: Int, _ vectorDigest: Sum256, _ entries: [TipTable.Entry], isComplete: Bool
    ) {
        let acknowledged = sessions[index].acknowledgements.isSpoken ? acknowledgements.digest : nil
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
                        acknowledgementsDigest: acknowledged)))
        }
    }

    /// Schedules a Have soon, together with what else happens by then; at the latest after the maximum wait.
    mutating func scheduleHave(_ index: Int) {
        let latest = sessions[index].haveLatest ?? now + configuration.timing.haveMaximumWait
        sessions[index].haveLatest = latest
        sessions[index].haveDue = min(latest, now + configuration.timing.haveDebounce)
    }

    mutating func noteHave(_ index: Int, _ frame: Frame.Have) {
        guard frame.space == space else { return }
        var have = frame
        have.entries = sessions[index].haveRow + frame.entries
        guard have.entries.count <= Limits.vectorEntries else {
            return refuse(index, .badVector, detail: "size")
        }
        guard frame.complete || frame.entries.count < Limits.haveEntries else {
            sessions[index].haveRow = have.entries
            return
        }
        sessions[index].haveRow = []
        learn(index, have)
    }

    /// Handles all entries of a peer's announcement, after the last frame of it.
    private mutating func learn(_ index: Int, _ have: Frame.Have) {
        noteAcknowledgementsDigest(index, have.acknowledgementsDigest)
        if have.complete { sessions[index].haveRequested = false }
        let entries = have.entries.map {
            TipTable.Entry(replica: $0.replica, tip: ReplicaTip(next: $0.next, head: $0.head, stamp: .zero))
        }
        sessions[index].claims.take(
            entries, isComplete: have.complete, held: held, isAuthor: { membership.signingKey(of: $0) != nil })
        guard sessions[index].peerTips.entries.count <= Limits.vectorEntries else {
            return refuse(index, .badVector, detail: "size")
        }
        if sessions[index].peerTips.digest != have.vectorDigest, have.vectorDigest == held.digest {
            sessions[index].claims.agree(with: held)
        }
        let isKnown = sessions[index].peerTips.digest == have.vectorDigest
        sessions[index].peerTipsAreComplete = isKnown
        if !isKnown {
            if have.complete { return refuse(index, .badVector, detail: "digest") }
            return requestHave(index)
        }
        sessions[index].progress.note(sessions[index].claims.operations, at: now)
        sessions[index].confirm()
        noteTips(index)
        if have.vectorDigest == held.digest, have.stateDigest != stateDigest, persisting == nil {
            effects.append(.report(.diverged(sessions[index].device)))
        }
    }

    mutating func requestHave(_ index: Int) {
        guard !sessions[index].haveRequested else { return }
        sessions[index].haveRequested = true
        probe(index)
        send(index, .haveRequest(Frame.HaveRequest(space: space)))
    }

    mutating func answerHaveRequest(_ index: Int, _ request: Frame.HaveRequest) {
        guard request.space == space else { return }
        // All that is held may be long: a peer that asks in a loop gets it as often as news.
        if let next = sessions[index].toldAllAt.map({ $0 + configuration.timing.haveMaximumWait }), now < next {
            sessions[index].owesAll = true
            sessions[index].haveDue = min(sessions[index].haveDue ?? next, next)
            return
        }
        tellAll(index)
    }

    private mutating func tellAll(_ index: Int) {
        sessions[index].toldAllAt = now
        sessions[index].owesAll = false
        sendHave(index, isComplete: true)
    }

    /// Sends a postponed Have.
    mutating func sendDueHave(_ index: Int) {
        if sessions[index].owesAll { tellAll(index) } else { sendHave(index, isComplete: false) }
    }
}
