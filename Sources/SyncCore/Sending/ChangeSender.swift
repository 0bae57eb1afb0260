import SyncModel

/// Sends changes: live pushes to peers that are caught up, and answers to wants, both within byte bounds.
///
/// Bounds: `inFlightBytesPerPeer` unconfirmed bytes and four times `wantsPerSession` wants a peer; one read a peer at a time.
struct ChangeSender: Sendable {
    private struct Outgoing: Sendable {
        /// True if both sides know packed segments.
        var packsChanges = false
        /// Segments pushed and not yet named in a Have of the peer.
        var unconfirmed: [Push] = []
        var unconfirmedBytes = 0
        /// The tip up to which each replica was sent on this session: a push must continue there.
        var sentTips = TipTable()
        /// Replicas whose changes the peer gets from another peer first: announced, not pushed.
        var announcedOnly: [ReplicaID] = []
        var serves: [Serve] = []
        var isReading = false
    }

    private struct Push: Sendable {
        let replica: ReplicaID
        let end: UInt64
        let bytes: Int
    }

    /// A want of a peer that is being answered.
    struct Serve: Sendable, Equatable {
        let wantID: UInt64
        let replica: ReplicaID
        var next: UInt64
        let to: UInt64
        var creditBytes: Int
    }

    private struct Read: Sendable {
        let id: ReadID
        let connection: ConnectionID
        let wantID: UInt64
    }

    private let space: SpaceID
    private let settings: CoreSettings
    private var outgoing = PerSession(initial: Outgoing())
    /// The reads under way, each with the connection that asked.
    private var reads: [Read] = []

    init(_ settings: CoreSettings, space: SpaceID) {
        self.space = space
        self.settings = settings
    }

    mutating func open(_ id: ConnectionID) { outgoing.open(id) }
    mutating func close(_ id: ConnectionID) { outgoing.close(id) }

    mutating func handleEstablished(_ id: ConnectionID, packsChanges: Bool) {
        outgoing[id].packsChanges = packsChanges
    }

    mutating func handleSessionEnded(_ id: ConnectionID) { reads.removeAll { $0.connection == id } }

    var readCount: Int { reads.count }
    /// The unconfirmed bytes of the peer that has the most.
    var greatestUnconfirmedBytes: Int { outgoing.values.map(\.unconfirmedBytes).max() ?? 0 }

    // MARK: Pushing

    /// True if a push of the segment continues what the peer holds or was sent, and there is room for it.
    func canPush(_ segment: VerifiedSegment, to peer: SpacePeer, _ step: CoreStep) -> Bool {
        let outgoing = outgoing[peer.id]
        /// The counter up to which the peer holds the replica, or will, once everything sent has arrived.
        func expectedNext(of replica: ReplicaID) -> UInt64 {
            max(peer.peerTips.next(of: replica), outgoing.sentTips.next(of: replica))
        }
        let bytes = segment.segment.bytes.count
        return expectedNext(of: segment.segment.replica) == segment.segment.start
            && !outgoing.announcedOnly.contains(segment.segment.replica)
            && segment.context.allSatisfy { expectedNext(of: $0.replica) >= $0.next }
            && outgoing.unconfirmedBytes + bytes <= settings.bounds.inFlightBytesPerPeer
            && step.bufferedBytes(peer.id) + bytes <= settings.bounds.inFlightBytesPerPeer
    }

    mutating func push(_ segment: VerifiedSegment, to id: ConnectionID, _ step: inout CoreStep) {
        let replica = segment.segment.replica
        send([segment.segment], of: replica, wantID: 0, isLast: false, to: id, &step)
        outgoing[id].sentTips.set(replica, segment.tip)
        let push = Push(replica: replica, end: segment.tip.next, bytes: segment.segment.bytes.count)
        outgoing[id].unconfirmed.append(push)
        outgoing[id].unconfirmedBytes += push.bytes
        step.counters.pushesSent += 1
    }

    /// Handles what a peer says that it holds.
    mutating func confirm(_ tips: TipTable, by id: ConnectionID) {
        var bytes = 0
        outgoing[id].unconfirmed.removeAll { push in
            guard tips.next(of: push.replica) >= push.end else { return false }
            bytes += push.bytes
            return true
        }
        outgoing[id].unconfirmedBytes -= bytes
    }

    /// Handles a peer's request to push no more of a replica.
    mutating func handlePrune(of replica: ReplicaID, by id: ConnectionID) {
        guard !outgoing[id].announcedOnly.contains(replica) else { return }
        outgoing[id].announcedOnly.append(replica)
    }

    /// The place up to which the replica was sent to the peer on this session.
    func sentTip(of replica: ReplicaID, to id: ConnectionID) -> ReplicaTip? { outgoing[id].sentTips[replica] }

    // MARK: Serving wants

    /// True if the peer has as many wants open as it may have.
    func isFull(_ id: ConnectionID) -> Bool { outgoing[id].serves.count >= 4 * settings.bounds.wantsPerSession }

    /// Handles a want: what the peer asks for may be pushed to it again.
    mutating func recordWanted(_ replica: ReplicaID, by id: ConnectionID) {
        outgoing[id].announcedOnly.removeAll { $0 == replica }
    }

    mutating func serve(_ want: Frame.Want, to end: UInt64, for id: ConnectionID) {
        let serve = Serve(
            wantID: want.id, replica: want.replica, next: want.from, to: end,
            creditBytes: Int(clamping: min(want.creditBytes, UInt64(settings.bounds.inFlightBytesPerPeer))))
        outgoing[id].serves.append(serve)
    }

    /// Ends a want without changes.
    mutating func endEmpty(_ wantID: UInt64, of replica: ReplicaID, for id: ConnectionID, _ step: inout CoreStep) {
        send([], of: replica, wantID: wantID, isLast: true, to: id, &step)
    }

