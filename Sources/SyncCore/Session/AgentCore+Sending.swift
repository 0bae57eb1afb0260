import SyncModel

// What goes out: live pushes to peers that are caught up, and answers to wants, both within byte bounds.
extension AgentCore {
    /// Handles what became durable: only now is it ours to announce and to send.
    mutating func noteDurable(_ change: StoreChange) {
        for segment in change.segments { raiseHeld(segment.segment.replica, segment.tip) }
        stateDigest = change.stateDigest
        compaction.hasCompany = true
        var admitted: [DeviceID] = []
        for addition in change.additions { admitted += membership.add(addition) }
        if !change.additions.isEmpty {
            forks.hasAdditions = true
            let devices = Set(admitted + change.additions.map(\.fact.device)).sorted()
            for device in devices where membership.signingKey(of: device) != nil {
                for index in sessions.indices { sessions[index].claims.noteAuthor(device, held: held) }
            }
        }
        if !admitted.isEmpty {
            for device in admitted { effects.append(.report(.memberAdmitted(device))) }
            stability.isMoved = true
            trustMembers()
            wakeDials()
        }
        note(isIncomplete: change.isIncomplete)
        if let cuts = change.cuts { note(cuts) }
        for ignored in change.ignoredRevocations { effects.append(.report(.revocationIgnored(ignored))) }
        for index in upSessions {
            for segment in change.segments { offer(segment, to: index) }
        }
    }

    /// Raises the durable tip of a replica.
    mutating func raiseHeld(_ replica: ReplicaID, _ tip: ReplicaTip) {
        let before = held.next(of: replica)
        guard before < tip.next else { return }
        held.set(replica, tip)
        for index in sessions.indices { sessions[index].claims.noteHeld(replica, from: before, to: tip.next) }
    }

    mutating func trustMembers() {
        effects.append(.trust(membership.members.map(\.device).filter { $0 != configuration.own && isTrusted($0) }))
    }

    /// True if the peer lacks exactly this segment, can apply it at once, and has room for it.
    private func canPush(_ segment: VerifiedSegment, to session: PeerSession) -> Bool {
        let bytes = segment.segment.bytes.count
        return session.expectedNext(of: segment.segment.replica) == segment.segment.start
            && session.peerTipsAreComplete
            && !session.announcedOnly.contains(segment.segment.replica)
            && (segment.segment.replica.device != configuration.own || !disputesOurs(session))
            && segment.context.allSatisfy { session.expectedNext(of: $0.replica) >= $0.next }
            && session.unconfirmedBytes + bytes <= configuration.bounds.inFlightBytesPerPeer
            && session.bufferedBytes + bytes <= configuration.bounds.inFlightBytesPerPeer
    }

    /// Pushes a segment to a peer that lacks just this, or schedules its announcement.
    mutating func offer(_ segment: VerifiedSegment, to index: Int) {
        let replica = segment.segment.replica
        if sessions[index].peerTips.next(of: replica) >= segment.tip.next { return scheduleHave(index) }
        guard canPush(segment, to: sessions[index]) else { return scheduleHave(index) }
        sendSegments([segment.segment], of: replica, wantID: 0, isLast: false, to: index)
        sessions[index].sentTips.set(replica, segment.tip)
        let push = PeerSession.Push(
            replica: replica, end: segment.tip.next, bytes: segment.segment.bytes.count)
        sessions[index].unconfirmed.append(push)
        sessions[index].unconfirmedBytes += push.bytes
        // The push itself tells the peer that we hold this much.
        sessions[index].said?.advance(replica, segment.tip)
        counters.pushesSent += 1
        probe(index)
    }

    /// Sends segments in frames of at most half the frame limit, not counting what packing saves. A larger segment continues
    /// in the next frame, with its signature in the last.
    mutating func sendSegments(
        _ segments: [Segment], of replica: ReplicaID, wantID: UInt64, isLast: Bool, to index: Int
    ) {
        let limit = Limits.packedFrameBytes
        var open: [Frame.SegmentPart] = []
        var openBytes = 0
        var frames: [[Frame.SegmentPart]] = []
        func closeFrame() {
            guard !open.isEmpty else { return }
            frames.append(open)
            (open, openBytes) = ([], 0)
        }
        for segment in segments {
            if openBytes + segment.bytes.count > limit || open.count >= 2_000 { closeFrame() }
            var offset = 0
            while segment.bytes.count - offset > limit {
                let part = Array(segment.bytes[offset..<offset + limit])
                frames.append([Frame.SegmentPart(start: segment.start, end: segment.end, bytes: part, signature: [])])
                offset += limit
            }
            if offset == 0 {
                open.append(Frame.SegmentPart(segment, packing: sessions[index].packsChanges))
            } else {
                let rest = Array(segment.bytes[offset...])
                open.append(
                    Frame.SegmentPart(
                        start: segment.start, end: segment.end, bytes: rest, signature: segment.signature))
            }
            openBytes += segment.bytes.count - offset
        }
        closeFrame()
        if frames.isEmpty { frames = [[]] }
        for (number, parts) in frames.enumerated() {
            let changes = Frame.Changes(
                space: space, replica: replica, wantID: wantID, segments: parts,
                last: isLast && number == frames.count - 1)
            sessions[index].bufferedBytes += bufferedByteCount(of: changes)
            send(index, .changes(changes))
        }
    }

