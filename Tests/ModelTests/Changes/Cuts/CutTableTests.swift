import SyncModel
import Testing

/// What follows from cuts, whatever came first. Each history breaks without the rule it is about.
@Suite struct CutTableTests {
    /// A change as the table hears of it.
    private struct Said {
        let change: Dot
        let context: VersionVector
        var operations: [(dot: Dot, says: CutStatement)] = []
    }

    private let replicas: [ReplicaID]
    private let devices: [TestDevice]

    init() throws {
        devices = try (1...4).map { try TestDevice($0) }
        replicas = devices.map { $0.replica() }
    }

    private func dot(_ device: Int, _ counter: UInt64, incarnation: UInt64 = 1) -> Dot {
        Dot(replica: devices[device].replica(incarnation), counter: counter)
    }

    private func vector(_ nexts: [Int: UInt64]) -> VersionVector {
        VersionVector(
            nexts.sorted { replicas[$0.key] < replicas[$1.key] }.map {
                .init(replica: replicas[$0.key], next: $0.value)
            })
    }

    private func cut(
        _ author: Int, at counter: UInt64, of device: Int, end: UInt64, knowing context: [Int: UInt64],
        isStrict: Bool = false
    ) -> Said {
        let fact = CutFact(
            device: devices[device].id, isStrict: isStrict,
            ends: end == 0
                ? [] : [.init(incarnation: 1, end: end, head: ChainHead(space: .home, replica: replicas[device]))])
        return Said(
            change: dot(author, counter), context: vector(context), operations: [(dot(author, counter), .cut(fact))])
    }

    private func settle(_ author: Int, at counter: UInt64, cut: UInt64, knowing context: [Int: UInt64]) -> Said {
        Said(
            change: dot(author, counter), context: vector(context),
            operations: [(dot(author, counter), .settled(.init(dot(author, cut))))])
    }

    private func letIn(_ author: Int, at counter: UInt64, _ device: Int, knowing context: [Int: UInt64]) -> Said {
        Said(
            change: dot(author, counter), context: vector(context),
            operations: [(dot(author, counter), .addition(devices[device].fact))])
    }

    private func write(_ author: Int, at counter: UInt64, knowing context: [Int: UInt64]) -> Said {
        Said(change: dot(author, counter), context: vector(context))
    }

    /// Told in every order that their contexts and counters allow, in which held changes are looked at again when a cut
    /// comes, as a store does it.
    private func table(_ said: [Said], sourceLocation: SourceLocation = #_sourceLocation) -> CutTable {
        var found: [CutTable] = []
        var ends: [[UInt64?]] = []
        for order in permutations(said) where isCausal(order) {
            var table = CutTable()
            for (index, one) in order.enumerated() {
                guard table.record(one.change, context: one.context, one.operations, members: MemberFacts()) else {
                    continue
                }
                for held in order[..<index] {
                    table.witness(held.change, context: held.context, members: MemberFacts())
                }
            }
            found.append(table)
            ends.append(replicas.map { table.end(of: $0) })
        }
        #expect(Set(ends).count == 1, "by every order the same ends", sourceLocation: sourceLocation)
        return found[0]
    }

    private func permutations(_ said: [Said]) -> [[Said]] {
        guard let first = said.first else { return [[]] }
        return permutations(Array(said.dropFirst())).flatMap { rest in
            (0...rest.count).map { Array(rest[..<$0]) + [first] + Array(rest[$0...]) }
        }
    }

    private func isCausal(_ order: [Said]) -> Bool {
        order.indices.allSatisfy { later in
            order[(later + 1)...].allSatisfy { behind in
                !order[later].context.covers(behind.change)
                    && (order[later].change.replica != behind.change.replica
                        || order[later].change.counter < behind.change.counter)
            }
        }
    }

    @Test func `beyond its end a history is void, and one that nobody names from its beginning`() {
        let table = table([cut(0, at: 7, of: 1, end: 5, knowing: [1: 5])])
        #expect(table.end(of: replicas[1]) == 5)
        #expect(table.end(of: devices[1].replica(9)) == 0)
        #expect(table.end(of: replicas[2]) == nil)
        #expect(!table.isVoid(dot(1, 4)))
        #expect(table.isVoid(dot(1, 5)))
        #expect(table.isAway(devices[1].id))
    }

