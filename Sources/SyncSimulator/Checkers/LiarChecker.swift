import SyncCore
import SyncModel

/// Who sends bytes that are not of a blob is reported, and not asked for that blob again as long as it is connected.
struct LiarChecker: Checker {
    static let name = "liars are not asked again"

    fileprivate struct Sources {
        var devices: [ConnectionID: DeviceID] = [:]
        /// Which blob a request was about.
        var requests: [ConnectionID: [UInt64: [BlobHash]]] = [:]
        /// Who sent a chunk last; chunk -1: the hashes.
        var senders: [BlobHash: [Int: ConnectionID]] = [:]
        var smallSenders: [BlobHash: ConnectionID] = [:]
        var liars: [ConnectionID: Set<BlobHash>] = [:]
    }

    private var known: [Int: Sources] = [:]

    mutating func bulkStarted(node: Int) -> String? {
        known[node] = Sources()
        return nil
    }

    mutating func bulkStepped(_ step: BulkStep) -> String? {
        var sources = known[step.node] ?? Sources()
        defer { known[step.node] = sources }
        for (connection, blob) in sources.lies(step.input) {
            guard let device = sources.devices[connection] else { continue }
            let isReported = step.effects.contains(.report(.wrongBytes(device, blob)))
            if !isReported { return "node \(step.node) says nothing of wrong bytes from \(device)" }
            sources.liars[connection, default: []].insert(blob)
        }
        for effect in step.effects {
            guard let finding = sources.take(effect) else { continue }
            return "node \(step.node) \(finding)"
        }
        return nil
    }
}

extension LiarChecker.Sources {
    /// Who is shown to have lied by this, as far as it is still connected.
    fileprivate mutating func lies(_ input: BulkInput) -> [(ConnectionID, BlobHash)] {
        switch input {
        case .opened(let connection, let device): devices[connection] = device
        case .closed(let connection, code: _): devices[connection] = nil
        case .received(let connection, .chunk(let chunk), bytes: _):
            if let blob = requests[connection]?[chunk.id]?.first {
                senders[blob, default: [:]][Int(chunk.index)] = connection
            }
        case .received(let connection, .hashes(let hashes), bytes: _):
            if let blob = requests[connection]?[hashes.id]?.first { senders[blob, default: [:]][-1] = connection }
        case .received(let connection, .smallBlobs(let sent), bytes: _):
            for part in sent.blobs {
                guard let blobs = requests[connection]?[sent.id], Int(part.index) < blobs.count else { continue }
                smallSenders[blobs[Int(part.index)]] = connection
            }
        case .written(let blob, chunk: let chunk, .wrong): return shown(senders[blob]?[chunk], blob)
        case .hashesWrong(let blob): return shown(senders[blob]?[-1], blob)
        case .smallWritten(_, right: _, wrong: let wrong, code: _): return wrong.flatMap { shown(smallSenders[$0], $0) }
        case _: break
        }
        return []
    }

    private func shown(_ connection: ConnectionID?, _ blob: BlobHash) -> [(ConnectionID, BlobHash)] {
        guard let connection, devices[connection] != nil else { return [] }
        return [(connection, blob)]
    }

    /// - Returns: what is wrong with it.
    fileprivate mutating func take(_ effect: BulkEffect) -> String? {
        let asked: (connection: ConnectionID, id: UInt64, blobs: [BlobHash])
        switch effect {
        case .send(let connection, .request(let request)): asked = (connection, request.id, [request.blob])
        case .send(let connection, .hashesRequest(let request)): asked = (connection, request.id, [request.blob])
        case .send(let connection, .smallRequest(let request)): asked = (connection, request.id, request.blobs)
        case .close(let connection, _):
            devices[connection] = nil
            return nil
        case _: return nil
        }
        requests[asked.connection, default: [:]][asked.id] = asked.blobs
        guard let blob = asked.blobs.first(where: { liars[asked.connection]?.contains($0) == true }) else { return nil }
        return "asks for \(blob.bytes.hexadecimal) of a peer that sent wrong bytes of it"
    }
}