    /// The byte count that the transport will subtract when it has written the changes: a session whose count only grows is
    /// never served again.
    private func bufferedByteCount(of changes: Frame.Changes) -> Int {
        var counted = changes
        if configuration.faults.contains(.countUnpackedBuffers), let plain = try? changes.unpacked() { counted = plain }
        return counted.segments.reduce(0) { $0 + $1.bytes.count }
    }

    mutating func notePrune(_ index: Int, _ prune: Frame.Prune) {
        guard prune.space == space, !sessions[index].announcedOnly.contains(prune.replica),
            held[prune.replica] != nil
        else { return }
        sessions[index].announcedOnly.append(prune.replica)
    }

    // MARK: Serving wants

    mutating func noteWant(_ index: Int, _ want: Frame.Want) {
        guard want.space == space else { return }
        guard sessions[index].serves.count < 4 * configuration.bounds.wantsPerSession else {
            return refuse(index, .unexpectedFrame, detail: "wants")
        }
        sessions[index].announcedOnly.removeAll { $0 == want.replica }
        if let first = refusedFrom(want) {
            // Changes from there on are no use to it before it has what came before them.
            let said = sessions[index].stateExchange.isSpoken ? first : 0
            return send(
                index,
                .changes(
                    Frame.Changes(
                        space: space, replica: want.replica, wantID: want.id, segments: [], last: true,
                        firstHeld: said)))
        }
        // Of ours that it may hold otherwise it gets nothing.
        if isDisputed(want.replica, sessions[index]) {
            return sendSegments([], of: want.replica, wantID: want.id, isLast: true, to: index)
        }
        let to = min(want.to, held.next(of: want.replica))
        guard want.from < to else {
            return sendSegments([], of: want.replica, wantID: want.id, isLast: true, to: index)
        }
        let serve = PeerSession.Serve(
            wantID: want.id, replica: want.replica, next: want.from, to: to,
            creditBytes: Int(clamping: min(want.creditBytes, UInt64(configuration.bounds.inFlightBytesPerPeer))))
        sessions[index].serves.append(serve)
        // Not before it is known to hold the same.
        if want.replica.device == configuration.own { sessions[index].forks.isDue = true }
    }

    mutating func noteCredit(_ index: Int, _ credit: Frame.Credit) {
        guard let serve = sessions[index].serves.firstIndex(where: { $0.wantID == credit.wantID }) else {
            _ = noteStateCredit(index, credit)
            return
        }
        if credit.cancel {
            sessions[index].serves.remove(at: serve)
        } else {
            let limit = configuration.bounds.inFlightBytesPerPeer
            let bytes = Int(clamping: min(credit.bytes, UInt64(limit)))
            sessions[index].serves[serve].creditBytes = min(limit, sessions[index].serves[serve].creditBytes + bytes)
        }
    }

    /// Starts reads for wants: one at a time per peer, and none while the transport still holds much of what was read before.
    /// A slow peer costs its own bound and delays no other peer.
    mutating func pumpServes() {
        for index in upSessions {
            guard !sessions[index].isReading, !holdsWants(sessions[index]),
                sessions[index].bufferedBytes < configuration.bounds.outboundBufferBytes,
                let serve = sessions[index].serves.first(where: {
                    $0.creditBytes > 0 && isShared($0.replica, with: sessions[index])
                })
            else { continue }
            let id = ReadID(rawValue: nextID())
            sessions[index].isReading = true
            reads.append(Read(id: id, connection: sessions[index].id, wantID: serve.wantID))
            let bytes = min(serve.creditBytes, configuration.bounds.servedReadBytes)
            effects.append(.read(id, serve.replica, start: serve.next, bytes: bytes))
        }
    }

    mutating func serveRead(_ id: ReadID, _ segments: [Segment]) {
        guard let position = reads.firstIndex(where: { $0.id == id }) else { return }
        let read = reads.remove(at: position)
        guard let index = sessionIndex(read.connection), sessions[index].state == .up else { return }
        sessions[index].isReading = false
        guard let number = sessions[index].serves.firstIndex(where: { $0.wantID == read.wantID }) else { return }
        var serve = sessions[index].serves.remove(at: number)
        let replica = serve.replica
        // A want of one operation asks for the change that this belongs to, with its signature.
        let isOne = serve.to == serve.next + 1
        guard let first = segments.first, first.start == serve.next || isOne && first.start < serve.next else {
            // The store had nothing there, or could not read: the want ends, and the peer may ask another peer.
            return sendSegments([], of: replica, wantID: serve.wantID, isLast: true, to: index)
        }
        serve.next = segments[segments.count - 1].end
        serve.creditBytes -= segments.reduce(0) { $0 + $1.bytes.count }
        let isDone = serve.next >= serve.to
        sendSegments(segments, of: replica, wantID: serve.wantID, isLast: isDone, to: index)
        let tip = held[replica].flatMap { $0.next == serve.next ? $0 : nil }
        // Pushes go on where the answer ends. The head is only known at the tip, and only `next` is asked of it.
        sessions[index].sentTips.set(
            replica, tip ?? ReplicaTip(next: serve.next, head: ChainHead(space: space, replica: replica), stamp: .zero))
        // To the back: wants of one peer take turns.
        if !isDone { sessions[index].serves.append(serve) }
        probe(index)
    }
}
