import SyncModel

/// A text that three replicas type into and delete from, each by what it has seen.
struct TextHistory {
    /// Authors other than the one that the fuzzer writes as, whose work it holds already.
    private static let replicas = (11...13).map {
        ReplicaID(device: DeviceID(subjectPublicKeyInfo: [UInt8($0)]), incarnation: 1)
    }

    private var chance: Chance
    private var texts = Array(repeating: ReplicatedText(), count: 3)
    private var held = Array(repeating: VersionVector(), count: 3)
    private var seen = [0, 0, 0]
    private var log: [(author: Int, operation: ReplicatedText.Operation, origin: Origin)] = []

    init(seed: UInt64) {
        chance = Chance(seed: seed &+ 1_000)
        for _ in 0..<2 + chance.below(16) {
            let author = chance.below(3)
            if chance.below(2) == 0 { catchUp(author) }
            write(author)
        }
        for author in 0..<3 { catchUp(author) }
    }

    private mutating func catchUp(_ reader: Int) {
        for written in log[seen[reader]...] where written.author != reader { apply(written, to: reader) }
        seen[reader] = log.count
    }

    private mutating func apply(
        _ written: (author: Int, operation: ReplicatedText.Operation, origin: Origin), to reader: Int
    ) {
        texts[reader].apply(written.operation, at: written.origin)
        let end = written.origin.dot.counter + ReplicatedText.span(of: written.operation)
        held[reader].advance(written.origin.dot.replica, to: end)
    }

    private mutating func write(_ author: Int) {
        let replica = Self.replicas[author]
        let count = texts[author].count
        let isDeletion = count > 2 && chance.below(3) == 0
        let start = chance.below(count + 1)
        let operation =
            isDeletion
            ? texts[author].operation(deleting: start..<min(count, start + 1 + chance.below(4)), by: replica)
            : texts[author].operation(inserting: "x" + chance.word(), at: start, by: replica)
        guard let operation else { return }
        let origin = Origin(
            dot: Dot(replica: replica, counter: max(1, held[author].next(of: replica))),
            stamp: Stamp(rawValue: UInt64(log.count + 1) << 16), context: held[author])
        apply((author, operation, origin), to: author)
        log.append((author, operation, origin))
    }

    /// All of it, or what a replica lacks that has seen what one of them wrote first.
    var seed: [UInt8] {
        var random = chance
        guard random.below(3) == 0 else { return texts[0].canonicalBytes }
        let some = VersionVector([.init(replica: Self.replicas[random.below(3)], next: UInt64(2 + random.below(5)))])
        return texts[0].delta(since: some).canonicalBytes
    }
}
