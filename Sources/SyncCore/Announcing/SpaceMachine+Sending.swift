import SyncModel

// What goes out: live pushes to peers that are caught up, and answers to wants, both within byte bounds.
extension SpaceMachine {
    /// Handles what became durable: only now is it ours to announce and to send.
    mutating func handleDurable(_ change: StoreChange, _ step: inout CoreStep) {
        for segment in change.segments { raiseHeld(segment.segment.replica, segment.tip) }
        log.record(stateDigest: change.stateDigest)
        compaction.hasCompany = true
        let admitted = log.add(change.additions)
        if !change.additions.isEmpty {
            step.network.update(members: networkMembers)
            forks.hasAdditions = true
            let devices = Set(admitted + change.additions.map(\.fact.device)).sorted()
            for device in devices where membership.signingKey(of: device) != nil {
                for index in peers.indices { peers[index].claims.recordAuthor(device, held: held) }
            }
        }
        if !admitted.isEmpty {
            for device in admitted { step.emit(.report(.memberAdmitted(device))) }
            stability.isMoved = true
            trustMembers(&step)
            step.network.wakeDials(at: step.now)
        }
        recordCompleteness(isIncomplete: change.isIncomplete, &step)
        if let cuts = change.cuts { recordCuts(cuts, &step) }
        for ignored in change.ignoredRevocations { step.emit(.report(.revocationIgnored(ignored))) }
        for index in upPeers {
            for segment in change.segments { offer(segment, to: index, &step) }
        }
    }

    /// Raises the durable tip of a replica.
    mutating func raiseHeld(_ replica: ReplicaID, _ tip: ReplicaTip) {
        guard let before = log.raise(replica, to: tip) else { return }
        for index in peers.indices { peers[index].claims.recordHeld(replica, from: before, to: tip.next) }
    }

    /// True if the peer lacks exactly this segment, can apply it at once, and has room for it.
    private func canPush(_ segment: VerifiedSegment, to session: SpacePeer, _ step: CoreStep) -> Bool {
        let bytes = segment.segment.bytes.count
        return session.expectedNext(of: segment.segment.replica) == segment.segment.start
            && session.peerTipsAreComplete
            && !session.announcedOnly.contains(segment.segment.replica)
            && (segment.segment.replica.device != configuration.own || !disputesOurs(session))
            && segment.context.allSatisfy { session.expectedNext(of: $0.replica) >= $0.next }
            && session.unconfirmedBytes + bytes <= configuration.bounds.inFlightBytesPerPeer
            && step.bufferedBytes(session.id) + bytes <= configuration.bounds.inFlightBytesPerPeer
    }

    /// Pushes a segment to a peer that lacks just this, or schedules its announcement.
    mutating func offer(_ segment: VerifiedSegment, to index: Int, _ step: inout CoreStep) {
        let replica = segment.segment.replica
        if peers[index].peerTips.next(of: replica) >= segment.tip.next { return scheduleHave(index, step) }
        guard canPush(segment, to: peers[index], step) else { return scheduleHave(index, step) }
        sendSegments([segment.segment], of: replica, wantID: 0, isLast: false, to: index, &step)
        peers[index].sentTips.set(replica, segment.tip)
        let push = SpacePeer.Push(
            replica: replica, end: segment.tip.next, bytes: segment.segment.bytes.count)
        peers[index].unconfirmed.append(push)
        peers[index].unconfirmedBytes += push.bytes
        // The push itself tells the peer that we hold this much.
        peers[index].said?.advance(replica, segment.tip)
        step.counters.pushesSent += 1
        probe(index, &step)
    }

