import SyncModel
import SyncStore

/// A sweep takes what no record has named for the grace period, and nothing else; once grace is over, all of it.
struct SweptBlobChecker: Checker {
    static let name = "removed after grace"

    mutating func swept(before: [BlobLook], after: [BlobLook]) -> String? {
        for (old, new) in zip(before, after) where old.status != .missing && new.status == .missing {
            let name = old.content.name.hash.bytes.hexadecimal
            switch old.need {
            case .needed: return "node \(old.node) removes \(name), which a record names"
            case .unneeded(let since) where since > old.wallMilliseconds - old.graceMilliseconds:
                return "node \(old.node) removes \(name), \(old.wallMilliseconds - since) ms after its last record went"
            case .unneeded, .neverNeeded: break
            }
        }
        return nil
    }

    mutating func lookedAt(_ look: BlobLook) -> String? {
        guard look.occasion == .outlived, look.status != .missing, look.need != .needed else { return nil }
        return "node \(look.node) keeps \(look.content.name.hash.bytes.hexadecimal), which no record names"
    }
}
