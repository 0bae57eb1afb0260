import SyncModel

/// Checks that a blob that a store calls whole has the bytes once added, at every look: after its arrival, after every end
/// without warning, and at rest. Only a disk that changes bytes unnoticed may make it otherwise, and every read finds that.
struct ReadableBlobChecker: Checker {
    static let name = "readable means right"

    mutating func lookedAt(_ look: BlobLook) -> String? {
        guard look.isRight == false, !look.isRotten else { return nil }
        return
            "node \(look.node) calls \(look.content.name.hash.bytes.hexadecimal) of \(look.content.layout.size) bytes whole "
            + "(\(look.occasion)), and has other bytes of it"
    }

    mutating func blobsEnded(_ looks: [BlobLook]) -> String? {
        for look in looks {
            if let finding = lookedAt(look) { return finding }
        }
        return nil
    }
}
