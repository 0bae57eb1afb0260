import SyncCore
import SyncModel
package import SyncStore

/// A `CrashFolder` as its disk is, step by step: what is durable, and what waits for a sync.
package struct FolderReplay: Sendable {
    /// The fate of unsynced writes at a loss of power.
    package enum Loss: Sendable, CaseIterable {
        case losesAll
        /// The process was killed, the machine went on.
        case losesNothing
        /// The first few writes are there.
        case keepsPrefix
        /// Each sector of 512 bytes of each write is there or not.
        case keepsSectors
    }

    /// Durable bytes, by number.
    package private(set) var files: [[UInt8]] = []
    /// Durable names.
    package private(set) var names: [BlobFileName: Int] = [:]
    private var waitingWrites: [Int: [(offset: Int, bytes: [UInt8])]] = [:]
    private var waitingNames: [CrashFolder.Action] = []

    package init() {}

    package mutating func take(_ action: CrashFolder.Action) {
        switch action {
        case .create(_, let file):
            while files.count <= file { files.append([]) }
            waitingNames.append(action)
        case .rename, .remove: waitingNames.append(action)
        case .write(let file, let offset, let bytes): waitingWrites[file, default: []].append((offset, bytes))
        case .sync(let file):
            for write in waitingWrites.removeValue(forKey: file) ?? [] {
                files[file].put(write.bytes, at: write.offset)
            }
        case .failedSync(let file):
            // The kernel calls its pages clean; no later sync writes them.
            waitingWrites[file] = nil
        case .syncFolder:
            for name in waitingNames { apply(name) }
            waitingNames = []
        case .rot(let file, let offset):
            guard offset < files[file].count else { return }
            files[file][offset] ^= 0x40
        }
    }

    private mutating func apply(_ action: CrashFolder.Action) {
        switch action {
        case .create(let name, let file): names[name] = file
        case .rename(let name, let target):
            guard let file = names.removeValue(forKey: name) else { return }
            names[target] = file
        case .remove(let name): names[name] = nil
        case .write, .sync, .failedSync, .syncFolder, .rot: return
        }
    }

    /// Returns the state found if the power goes now. Names change in order, as in the journal of a file system.
    package func afterPowerLoss(_ loss: Loss, seed: UInt64) -> FolderReplay {
        var random = SplitMix64(seed: seed)
        var found = self
        for (file, writes) in waitingWrites.sorted(by: { $0.key < $1.key }) {
            let kept = kept(writes.count, loss, &random)
            for (index, write) in writes.enumerated() {
                if loss == .keepsSectors {
                    found.files[file].putSectors(of: write.bytes, at: write.offset, &random)
                } else if index < kept {
                    found.files[file].put(write.bytes, at: write.offset)
                }
            }
        }
        for name in waitingNames.prefix(kept(waitingNames.count, loss, &random)) { found.apply(name) }
        found.waitingWrites = [:]
        found.waitingNames = []
        return found
    }

    private func kept(_ count: Int, _ loss: Loss, _ random: inout SplitMix64) -> Int {
        switch loss {
        case .losesAll: 0
        case .losesNothing: count
        case .keepsPrefix, .keepsSectors: Int.random(in: 0...count, using: &random)
        }
    }
}

extension [UInt8] {
    /// Each sector of a write is there or not.
    fileprivate mutating func putSectors(of bytes: [UInt8], at offset: Int, _ random: inout SplitMix64) {
        for start in stride(from: 0, to: bytes.count, by: 512) where Bool.random(using: &random) {
            put(Array(bytes[start..<Swift.min(start + 512, bytes.count)]), at: offset + start)
        }
    }
}