    @Test func `whoever lets a device go counts all that it holds of it, or it says nothing`() {
        #expect(table([cut(0, at: 7, of: 1, end: 4, knowing: [1: 5])]).end(of: replicas[1]) == nil)
        #expect(table([cut(0, at: 7, of: 0, end: 4, knowing: [:])]).end(of: replicas[0]) == nil)
    }

    @Test func `what one built on who had not heard of the cut stays`() {
        let built = write(2, at: 3, knowing: [1: 8])
        #expect(table([cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), built]).end(of: replicas[1]) == 8)
    }

    @Test func `a revocation has no effect, by whichever road it comes`() throws {
        let revoked = cut(3, at: 2, of: 1, end: 0, knowing: [1: 5], isStrict: true)
        let retired = cut(0, at: 7, of: 1, end: 5, knowing: [1: 5])
        let built = write(2, at: 3, knowing: [1: 8, 3: 3])
        #expect(table([revoked]).isEmpty)
        let mixed = table([revoked, retired, settle(3, at: 3, cut: 2, knowing: [1: 5]), built])
        #expect(mixed.end(of: replicas[1]) == 8 && !mixed.isBarred(devices[1].id))
        // In a state, or in the column of a store that an older program wrote.
        guard case .cut(let fact)? = revoked.operations.first?.says else { return }
        var bytes: [UInt8] = [1] + revoked.change.replica.bytes
        bytes.append(varint: revoked.change.counter)
        bytes.append(lengthPrefixed: fact.canonicalBytes)
        bytes += [0, 0, 0, 0, 0]
        #expect(CutTable.holdsStrictCut(encoded: bytes) && !CutTable.holdsStrictCut(encoded: mixed.encoded))
        #expect(try CutTable(encoded: bytes, members: MemberFacts()).isEmpty)
        var joined = mixed
        joined.join(try CutTable(encoded: bytes, members: MemberFacts()), members: MemberFacts())
        #expect(joined == mixed)
    }

    @Test func `who knew of the cut keeps nothing`() {
        let built = write(2, at: 3, knowing: [0: 8, 1: 8])
        #expect(table([cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), built]).end(of: replicas[1]) == 5)
    }

    @Test func `what is void itself keeps nothing, and what is kept keeps on`() {
        // 2 had built on 1, and is let go, too: its word for 1 lies beyond its end.
        let ends = [
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(0, at: 8, of: 2, end: 2, knowing: [1: 5, 2: 2]),
        ]
        let built = write(2, at: 3, knowing: [1: 8])
        #expect(table(ends + [built]).end(of: replicas[1]) == 5)
        // 3 had seen that, and has not heard of anything.
        let kept = table(ends + [built, write(3, at: 0, knowing: [1: 6, 2: 4])])
        #expect(kept.end(of: replicas[2]) == 4)
        #expect(kept.end(of: replicas[1]) == 8)
    }

    @Test func `of two concurrent cuts the smaller end holds`() {
        let two = table([
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(2, at: 1, of: 1, end: 9, knowing: [1: 9]),
        ])
        // The second author had seen more, and had not heard of the first cut: that is what keeps it.
        #expect(two.end(of: replicas[1]) == 9)
    }

    @Test func `a history that begins behind a return counts, one that was begun without knowing does not`() {
        let away = cut(0, at: 7, of: 1, end: 5, knowing: [1: 5])
        let back = letIn(2, at: 1, 1, knowing: [0: 8])
        let new = Said(change: dot(1, 0, incarnation: 2), context: vector([0: 8, 2: 2]))
        let blind = Said(change: dot(1, 0, incarnation: 3), context: vector([0: 8]))
        let table = table([away, back, new, blind])
        #expect(!table.isAway(devices[1].id))
        #expect(table.end(of: devices[1].replica(2)) == nil)
        #expect(table.end(of: devices[1].replica(3)) == 0)
        #expect(table.end(of: replicas[1]) == 5)
    }

