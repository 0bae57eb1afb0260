import SyncModel
import SyncStore

/// Checks that attached blobs are stored, or missing and fetched: once all is well and all nodes are connected, every wanted
/// blob is there, if any node has it.
struct PresentBlobChecker: Checker {
    static let name = "attachments arrive"

    mutating func blobsEnded(_ looks: [BlobLook]) -> String? {
        for look in looks where look.isWanted && look.need == .needed {
            let holders = looks.filter { $0.content.name == look.content.name && $0.isRight == true }
            guard let holder = holders.first else { continue }
            return
                "node \(look.node) wants \(look.content.name.hash.bytes.hexadecimal), which node \(holder.node) has, and "
                + "all is at rest"
        }
        return nil
    }
}
