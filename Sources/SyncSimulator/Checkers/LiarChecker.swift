import SyncCore
import SyncModel

/// Checks that a peer that is wrong about a blob is reported, and not asked for that blob again before a pause is over, twice
/// as long each time.
struct LiarChecker: Checker {
    static let name = "liars are not asked again"

    /// The knowledge of one process.
    private struct Knowledge {
        var devices: [ConnectionID: DeviceID] = [:]
        var lies: [DeviceID: [BlobName: (count: Int, until: Tick)]] = [:]

        func isDistrusted(_ device: DeviceID, _ blob: BlobName, at now: Tick) -> Bool {
            lies[device]?[blob].map { now < $0.until } ?? false
        }

        mutating func record(_ device: DeviceID, _ blob: BlobName, _ step: BulkStep) {
            let count = lies[device]?[blob]?.count ?? 0
            let pause = step.timing.lieLeast.nanoseconds << Int64(min(count, 16))
            let most = step.timing.lieGreatest.nanoseconds
            lies[device, default: [:]][blob] = (count + 1, step.at + Tick.Span(nanoseconds: min(pause, most)))
        }
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
            let isKnown = knowledge.lies.keys.contains { knowledge.isDistrusted($0, blob, at: step.at) }
            if !isReported, !isKnown {
                return "node \(step.node) says nothing of the wrong bytes of chunk \(chunk)"
            }
        case _: break
        }
        for effect in step.effects {
            let asked: (connection: ConnectionID, blobs: [BlobName])
            switch effect {
            case .report(.wrongBytes(let device, let blob)):
                knowledge.record(device, blob, step)
                continue
            case .send(let connection, .request(let request)): asked = (connection, [request.blob])
            case .send(let connection, .hashesRequest(let request)): asked = (connection, [request.blob])
            case .send(let connection, .smallRequest(let request)): asked = (connection, request.blobs)
            case _: continue
            }
            guard let device = knowledge.devices[asked.connection],
                let blob = asked.blobs.first(where: { knowledge.isDistrusted(device, $0, at: step.at) })
            else { continue }
            return "node \(step.node) asks for \(blob.hash.bytes.hexadecimal) of \(device), which was wrong about it"
        }
        return nil
    }
}