    @Test func `to be let in by one who has not heard of the cut is no return`() {
        let table = table([cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), letIn(2, at: 1, 1, knowing: [:])])
        #expect(table.isAway(devices[1].id))
    }

    @Test func `of those who cut each other one stays`() {
        let two = table([cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 5, of: 0, end: 7, knowing: [0: 7])])
        #expect(Set([0, 1].map { two.isAway(devices[$0].id) }) == [true, false])
        let three = table([
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 5, of: 2, end: 3, knowing: [2: 3]),
            cut(2, at: 3, of: 0, end: 7, knowing: [0: 7]),
        ])
        #expect((0...2).contains { !three.isAway(devices[$0].id) })
    }

    @Test func `of those who cut each other the one that is settled stays`() {
        let cuts = [cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 5, of: 0, end: 7, knowing: [0: 7])]
        for author in 0...1 {
            let two = table(cuts + [settle(author, at: 9, cut: cuts[author].change.counter, knowing: [2: 1])])
            #expect([0, 1].map { two.isAway(devices[$0].id) } == [author == 1, author == 0])
        }
        let three = [
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 5, of: 2, end: 3, knowing: [2: 3]),
            cut(2, at: 3, of: 0, end: 7, knowing: [0: 7]),
        ]
        for author in 0...2 {
            let table = table(three + [settle(author, at: 9, cut: three[author].change.counter, knowing: [3: 1])])
            #expect(table.isAway(devices[(author + 1) % 3].id))
        }
    }

    @Test func `a cut is disputed by who lets its author go before it, until that can never hold`() throws {
        let cuts = [cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 5, of: 0, end: 7, knowing: [0: 7])]
        let open = table(cuts)
        #expect(open.cuts.allSatisfy(open.isDisputed))
        let settled = table(cuts + [settle(0, at: 9, cut: 7, knowing: [2: 1])])
        #expect(settled.cuts.filter(settled.isDisputed).map(\.dot) == [cuts[1].change])
        // Whoever has seen the cut before it lets its author go says nothing against it.
        let later = table([cuts[0], cut(2, at: 1, of: 0, end: 8, knowing: [0: 8])])
        #expect(!later.cuts.contains(where: later.isDisputed))
    }

    @Test func `a cut that its author says beyond its own end says nothing`() {
        let table = table([
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), cut(1, at: 6, of: 2, end: 3, knowing: [2: 3]),
        ])
        #expect(!table.isAway(devices[2].id))
        #expect(table.end(of: replicas[2]) == nil)
    }

    @Test func `a table reads back as it was written`() throws {
        let table = table([
            cut(0, at: 7, of: 1, end: 5, knowing: [1: 5]), write(2, at: 3, knowing: [1: 8]),
            letIn(2, at: 4, 1, knowing: [0: 8, 1: 8]),
            Said(
                change: dot(1, 0, incarnation: 2), context: vector([0: 8, 2: 5]),
                operations: [(dot(1, 0, incarnation: 2), .rewriting(.init(incarnation: 1, start: 8, count: 4)))]),
            settle(0, at: 9, cut: 7, knowing: [:]),
        ])
        #expect(try CutTable(encoded: table.encoded, members: MemberFacts()) == table)
        #expect(table.rewritten(of: replicas[1]) == 12)
        for length in 1..<table.encoded.count {
            #expect(throws: CodecError.self) {
                try CutTable(encoded: Array(table.encoded.prefix(length)), members: MemberFacts())
            }
        }
    }

    /// Of six lists the fifth has a row.
    private func bytes(rewriting old: UInt64, _ count: UInt64, as new: UInt64) -> [UInt8] {
        var bytes: [UInt8] = [0, 0, 0, 0, 1]
        bytes += replicas[1].bytes
        bytes.append(varint: old)
        bytes.append(varint: count)
        bytes += replicas[2].bytes
        bytes.append(varint: new)
        bytes.append(varint: 0)
        return bytes
    }

    @Test func `a table of a peer with a rewriting beyond all counters is refused`() {
        let last = Limits.counters
        for (old, count, new) in [(UInt64.max, 1, 0), (0, UInt64.max, 0), (last, 1, 0), (0, 1, UInt64.max)] {
            #expect(throws: CodecError.self) {
                try CutTable(encoded: bytes(rewriting: old, count, as: new), members: MemberFacts())
            }
        }
    }

    @Test func `a table with the greatest mark that a change may hold reads back`() throws {
        let mark = Operation.RewritingMark(incarnation: 1, start: 0, count: Limits.counters)
        let table = table([
            Said(
                change: dot(1, 7, incarnation: 2), context: vector([:]),
                operations: [(dot(1, 7, incarnation: 2), .rewriting(mark))])
        ])
        #expect(table.rewritten.count == 1)
        #expect(try CutTable(encoded: table.encoded, members: MemberFacts()) == table)
    }
}
