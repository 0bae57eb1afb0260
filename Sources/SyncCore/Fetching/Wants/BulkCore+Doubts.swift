import SyncModel

// Users that wait for a blob are told when no peer has it. Peers do not say what they lack, so silence counts after a while.
extension BulkCore {
    mutating func doubt(_ blob: BlobName) {
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

    /// Doubts all blobs anew, since the connected peers have changed.
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
                // The blob is looked at again, since the peer that sends it may stop.
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

    /// True if the answer of a peer about the blob waits behind earlier requests, on a slow link.
    private func isAnswerBehindBytes(_ want: BulkWantState) -> Bool {
        guard let since = want.doubtedSince else { return false }
        return links.contains { link in
            link.state == .up && !link.isSlow(at: now) && link.asks.values.contains { $0.sentAt <= since }
        }
    }

    /// True if a peer has something of the blob that is not stored, or the disk is at work on it.
    private func isServed(_ want: BulkWantState) -> Bool {
        switch want.stage {
        case .asked, .writing, .beginning, .askingHashes, .proving, .finishing: true
        case .lackingHashes: !want.holders.isEmpty
        case .waiting: !want.holders.isEmpty
        case .fetching: isMoving(want.want.blob) || want.holders.keys.contains { planner.canSend($0, want.want.blob) }
        }
    }
}
