import SyncModel

/// What a store calls whole has the bytes that were once added, whenever somebody looks: after it came, after every end
/// without warning, and at rest. Only a disk that changes bytes behind everybody's back may make it otherwise, and that every
/// read finds.
struct ReadableBlobChecker: Checker {
    static let name = "readable means right"

    mutating func lookedAt(_ look: BlobLook) -> String? {
        guard look.isRight == false, !look.isRotten else { return nil }
        return
            "node \(look.node) calls \(look.content.hash.bytes.hexadecimal) of \(look.content.layout.size) bytes whole "
            + "(\(look.occasion)), and has other bytes of it"
    }

    mutating func blobsEnded(_ looks: [BlobLook]) -> String? {
        for look in looks {
            if let finding = lookedAt(look) { return finding }
        }
        return nil
    }
}
