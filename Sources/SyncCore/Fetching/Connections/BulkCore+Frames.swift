import SyncModel

// Which frame may come when, and what it is for.
extension BulkCore {
    mutating func handleReceived(_ id: ConnectionID, _ frame: BulkFrame, _ bytes: Int) {
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
        case .goodbye(let goodbye): handleGoodbye(index, goodbye)
        // Asked of them
        case .holding(let holding): handleHolding(index, holding)
        case .hashes(let hashes): handleHashes(index, hashes)
        case .chunk(let chunk): handleChunk(index, chunk)
        case .smallBlobs(let small): handleSmallBlobs(index, small)
        case .refusal(let refusal): handleRefusal(index, refusal)
        // Asked of us
        case .want(let want): handleWant(index, want)
        case .unwant(let unwant): handleUnwant(index, unwant)
        case .hashesRequest(let request): handleHashesRequest(index, request)
        case .request(let request): handleRequest(index, request)
        case .smallRequest(let request): handleSmallRequest(index, request)
        case .cancel(let cancel): handleCancel(index, cancel)
        }
    }

    /// Handles a Goodbye. The peer is dialled again at once only after an orderly end.
    private mutating func handleGoodbye(_ index: Int, _ goodbye: Frame.Goodbye) {
        let inOrder: [CloseReason] = [.idle, .redundant, .sessionEnded]
        if !inOrder.map(\.rawValue).contains(goodbye.code), let peer = peerIndex(links[index].device) {
            pauseDialling(peer)
        }
        close(index, .redundant, sayingGoodbye: false)
    }

    private mutating func handleRefusal(_ index: Int, _ refusal: BulkFrame.Refusal) {
        guard let ask = links[index].asks[refusal.id] else { return handleLateAnswer(index, refusal.id) }
        counters.refusedByPeers += 1
        let device = links[index].device
        recordProgress(index, refusal.id, ask.sentAt, bytes: 0)
        switch refusal.reason {
        case .busy: links[index].pausedUntil = now + configuration.timing.busyPause
        case .notHeld, .notAllowed, .unreadable:
            // It says so when that changes.
            switch ask.subject {
            case .chunks(let blob, _, _), .hashes(let blob): loseHolder(blob, device)
            case .small(let blobs, let came):
                for place in blobs.indices where !came.contains(place) { loseHolder(blobs[place], device) }
            }
        }
        takeBack(index, refusal.id)
    }

    /// An answer without bytes that are of use: to a request that was cancelled, or to none.
    mutating func handleLateAnswer(_ index: Int, _ id: UInt64) {
        if links[index].cancelled.removeValue(forKey: id) == nil { offend(index, .unsolicited) }
    }
}
