import CrashDisk
import SyncModel
import SyncStore

/// A `CrashFolder` as its disk is, step by step: what is durable, and what waits for a sync.
struct FolderReplay {
    /// Durable bytes, by number.
    private(set) var files: [[UInt8]] = []
    /// Durable names.
    private(set) var names: [BlobFileName: Int] = [:]
    private var waitingWrites: [Int: [(offset: Int, bytes: [UInt8])]] = [:]
    private var waitingNames: [CrashFolder.Action] = []

    mutating func take(_ action: CrashFolder.Action) {
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

    /// As it is found when the power goes now. Names change in order, as in the journal of a file system.
    func afterPowerLoss(_ loss: crash_loss, seed: UInt64) -> FolderReplay {
        var random = SeededGenerator(seed: seed)
        var found = self
        for (file, writes) in waitingWrites.sorted(by: { $0.key < $1.key }) {
            let kept = kept(writes.count, loss, &random)
            for (index, write) in writes.enumerated() {
                if loss == CRASH_KEEPS_SECTORS {
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

    private func kept(_ count: Int, _ loss: crash_loss, _ random: inout SeededGenerator) -> Int {
        switch loss {
        case CRASH_LOSES_ALL: 0
        case CRASH_LOSES_NOTHING: count
        default: Int.random(in: 0...count, using: &random)
        }
    }
}

extension [UInt8] {
    /// Each sector of a write is there or not.
    fileprivate mutating func putSectors(of bytes: [UInt8], at offset: Int, _ random: inout SeededGenerator) {
        for start in stride(from: 0, to: bytes.count, by: 512) where Bool.random(using: &random) {
            put(Array(bytes[start..<Swift.min(start + 512, bytes.count)]), at: offset + start)
        }
    }
}