    /// Sends segments in frames of at most half the frame limit, not counting what packing saves. A larger segment continues
    /// in the next frame, with its signature in the last.
    mutating func sendSegments(
        _ segments: [Segment], of replica: ReplicaID, wantID: UInt64, isLast: Bool, to index: Int,
        _ step: inout CoreStep
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
                open.append(Frame.SegmentPart(segment, packing: peers[index].packsChanges))
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
            step.send(peers[index].id, .changes(changes), bufferedBytes: bufferedByteCount(of: changes))
        }
    }

    /// The byte count that the transport will subtract when it has written the changes: a session whose count only grows is
    /// never served again.
    private func bufferedByteCount(of changes: Frame.Changes) -> Int {
        var counted = changes
        if configuration.faults.contains(.countUnpackedBuffers), let plain = try? changes.unpacked() { counted = plain }
        return counted.segments.reduce(0) { $0 + $1.bytes.count }
    }

    mutating func handlePrune(_ index: Int, _ prune: Frame.Prune) {
        guard prune.space == space, !peers[index].announcedOnly.contains(prune.replica),
            held[prune.replica] != nil
        else { return }
        peers[index].announcedOnly.append(prune.replica)
    }

    // MARK: Serving wants

    mutating func handleWant(_ index: Int, _ want: Frame.Want, _ step: inout CoreStep) {
        guard want.space == space else { return }
        guard peers[index].serves.count < 4 * configuration.bounds.wantsPerSession else {
            return refuse(index, .unexpectedFrame, detail: "wants", &step)
        }
        peers[index].announcedOnly.removeAll { $0 == want.replica }
        if let first = refusedFrom(want) {
            // Changes from there on are no use to it before it has what came before them.
            let said = peers[index].stateExchange.isSpoken ? first : 0
            return send(
                index,
                .changes(
                    Frame.Changes(
                        space: space, replica: want.replica, wantID: want.id, segments: [], last: true,
                        firstHeld: said)), &step)
        }
        // Of ours that it may hold otherwise it gets nothing.
        if isDisputed(want.replica, peers[index]) {
            return sendSegments([], of: want.replica, wantID: want.id, isLast: true, to: index, &step)
        }
        let to = min(want.to, held.next(of: want.replica))
        guard want.from < to else {
            return sendSegments([], of: want.replica, wantID: want.id, isLast: true, to: index, &step)
        }
        let serve = SpacePeer.Serve(
            wantID: want.id, replica: want.replica, next: want.from, to: to,
            creditBytes: Int(clamping: min(want.creditBytes, UInt64(configuration.bounds.inFlightBytesPerPeer))))
        peers[index].serves.append(serve)
        // Not before it is known to hold the same.
        if want.replica.device == configuration.own { peers[index].forks.isDue = true }
    }

    mutating func handleCredit(_ index: Int, _ credit: Frame.Credit, _ step: inout CoreStep) {
        guard let serve = peers[index].serves.firstIndex(where: { $0.wantID == credit.wantID }) else {
            _ = handleStateCredit(index, credit, &step)
            return
        }
        if credit.cancel {
            peers[index].serves.remove(at: serve)
        } else {
            let limit = configuration.bounds.inFlightBytesPerPeer
            let bytes = Int(clamping: min(credit.bytes, UInt64(limit)))
            peers[index].serves[serve].creditBytes = min(limit, peers[index].serves[serve].creditBytes + bytes)
        }
    }

    /// Starts reads for wants: one at a time per peer, and none while the transport still holds much of what was read before.
    /// A slow peer costs its own bound and delays no other peer.
    mutating func pumpServes(_ step: inout CoreStep) {
        for index in upPeers {
            guard !peers[index].isReading, !holdsWants(peers[index], step),
                step.bufferedBytes(peers[index].id) < configuration.bounds.outboundBufferBytes,
                let serve = peers[index].serves.first(where: {
                    $0.creditBytes > 0 && isShared($0.replica, with: peers[index])
                })
            else { continue }
            let id = ReadID(rawValue: step.nextID())
            peers[index].isReading = true
            reads.append(Read(id: id, connection: peers[index].id, wantID: serve.wantID))
            let bytes = min(serve.creditBytes, configuration.bounds.servedReadBytes)
            step.emit(.read(id, serve.replica, start: serve.next, bytes: bytes))
        }
    }

    mutating func serveRead(_ id: ReadID, _ segments: [Segment], _ step: inout CoreStep) {
        guard let position = reads.firstIndex(where: { $0.id == id }) else { return }
        let read = reads.remove(at: position)
        guard let index = peerIndex(read.connection), peers[index].isUp else { return }
        peers[index].isReading = false
        guard let number = peers[index].serves.firstIndex(where: { $0.wantID == read.wantID }) else { return }
        var serve = peers[index].serves.remove(at: number)
        let replica = serve.replica
        // A want of one operation asks for the change that this belongs to, with its signature.
        let isOne = serve.to == serve.next + 1
        guard let first = segments.first, first.start == serve.next || isOne && first.start < serve.next else {
            // The store had nothing there, or could not read: the want ends, and the peer may ask another peer.
            return sendSegments([], of: replica, wantID: serve.wantID, isLast: true, to: index, &step)
        }
        serve.next = segments[segments.count - 1].end
        serve.creditBytes -= segments.reduce(0) { $0 + $1.bytes.count }
        let isDone = serve.next >= serve.to
        sendSegments(segments, of: replica, wantID: serve.wantID, isLast: isDone, to: index, &step)
        let tip = held[replica].flatMap { $0.next == serve.next ? $0 : nil }
        // Pushes go on where the answer ends. The head is only known at the tip, and only `next` is asked of it.
        peers[index].sentTips.set(
            replica, tip ?? ReplicaTip(next: serve.next, head: ChainHead(space: space, replica: replica), stamp: .zero))
        // To the back: wants of one peer take turns.
        if !isDone { peers[index].serves.append(serve) }
        probe(index, &step)
    }
}
