import SyncCore
import SyncModel

/// Checks that bytes of a cancelled request are used if they are still missing: they were shipped, and would be again.
struct LateChunkChecker: Checker {
    static let name = "late bytes are used"

    /// The knowledge of one process.
    fileprivate struct Knowledge {
        var devices: [ConnectionID: DeviceID] = [:]
        /// The lies of each device, forgiven ones included: their late chunks may be used or not.
        var lies: [DeviceID: Set<BlobName>] = [:]
        /// The blob of each request, and whether the request was cancelled.
        var asked: [ConnectionID: [UInt64: (blob: BlobName, isCancelled: Bool)]] = [:]
        /// Large blobs at work: begun, or about to be (nil), with the chunks that are here or on their way to the disk.
        var present: [BlobName: Set<Int>?] = [:]
        /// The bytes in flight at the end of the last step.
        var inFlightBytes = 0

        func isMissing(_ blob: BlobName, _ chunk: Int) -> Bool {
            guard case .some(.some(let present)) = present[blob] else { return false }
            return !present.contains(chunk)
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
        let finding = knowledge.finding(step).map { "node \(step.node) \($0)" }
        knowledge.take(step.input)
        for effect in step.effects { knowledge.take(effect) }
        knowledge.inFlightBytes = step.load.inFlightBytes
        return finding
    }
}

extension LateChunkChecker.Knowledge {
    fileprivate func finding(_ step: BulkStep) -> String? {
        guard case .received(let connection, .chunk(let chunk), bytes: _) = step.input,
            let request = asked[connection]?[chunk.id], request.isCancelled, isMissing(request.blob, Int(chunk.index)),
            let device = devices[connection], lies[device]?.contains(request.blob) != true,
            inFlightBytes + chunk.bytes.count <= step.bounds.windowBytes
        else { return nil }
        let isUsed = step.effects.contains { effect in
            if case .write(request.blob, chunk: Int(chunk.index), _) = effect { true } else { false }
        }
        return isUsed
            ? nil : "throws away chunk \(chunk.index) of \(request.blob.hash.bytes.hexadecimal), which it lacks"
    }

    fileprivate mutating func take(_ input: BulkInput) {
        switch input {
        case .opened(let connection, let device): devices[connection] = device
        case .closed(let connection, code: _):
            devices[connection] = nil
            asked[connection] = nil
        case .sessionDown(let device): lies[device] = nil
        case .begun(let blob, present: let chunks):
            if case .some(.none) = present[blob] {
                present[blob] = .some(Set((0..<chunks.count).filter(chunks.contains)))
            }
        case .chunkWritten(let blob, chunk: let chunk, let outcome):
            guard outcome != .right, case .some(.some(var chunks)) = present[blob] else { return }
            chunks.remove(chunk)
            present[blob] = .some(chunks)
        case _: break
        }
    }

    fileprivate mutating func take(_ effect: BulkEffect) {
        switch effect {
        case .send(let connection, .request(let request)):
            asked[connection, default: [:]][request.id] = (request.blob, false)
        case .send(let connection, .cancel(let cancel)): asked[connection]?[cancel.id]?.isCancelled = true
        case .close(let connection, _): asked[connection] = nil
        case .begin(let blob, hashes: _): present.updateValue(nil, forKey: blob)
        case .write(let blob, chunk: let chunk, _):
            guard case .some(.some(var chunks)) = present[blob] else { return }
            chunks.insert(chunk)
            present[blob] = .some(chunks)
        case .finish(let blob), .putAside(let blob): present.removeValue(forKey: blob)
        case .report(.wrongBytes(let device, let blob)): lies[device, default: []].insert(blob)
        case _: break
        }
    }
}
