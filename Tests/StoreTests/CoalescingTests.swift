import SyncModel
import SyncStore
import Testing

/// The same work on two machines, one of which folds what it wrote alone: nobody can tell them apart, but for objects that
/// were created and deleted before anybody heard of them (`SealingTests`).
struct CoalescingTests {
    /// A machine that works alone at times, and another that hears of it at others.
    private struct Pair {
        let author: SQLiteStore
        let peer: SQLiteStore
        let coalesces: Bool
        var positions: [String: Int64] = [:]

        init(_ kind: StoreKind, coalesces: Bool) throws {
            self.coalesces = coalesces
            let stores = try introduced([StoreBed(kind), StoreBed(.memory, device: TestDevice(2))])
            (author, peer) = (stores[0], stores[1])
            for collection in Self.policies.keys.sorted() {
                try author.write(
                    .schema(
                        collection,
                        #"{"deletePolicy":"\#(Self.policies[collection]!)","fields":{"tags":"set","plays":"counter","body":"text"}}"#
                    )
                )
            }
            _ = try author.append(
                [.planned([.setStream(.init(stream: "light", latestOnly: true, retainMilliseconds: nil))])],
                wallMilliseconds: 1)
        }

        static let policies = ["w": "deleteWins", "u": "updateWins", "l": "lastWriterWins", "a": "ask"]

        func meet() throws {
            if coalesces { _ = try author.seal() }
            try peer.pull(from: author)
            try author.pull(from: peer)
        }

        func part() throws { if coalesces { try author.leaveOpen() } }
    }

