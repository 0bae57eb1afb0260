import SyncModel

/// Checks that received chunks of a blob stay: a fetch that goes on finds every chunk that is in the file, and no other.
struct PartialBlobChecker: Checker {
    static let name = "what came stays"

    mutating func lookedAt(_ look: PartialLook) -> String? {
        let name = look.content.name.hash.bytes.hexadecimal
        for chunk in 0..<look.content.layout.chunkCount {
            switch (look.found.contains(chunk), look.present.contains(chunk)) {
            case (true, false): return "node \(look.node) has chunk \(chunk) of \(name), and would fetch it again"
            case (false, true) where !look.isRotten:
                return "node \(look.node) counts chunk \(chunk) of \(name) as here, and has other bytes of it"
            case (true, true), (false, _): break
            }
        }
        return nil
    }
}
