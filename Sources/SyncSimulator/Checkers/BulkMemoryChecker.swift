import SyncCore
import SyncModel

/// Checks that the bytes requested from peers, and those received and not yet on the disk, stay within their bound, whatever
/// peers and disks do. They are counted here from the frames, and compared with the core's own count.
struct BulkMemoryChecker: Checker {
    static let name = "bounded bulk memory"

    fileprivate struct Account {
        /// Expected bytes of open requests.
        var asked: [ConnectionID: [UInt64: Int]] = [:]
        var unwritten: [BlobName: [Int: Int]] = [:]
        var unwrittenSmall: [WriteID: Int] = [:]

        var bytes: Int {
            asked.values.reduce(0) { $0 + $1.values.reduce(0, +) }
                + unwritten.values.reduce(0) { $0 + $1.values.reduce(0, +) } + unwrittenSmall.values.reduce(0, +)
        }
    }

    private var accounts: [Int: Account] = [:]

    mutating func bulkStarted(node: Int) -> String? {
        accounts[node] = Account()
        return nil
    }

    mutating func bulkStepped(_ step: BulkStep) -> String? {
        var account = accounts[step.node] ?? Account()
        account.take(step.input)
        for effect in step.effects { account.take(effect) }
        accounts[step.node] = account
        // A request begun while there was room may end a chunk behind it.
        let most = step.bounds.windowBytes + BlobLayout.chunkBytes
        if account.bytes > most {
            return "node \(step.node): \(account.bytes) bytes are asked for or wait, \(most) may"
        }
        if step.load.inFlightBytes > most {
            return "node \(step.node) says \(step.load.inFlightBytes) bytes are asked for or wait, \(most) may"
        }
        if step.load.hashBytes > step.bounds.hashBytes {
            return "node \(step.node): \(step.load.hashBytes) bytes of hashes wait"
        }
        if step.load.hashBytes != step.load.hashBytesAtWork {
            return "node \(step.node): counts \(step.load.hashBytes) bytes of hashes, not \(step.load.hashBytesAtWork)"
        }
        // What was being read when the room ran out comes on top.
        let outbound = step.bounds.outboundBytes + (step.bounds.readsAhead + 1) * BlobLayout.chunkBytes
        if step.load.outboundBytes > outbound {
            return "node \(step.node): \(step.load.outboundBytes) bytes wait for one peer, \(outbound) may"
        }
        return nil
    }
}

extension BulkMemoryChecker.Account {
    fileprivate mutating func take(_ input: BulkInput) {
        switch input {
        case .received(let connection, .chunk(let chunk), bytes: _):
            if let left = asked[connection]?[chunk.id] {
                asked[connection]?[chunk.id] = left > chunk.bytes.count ? left - chunk.bytes.count : nil
            }
        case .received(let connection, .smallBlobs(let blobs), bytes: _):
            let came = blobs.blobs.reduce(0) { $0 + $1.bytes.count }
            if let left = asked[connection]?[blobs.id] {
                asked[connection]?[blobs.id] = blobs.isLast ? nil : max(0, left - came)
            }
        case .received(let connection, .refusal(let refusal), bytes: _): asked[connection]?[refusal.id] = nil
        case .closed(let connection, code: _): asked[connection] = nil
        case .chunkWritten(let blob, chunk: let chunk, _): unwritten[blob]?[chunk] = nil
        case .smallWritten(let id, right: _, wrong: _, code: _): unwrittenSmall[id] = nil
        case _: break
        }
    }

    fileprivate mutating func take(_ effect: BulkEffect) {
        switch effect {
        case .send(let connection, .request(let request)):
            let layout = request.blob.layout
            let chunks = Int(request.first)..<min(layout.chunkCount, Int(request.first) + Int(request.count))
            asked[connection, default: [:]][request.id] = chunks.reduce(0) { $0 + layout.range(of: $1).count }
        case .send(let connection, .smallRequest(let request)):
            asked[connection, default: [:]][request.id] = request.blobs.reduce(0) { $0 + Int($1.size) }
        case .send(let connection, .cancel(let cancel)): asked[connection]?[cancel.id] = nil
        case .close(let connection, _): asked[connection] = nil
        case .write(let blob, chunk: let chunk, let bytes): unwritten[blob, default: [:]][chunk] = bytes.count
        case .writeSmall(let id, let blobs): unwrittenSmall[id] = blobs.reduce(0) { $0 + $1.bytes.count }
        case _: break
        }
    }
}
