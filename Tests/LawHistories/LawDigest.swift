extension LawSubject {
    /// A number that stands for everything that the histories of `count` seeds show: it must not depend on the process.
    package func digest(from first: UInt64, count: Int) throws(Fault) -> String {
        // FNV-1a: a difference shows, nobody forges one.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for seed in first..<first + UInt64(count) {
            for byte in try everythingVisible(of: history(seed: seed)) {
                hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
            }
        }
        return String(hash, radix: 16)
    }
}
