import SyncCore
import SyncModel

/// Who sends bytes that are not of a blob is reported, and not asked for that blob again as long as its session is up.
struct LiarChecker: Checker {
    static let name = "liars are not asked again"

    /// What one process knows.
    private struct Knowledge {
        var devices: [ConnectionID: DeviceID] = [:]
        var lies: [DeviceID: Set<BlobHash>] = [:]
    }

    private var known: [Int: Knowledge] = [:]

    mutating func bulkStarted(node: Int) -> String? {
        known[node] = Knowledge()
        return nil
    }

    mutating func bulkStepped(_ step: BulkStep) -> String? {
        var knowledge = known[step.node] ?? Knowledge()
        defer { known[step.node] = knowledge }
        switch step.input {
        case .opened(let connection, let device): knowledge.devices[connection] = device
        case .closed(let connection, code: _): knowledge.devices[connection] = nil
        case .sessionDown(let device): knowledge.lies[device] = nil
        case .chunkWritten(let blob, chunk: let chunk, .wrong):
            let isReported = step.effects.contains { effect in
                if case .report(.wrongBytes(_, blob)) = effect { true } else { false }
            }
            // Once is enough: what else was under way of it is as wrong.
            if !isReported, !knowledge.lies.values.contains(where: { $0.contains(blob) }) {
                return "node \(step.node) says nothing of the wrong bytes of chunk \(chunk)"
            }
        case _: break
        }
        for effect in step.effects {
            let asked: (connection: ConnectionID, blobs: [BlobHash])
            switch effect {
            case .report(.wrongBytes(let device, let blob)):
                knowledge.lies[device, default: []].insert(blob)
                continue
            case .send(let connection, .request(let request)): asked = (connection, [request.blob])
            case .send(let connection, .hashesRequest(let request)): asked = (connection, [request.blob])
            case .send(let connection, .smallRequest(let request)): asked = (connection, request.blobs)
            case _: continue
            }
            guard let device = knowledge.devices[asked.connection], let lies = knowledge.lies[device],
                let blob = asked.blobs.first(where: lies.contains)
            else { continue }
            return "node \(step.node) asks for \(blob.bytes.hexadecimal) of \(device), which sent wrong bytes of it"
        }
        return nil
    }
}