    /// - Parameter attached: what there is to detach.
    private static func write(
        _ random: inout SeededGenerator, mayCreate: Bool, attached: [StoredAttachment]
    ) -> LocalWrite {
        let collection = ["w", "u", "l", "a"].randomElement(using: &random)!
        let name = "\(collection)/\(Int.random(in: 0..<3, using: &random))"
        let number = Int.random(in: 0..<4, using: &random)
        switch Int.random(in: 0..<14, using: &random) {
        case 11, 12: return .planned([.attaching(["x", "y", "zz"].randomElement(using: &random)!, to: name)])
        case 13:
            guard let one = attached.randomElement(using: &random) else { return .operations([.event("log", "none")]) }
            return .planned([.detach(one.owner, attachment: one.attachment.id)])
        // Where somebody is likely to have typed before: what is behind the end is refused, alike everywhere.
        case 8, 9:
            let letters = [Int](0...number).map { _ in "abc é👩🏽‍🚀".randomElement(using: &random)! }
            return .planned([
                .editing(
                    name, "body",
                    .insert(at: Int.random(in: 0..<6, using: &random), .string(ExactString(String(letters)))),
                    creating: mayCreate)
            ])
        case 10: return .planned([.editing(name, "body", .delete(at: number, count: 1), creating: mayCreate)])
        case 0: return .operations([.event("light", "\(number)", type: "lamp\(number % 2)")])
        case 1: return .operations([.event("log", "\(number)")])
        case 2 where mayCreate: return .planned([.deleting(name)])
        case 3: return .planned([.editing(name, "plays", .increment(1), creating: mayCreate)])
        case 4: return .planned([.editing(name, "tags", .add(.integer(Int64(number))), creating: mayCreate)])
        case 5: return .planned([.editing(name, "tags", .remove(.integer(Int64(number))), creating: mayCreate)])
        case 6 where mayCreate:
            return .planned([.putting(name, #"{"title":"\#(number)","cfg":{"k\#(number)":\#(number)}}"#)])
        case _: return .planned([.editing(name, "title", .set(.integer(Int64(number))), creating: mayCreate)])
        }
    }

    private static let names = ["w", "u", "l", "a"].flatMap { collection in (0..<3).map { "\(collection)/\($0)" } }

    @Test(arguments: StoreKind.allCases, 1...12 as ClosedRange<UInt64>)
    func `with and without folding, all ends the same`(kind: StoreKind, seed: UInt64) throws {
        try Self.expectSameEnd(kind, seed, rounds: 6, writes: 1...30)
    }

    /// Long enough to be folded several times before anybody hears of it.
    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs], 1...3 as ClosedRange<UInt64>)
    func `with and without folding, all ends the same after a long time alone`(kind: StoreKind, seed: UInt64) throws {
        try Self.expectSameEnd(kind, seed, rounds: 2, writes: 600...900, settingPercent: 80)
    }

    /// - Parameter settingPercent: how many of the writes only set a field of an object, so that folding leaves little.
    private static func expectSameEnd(
        _ kind: StoreKind, _ seed: UInt64, rounds: Int, writes: ClosedRange<Int>, settingPercent: Int = 0
    ) throws {
        let folding = try Pair(kind, coalesces: true)
        let plain = try Pair(kind, coalesces: false)
        var random = SeededGenerator(seed: seed)
        var clock: Int64 = 1_000
        for _ in 0..<rounds {
            for pair in [folding, plain] { try pair.part() }
            for _ in 0..<Int.random(in: writes, using: &random) {
                clock += 1
                // Births and deletions that cross are told apart by who heard of them first: only one side makes any.
                var own = Self.write(&random, mayCreate: true, attached: try folding.author.attachments())
                let theirs = Self.write(&random, mayCreate: false, attached: try folding.peer.attachments())
                // What nobody heard of is forgotten with its deletion, so that it may be put again: that is told apart.
                if case .planned(let writes, row: _) = own, case .delete(let key, ifVersion: _)? = writes.first,
                    try folding.peer.object(key, space: .home) == nil
                {
                    own = .operations([.event("log", "1")])
                }
                if settingPercent > 0, Int.random(in: 0..<100, using: &random) < settingPercent {
                    own = .planned([.editing("u/0", "title", .set(.integer(clock)), creating: true)])
                }
                let isTheirs = Int.random(in: 0..<4, using: &random) == 0
                for pair in [folding, plain] {
                    _ = try pair.author.append([own], wallMilliseconds: clock)
                    if isTheirs { _ = try pair.peer.append([theirs], wallMilliseconds: clock) }
                }
                try Self.expectSame(folding.author, plain.author)
            }
            let shown = try Self.names.map { try folding.author.json($0) }
            let (digest, attached) = (try folding.author.state().digest, try folding.author.attachments())
            let references = try folding.author.references(of: .home, after: nil, limit: .max)
            _ = try folding.author.seal()
            #expect(try folding.author.attachments() == attached)
            #expect(try folding.author.references(of: .home, after: nil, limit: .max) == references)
            #expect(try Self.names.map { try folding.author.json($0) } == shown)
            #expect(try folding.author.state().digest == digest)
            #expect(try folding.author.recomputedDigest(of: .home) == digest)
            for pair in [folding, plain] { try pair.meet() }
            for (left, right) in [
                (folding.author, plain.author), (folding.peer, plain.peer), (folding.author, folding.peer),
            ] {
                try Self.expectSame(left, right)
            }
            #expect(try folding.author.recomputedDigest(of: .home) == folding.author.state().digest)
        }
        #expect(try folding.author.state().counts.changes <= plain.author.state().counts.changes)
        #expect(try folding.author.vector == plain.author.vector)
    }

    private static func expectSame(
        _ left: SQLiteStore, _ right: SQLiteStore, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try left.state().digest == right.state().digest, sourceLocation: sourceLocation)
        #expect(try left.attachments() == right.attachments(), sourceLocation: sourceLocation)
        #expect(
            try left.state().counts.attachments == right.state().counts.attachments, sourceLocation: sourceLocation)
        try left.expectTrueReferences(sourceLocation: sourceLocation)
        for name in names {
            let (one, other) = (try left.json(name), try right.json(name))
            #expect(one == other, "\(name)", sourceLocation: sourceLocation)
        }
    }
}
