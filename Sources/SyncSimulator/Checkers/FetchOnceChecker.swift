import SyncCore
import SyncModel

/// Checks that a byte of a blob is not requested while it is stored or on its way: not twice from one peer, not from two at
/// once. A byte may come twice only because a slow peer's request was cancelled.
struct FetchOnceChecker: Checker {
    static let name = "fetched once"

    fileprivate struct Asked {
        let blob: BlobName
        /// The chunks that have not come.
        var chunks: Set<Int>
        var isCancelled = false
    }

    /// The knowledge of one process.
    fileprivate struct Knowledge {
        var asked: [ConnectionID: [UInt64: Asked]] = [:]
        var unwritten: [BlobName: Set<Int>] = [:]
        var here: [BlobName: Set<Int>] = [:]
        var cancelledChunks = 0
        var duplicates = 0
    }

    private var known: [Int: Knowledge] = [:]

    mutating func bulkStarted(node: Int) -> String? {
        known[node] = Knowledge()
        return nil
    }

    mutating func bulkStepped(_ step: BulkStep) -> String? {
        var knowledge = known[step.node] ?? Knowledge()
        defer { known[step.node] = knowledge }
        knowledge.take(step.input)
        // One that is dropped and wanted again may be asked for again while the first request is still open.
        var small: Set<BlobName> = []
        for case .send(_, .smallRequest(let request)) in step.effects {
            for blob in request.blobs where !small.insert(blob).inserted {
                return "node \(step.node) asks for \(blob.hash.bytes.hexadecimal) twice at once"
            }
        }
        for effect in step.effects {
            if let finding = knowledge.take(effect) { return "node \(step.node) \(finding)" }
        }
        if knowledge.duplicates > knowledge.cancelledChunks {
            return
                "node \(step.node) got \(knowledge.duplicates) chunks twice, and cancelled \(knowledge.cancelledChunks)"
        }
        return nil
    }
}

extension FetchOnceChecker.Knowledge {
    fileprivate mutating func take(_ input: BulkInput) {
        switch input {
        case .received(let connection, .chunk(let chunk), bytes: _): take(chunk, from: connection)
        case .received(let connection, .refusal(let refusal), bytes: _): asked[connection]?[refusal.id] = nil
        case .closed(let connection, code: _): asked[connection] = nil
        case .begun(let blob, present: let present): here[blob] = Set((0..<present.count).filter(present.contains))
        case .chunkWritten(let blob, chunk: let chunk, let outcome):
            unwritten[blob]?.remove(chunk)
            if outcome == .right { here[blob, default: []].insert(chunk) }
        // Chunks that are not durable may be gone, and are checked again.
        case .finishFailed(let blob, code: _), .refused(let blob, code: _), .holdingChanged(let blob),
            .unwanted(let blob):
            here[blob] = nil
        case _: break
        }
    }

    private mutating func take(_ chunk: BulkFrame.Chunk, from connection: ConnectionID) {
        guard var request = asked[connection]?[chunk.id] else { return }
        let blob = request.blob
        let index = Int(chunk.index)
        if here[blob]?.contains(index) == true || unwritten[blob]?.contains(index) == true { duplicates += 1 }
        request.chunks.remove(index)
        asked[connection]?[chunk.id] = request.chunks.isEmpty ? nil : request
    }

    /// - Returns: what is wrong with it.
    fileprivate mutating func take(_ effect: BulkEffect) -> String? {
        switch effect {
        case .send(let connection, .request(let request)):
            let chunks = Set(Int(request.first)..<Int(request.first) + Int(request.count))
            let finding = finding(request.blob, chunks)
            asked[connection, default: [:]][request.id] = .init(blob: request.blob, chunks: chunks)
            return finding
        case .send(let connection, .cancel(let cancel)):
            cancelledChunks += asked[connection]?[cancel.id]?.chunks.count ?? 0
            asked[connection]?[cancel.id]?.isCancelled = true
        case .close(let connection, _): asked[connection] = nil
        case .write(let blob, chunk: let chunk, _): unwritten[blob, default: []].insert(chunk)
        case _: break
        }
        return nil
    }

    private func finding(_ blob: BlobName, _ chunks: Set<Int>) -> String? {
        let name = blob.hash.bytes.hexadecimal
        if let chunk = chunks.intersection(here[blob] ?? []).min() {
            return "asks for chunk \(chunk) of \(name), which is here"
        }
        if let chunk = chunks.intersection(unwritten[blob] ?? []).min() {
            return "asks for chunk \(chunk) of \(name), which it is writing"
        }
        for request in asked.values.joined().lazy.map(\.value) where request.blob == blob && !request.isCancelled {
            if let chunk = request.chunks.intersection(chunks).min() {
                return "asks for chunk \(chunk) of \(name), which it has asked for"
            }
        }
        return nil
    }
}
