import SyncCore
import SyncModel

// Connections that carry bytes of attachments: late, reset, or telling lies.
extension World {
    mutating func send(_ node: Int, _ id: ConnectionID, _ frame: BulkFrame) {
        guard failure == nil, let (number, isDialer) = link(node, id), !links[number][isDialer: isDialer].isClosed
        else { return }
        checkServed(node, frame, on: number)
        guard failure == nil else { return }
        let bytes: [UInt8]
        do { bytes = try BulkFrameCodec.encode(lie(node, instead: frame)) } catch {
            return fail("codec", "node \(node) cannot encode a bulk frame: \(error)")
        }
        trace.record(now, node, "sends \(frame.kind), \(bytes.count) bytes on \(number)")
        if let options = options.blobs, isFaulty {
            if happens(options.resetsPer10000) { return reset(number) }
            if happens(options.latePer10000) {
                let late = Int64.random(in: 500...8_000, using: &blobRandom) * 1_000_000
                links[number][isDialer: !isDialer].arrivesAfter =
                    max(links[number][isDialer: !isDialer].arrivesAfter, now) + late
            }
        }
        post(.frame(bytes), on: number, toDialer: !isDialer)
    }

    private mutating func happens(_ per10000: Int) -> Bool {
        per10000 > 0 && Int.random(in: 0..<10_000, using: &blobRandom) < per10000
    }

    mutating func deliverBulk(_ bytes: [UInt8], from sender: SimulatedLink.End, to end: SimulatedLink.End) {
        let written = BulkInput.written(sender.connection, bytes: bytes.count)
        queue.plan(.bulk(node: sender.node, generation: sender.generation, written), at: now)
        do {
            guard let frame = try BulkFrameCodec.decode(bytes) else { return }
            stepBulk(end.node, .received(end.connection, frame, bytes: bytes.count))
        } catch {
            stepBulk(end.node, .malformed(end.connection, code: error.code))
        }
    }

    /// Sets whether a core reads from a connection. Packets that it does not take wait, and so do those behind them.
    mutating func setReading(_ node: Int, _ id: ConnectionID, _ isReading: Bool) {
        guard let (number, isDialer) = link(node, id) else { return }
        links[number][isDialer: isDialer].isReading = isReading
        if isReading { goOn(number, isDialer) }
    }
}

extension BulkFrame {
    /// The name of the frame in a line of the trace.
    fileprivate var kind: String {
        switch self {
        case .hello: "hello"
        case .want(let want): "want of \(want.blobs.count)"
        case .unwant(let unwant): "unwant of \(unwant.blobs.count)"
        case .holding(let holding): "holding of \(holding.blob.shortName)"
        case .hashesRequest(let request): "request \(request.id) for hashes of \(request.blob.shortName)"
        case .hashes(let hashes): "hashes of \(hashes.id)"
        case .request(let request):
            "request \(request.id) for \(request.count) chunks from \(request.first) of \(request.blob.shortName)"
        case .cancel(let cancel): "cancel of \(cancel.id)"
        case .chunk(let chunk): "chunk \(chunk.index) of \(chunk.id)"
        case .smallRequest(let request): "request \(request.id) for \(request.blobs.count) small ones"
        case .smallBlobs(let blobs): "\(blobs.blobs.count) small ones of \(blobs.id)"
        case .refusal(let refusal): "refusal of \(refusal.id)"
        case .goodbye: "goodbye"
        }
    }
}