    /// Ends all wants of a peer for the replica without changes.
    mutating func endServes(of replica: ReplicaID, for id: ConnectionID, _ step: inout CoreStep) {
        let ended = outgoing[id].serves.filter { $0.replica == replica }
        outgoing[id].serves.removeAll { $0.replica == replica }
        for serve in ended { endEmpty(serve.wantID, of: replica, for: id, &step) }
    }

    /// - Returns: false if the credit is for no want that is being answered.
    mutating func handleCredit(_ credit: Frame.Credit, from id: ConnectionID) -> Bool {
        guard let number = outgoing[id].serves.firstIndex(where: { $0.wantID == credit.wantID }) else { return false }
        if credit.cancel {
            outgoing[id].serves.remove(at: number)
        } else {
            let limit = settings.bounds.inFlightBytesPerPeer
            let bytes = Int(clamping: min(credit.bytes, UInt64(limit)))
            outgoing[id].serves[number].creditBytes = min(limit, outgoing[id].serves[number].creditBytes + bytes)
        }
        return true
    }

    /// Returns the want for which the store may read now: one read a peer at a time, and none while the transport still holds
    /// much of what was read before. A slow peer costs its own bound and delays no other peer.
    func readyServe(for id: ConnectionID, _ step: CoreStep, isShared: (ReplicaID) -> Bool) -> Serve? {
        guard !outgoing[id].isReading, step.bufferedBytes(id) < settings.bounds.outboundBufferBytes else { return nil }
        return outgoing[id].serves.first { $0.creditBytes > 0 && isShared($0.replica) }
    }

    mutating func startRead(for serve: Serve, of id: ConnectionID, _ step: inout CoreStep) {
        let read = ReadID(rawValue: step.nextID())
        outgoing[id].isReading = true
        reads.append(Read(id: read, connection: id, wantID: serve.wantID))
        let bytes = min(serve.creditBytes, settings.bounds.servedReadBytes)
        step.emit(.read(read, serve.replica, start: serve.next, bytes: bytes))
    }

    /// Handles what the store read for a want.
    ///
    /// - Parameters:
    ///   - isUp: whether a connection still has a session.
    ///   - held: the tips that are durable here.
    mutating func handleRead(
        _ id: ReadID, _ segments: [Segment], held: TipTable, isUp: (ConnectionID) -> Bool, _ step: inout CoreStep
    ) {
        guard let position = reads.firstIndex(where: { $0.id == id }) else { return }
        let read = reads.remove(at: position)
        let peer = read.connection
        guard isUp(peer) else { return }
        outgoing[peer].isReading = false
        guard let number = outgoing[peer].serves.firstIndex(where: { $0.wantID == read.wantID }) else { return }
        var serve = outgoing[peer].serves.remove(at: number)
        let replica = serve.replica
        // A want of one operation asks for the change that this belongs to, with its signature.
        let isOne = serve.to == serve.next + 1
        guard let first = segments.first, first.start == serve.next || isOne && first.start < serve.next else {
            // The store had nothing there, or could not read: the want ends, and the peer may ask another peer.
            return endEmpty(serve.wantID, of: replica, for: peer, &step)
        }
        serve.next = segments[segments.count - 1].end
        serve.creditBytes -= segments.reduce(0) { $0 + $1.bytes.count }
        let isDone = serve.next >= serve.to
        send(segments, of: replica, wantID: serve.wantID, isLast: isDone, to: peer, &step)
        let tip = held[replica].flatMap { $0.next == serve.next ? $0 : nil }
        // Pushes go on where the answer ends. The head is only known at the tip, and only `next` is asked of it.
        outgoing[peer].sentTips.set(
            replica, tip ?? ReplicaTip(next: serve.next, head: ChainHead(space: space, replica: replica), stamp: .zero))
        // To the back: wants of one peer take turns.
        if !isDone { outgoing[peer].serves.append(serve) }
        step.probe(peer)
    }

    // MARK: Frames

    /// Sends segments in frames of at most half the frame limit, not counting what packing saves. A larger segment continues
    /// in the next frame, with its signature in the last.
    private func send(
        _ segments: [Segment], of replica: ReplicaID, wantID: UInt64, isLast: Bool, to id: ConnectionID,
        _ step: inout CoreStep
    ) {
        let frames = parts(of: segments, packing: outgoing[id].packsChanges)
        for (number, parts) in frames.enumerated() {
            let changes = Frame.Changes(
                space: space, replica: replica, wantID: wantID, segments: parts,
                last: isLast && number == frames.count - 1)
            step.send(id, .changes(changes), bufferedBytes: bufferedByteCount(of: changes))
        }
    }

    /// Returns the parts of each frame; one empty frame where there are no segments.
    private func parts(of segments: [Segment], packing: Bool) -> [[Frame.SegmentPart]] {
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
                open.append(Frame.SegmentPart(segment, packing: packing))
            } else {
                let rest = Array(segment.bytes[offset...])
                open.append(
                    Frame.SegmentPart(
                        start: segment.start, end: segment.end, bytes: rest, signature: segment.signature))
            }
            openBytes += segment.bytes.count - offset
        }
        closeFrame()
        return frames.isEmpty ? [[]] : frames
    }

    /// The byte count that the transport will subtract when it has written the changes: a session whose count only grows is
    /// never served again.
    private func bufferedByteCount(of changes: Frame.Changes) -> Int {
        var counted = changes
        if settings.faults.contains(.countUnpackedBuffers), let plain = try? changes.unpacked() { counted = plain }
        return counted.segments.reduce(0) { $0 + $1.bytes.count }
    }
}
