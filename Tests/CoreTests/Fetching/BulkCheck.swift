import SyncCore
import SyncModel

/// What must never happen, whatever peers do; looked at on every frame and after every step.
struct BulkCheck {
    private struct Asked {
        let blob: BlobName
        var chunks: Set<Int>
        var small: [BlobName]
    }

    /// Why a check failed, first of all.
    private(set) var violations: [String] = []
    /// By node, of what was asked and neither came nor was cancelled.
    private var asked: [Int: [ConnectionID: [UInt64: Asked]]] = [:]
    private var cancelled: [Int: [ConnectionID: [UInt64: Asked]]] = [:]
    /// By node: chunks on their way to the disk.
    private var writing: [Int: [BlobName: Set<Int>]] = [:]
    private var received: [Int: [BlobName: Set<Int>]] = [:]
    /// By node: who was caught with wrong bytes of what.
    private var caught: [Int: Set<String>] = [:]
    private(set) var mostInFlight = 0
    private(set) var mostOutbound = 0

    private mutating func violate(_ what: String) {
        if violations.count < 8 { violations.append(what) }
    }

    mutating func load(_ node: Int, _ core: BulkCore) {
        let (load, bounds) = (core.load, core.configuration.bounds)
        mostInFlight = max(mostInFlight, load.inFlightBytes)
        mostOutbound = max(mostOutbound, load.outboundBytes)
        if load.inFlightBytes > bounds.windowBytes { violate("node \(node): \(load.inFlightBytes) bytes in flight") }
        if load.unwrittenBytes > load.inFlightBytes || load.inFlightBytes < 0 || load.unwrittenBytes < 0 {
            violate("node \(node): counts \(load)")
        }
        if load.hashBytes < 0 || load.hashBytes > bounds.hashBytes { violate("node \(node): counts \(load)") }
        if load.hashBytes != load.hashBytesAtWork { violate("node \(node): counts \(load)") }
        if load.lookUps > 2 * BulkLimits.wants { violate("node \(node): \(load.lookUps) to look up") }
        // A frame may be sent on top of what is read for the limit.
        if load.outboundBytes > 2 * bounds.outboundBytes { violate("node \(node): \(load.outboundBytes) outbound") }
        for peer in core.peerViews where peer.inFlightBytes > bounds.peerWindowBytes {
            // What was cancelled and came may be on top of what was asked for then.
            if peer.inFlightBytes > 2 * bounds.peerWindowBytes { violate("node \(node): \(peer)") }
        }
    }

    mutating func sent(_ node: Int, _ id: ConnectionID, _ frame: BulkFrame, _ disk: BulkDisk) {
        do { _ = try BulkFrameCodec.encode(frame) } catch { violate("node \(node) cannot encode a frame: \(error)") }
        switch frame {
        case .request(let request):
            let chunks = Set(Int(request.first)..<Int(request.first) + Int(request.count))
            for chunk in chunks.sorted() {
                if disk.has(request.blob, chunk) || writing[node]?[request.blob]?.contains(chunk) == true {
                    violate("node \(node) asks for chunk \(chunk), which is here")
                }
                if isAsked(node, request.blob, chunk) { violate("node \(node) asks twice for chunk \(chunk)") }
            }
            asked[node, default: [:]][id, default: [:]][request.id] = Asked(
                blob: request.blob, chunks: chunks, small: [])
        case .smallRequest(let request):
            for blob in request.blobs {
                if disk.whole.contains(blob) { violate("node \(node) asks for a small blob that is here") }
                if isAsked(node, small: blob) { violate("node \(node) asks twice for a small blob") }
            }
            asked[node, default: [:]][id, default: [:]][request.id] = Asked(
                blob: request.blobs[0], chunks: [], small: request.blobs)
        case .cancel(let cancel):
            let gone = asked[node]?[id]?.removeValue(forKey: cancel.id)
            if let gone { cancelled[node, default: [:]][id, default: [:]][cancel.id] = gone }
        case .hello, .want, .unwant, .holding, .hashesRequest, .hashes, .chunk, .smallBlobs, .refusal, .goodbye: break
        }
    }

    private func isAsked(_ node: Int, _ blob: BlobName, _ chunk: Int) -> Bool {
        asked[node]?.values.contains { $0.values.contains { $0.blob == blob && $0.chunks.contains(chunk) } } ?? false
    }

    private func isAsked(_ node: Int, small blob: BlobName) -> Bool {
        asked[node]?.values.contains { $0.values.contains { $0.small.contains(blob) } } ?? false
    }

    /// Before the core hears it.
    mutating func heard(_ node: Int, _ input: BulkInput, _ state: inout BulkWorld.Node) {
        switch input {
        case .received(let id, let frame, _): received(node, id, frame, &state)
        case .closed(let id, _): closed(node, id)
        default: break
        }
    }

    private mutating func received(
        _ node: Int, _ id: ConnectionID, _ frame: BulkFrame, _ state: inout BulkWorld.Node
    ) {
        state.received += frame.blobBytes
        switch frame {
        case .chunk(let chunk):
            let open = asked[node]?[id]?[chunk.id] ?? cancelled[node]?[id]?[chunk.id]
            if let blob = open?.blob,
                received[node, default: [:]][blob, default: []].insert(Int(chunk.index)).inserted == false
            {
                state.wasted += chunk.bytes.count
            }
            asked[node]?[id]?[chunk.id]?.chunks.remove(Int(chunk.index))
        // From here on it is on its way to the disk, unless it is thrown away.
        case .smallBlobs(let small): if small.isLast { asked[node]?[id]?[small.id] = nil }
        case .refusal(let refusal): asked[node]?[id]?[refusal.id] = nil
        case .hello, .want, .unwant, .holding, .hashesRequest, .hashes, .request, .cancel, .smallRequest, .goodbye:
            break
        }
    }

    /// The core told the disk.
    mutating func disk(_ node: Int, _ effect: BulkEffect, _ disk: BulkDisk) {
        guard case .write(let blob, let chunk, _) = effect else { return }
        if !writing[node, default: [:]][blob, default: []].insert(chunk).inserted {
            violate("node \(node) writes chunk \(chunk) twice")
        }
    }

    /// The disk is about to answer.
    mutating func answered(_ node: Int, _ effect: BulkEffect) {
        guard case .write(let blob, let chunk, _) = effect else { return }
        writing[node]?[blob]?.remove(chunk)
    }

    mutating func closed(_ node: Int, _ id: ConnectionID) {
        asked[node]?[id] = nil
        cancelled[node]?[id] = nil
    }
}
