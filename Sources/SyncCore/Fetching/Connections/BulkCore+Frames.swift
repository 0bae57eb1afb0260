import SyncModel

// Which frame may come when, and what it is for.
extension BulkCore {
    mutating func noteReceived(_ id: ConnectionID, _ frame: BulkFrame, _ bytes: Int) {
        guard let index = linkIndex(id), links[index].state != .closing else { return }
        links[index].lastReceivedAt = now
        if let peer = peerIndex(links[index].device) { peers[peer].bytesIn += UInt64(max(0, bytes)) }
        guard links[index].state == .up else {
            switch frame {
            case .hello(let hello): accept(index, hello)
            case .goodbye: close(index, .redundant, sayingGoodbye: false)
            case .want, .unwant, .holding, .hashesRequest, .hashes, .request, .cancel, .chunk, .smallRequest,
                .smallBlobs, .refusal:
                offend(index, .unexpectedFrame)
            }
            return
        }
        switch frame {
        case .hello: offend(index, .unexpectedFrame)
        case .goodbye(let goodbye): noteGoodbye(index, goodbye)
        // Asked of them
        case .holding(let holding): noteHolding(index, holding)
        case .hashes(let hashes): noteHashes(index, hashes)
        case .chunk(let chunk): noteChunk(index, chunk)
        case .smallBlobs(let small): noteSmallBlobs(index, small)
        case .refusal(let refusal): noteRefusal(index, refusal)
        // Asked of us
        case .want(let want): noteWant(index, want)
        case .unwant(let unwant): noteUnwant(index, unwant)
        case .hashesRequest(let request): noteHashesRequest(index, request)
        case .request(let request): noteRequest(index, request)
        case .smallRequest(let request): noteSmallRequest(index, request)
        case .cancel(let cancel): noteCancel(index, cancel)
        }
    }

    /// Handles a Goodbye. The peer is dialled again at once only after an orderly end.
    private mutating func noteGoodbye(_ index: Int, _ goodbye: Frame.Goodbye) {
        let inOrder: [CloseReason] = [.idle, .redundant, .sessionEnded]
        if !inOrder.map(\.rawValue).contains(goodbye.code), let peer = peerIndex(links[index].device) {
            pauseDialling(peer)
        }
        close(index, .redundant, sayingGoodbye: false)
    }

    private mutating func noteRefusal(_ index: Int, _ refusal: BulkFrame.Refusal) {
        guard let ask = links[index].asks[refusal.id] else { return noteLateAnswer(index, refusal.id) }
        counters.refusedByPeers += 1
        let device = links[index].device
        noteProgress(index, refusal.id, ask.sentAt, bytes: 0)
        switch refusal.reason {
        case .busy: links[index].pausedUntil = now + configuration.timing.busyPause
        case .notHeld, .notAllowed, .unreadable:
            // It says so when that changes.
            switch ask.subject {
            case .chunks(let blob, _, _), .hashes(let blob): loseHolder(blob, device)
            case .small(let blobs, let came):
                for place in blobs.indices where !came.contains(place) { loseHolder(blobs[place].blob, device) }
            }
        }
        takeBack(index, refusal.id)
    }

    /// An answer without bytes that are of use: to a request that was cancelled, or to none.
    mutating func noteLateAnswer(_ index: Int, _ id: UInt64) {
        if links[index].cancelled.removeValue(forKey: id) == nil { offend(index, .unsolicited) }
    }
}
