import SyncModel

// Whoever waits for a blob is told when nobody has it. Peers do not say what they do not have, so after a while silence counts.
extension BulkCore {
    mutating func doubt(_ blob: BlobHash) {
        guard wants[blob]?.isPersonal == true else { return }
        wants[blob]?.saidNobody = false
        wants[blob]?.doubtedSince = now
        let isReachable = peers.contains(where: \.hasSession)
        let isAsked = peers.allSatisfy { !$0.hasSession || upLink($0.device) != nil }
        // Who is not connected yet gets the time that a connection takes.
        let timing = configuration.timing
        let wait: Tick.Span =
            !isReachable ? .seconds(0) : isAsked ? timing.answerWithin : timing.helloDeadline
        let at = now + wait
        wants[blob]?.doubtAt = at
        if !doubted.contains(blob) { doubted.append(blob) }
        doubtAt = min(doubtAt ?? at, at)
    }

    /// Who is connected has changed.
    mutating func doubtAgain() {
        for blob in doubted { doubt(blob) }
    }

    mutating func passDoubts() {
        guard let due = doubtAt, now >= due else { return }
        doubtAt = nil
        for blob in doubted {
            guard let want = wants[blob], !want.saidNobody, let at = want.doubtAt else { continue }
            guard now >= at else {
                doubtAt = min(doubtAt ?? at, at)
                continue
            }
            let isServed = isServed(want)
            if isServed || isAnswerBehindBytes(want) {
                // Looked at again, since whoever sends it may stop.
                let timing = configuration.timing
                let again = now + (isServed ? timing.helloDeadline : timing.answerWithin)
                wants[blob]?.doubtAt = again
                doubtAt = min(doubtAt ?? again, again)
            } else {
                wants[blob]?.saidNobody = true
                effects.append(.nobodyHas(blob))
            }
        }
    }

    /// What a peer has to say of it waits behind what it was asked for before, on a link that takes its time.
    private func isAnswerBehindBytes(_ want: BulkWantState) -> Bool {
        guard let since = want.doubtedSince else { return false }
        return links.contains { link in
            link.state == .up && !link.isSlow(at: now) && link.asks.values.contains { $0.sentAt <= since }
        }
    }

    /// Somebody has something of it that is not here, or the disk is at work on it.
    private func isServed(_ want: BulkWantState) -> Bool {
        switch want.stage {
        case .asked, .writing, .beginning, .askingHashes, .proving, .finishing: true
        case .lackingHashes: !want.holders.isEmpty
        case .waiting: !want.holders.isEmpty
        case .fetching: isMoving(want.want.blob) || want.holders.keys.contains { planner.canSend($0, want.want.blob) }
        }
    }
}
