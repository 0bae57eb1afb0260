import SyncModel
import SyncStore
import Testing

/// A reader of a live result: what it shows follows from the differences alone.
private struct Reader {
    let query: ObjectQuery
    var result: LiveResult
    var shown: [String]

    init(_ query: ObjectQuery, _ store: SQLiteStore) throws {
        self.query = query
        result = try store.liveResult(of: query).result
        shown = result.ids.map(\.string)
    }

    /// Takes out what is named, then inserts what is placed.
    mutating func take(_ step: LiveStep, _ store: SQLiteStore) throws {
        switch step {
        case .unchanged: break
        case .outdated: self = try Reader(query, store)
        case .changed(let difference, let objects):
            #expect(difference.placed.map(\.id) == objects.map(\.key.id))
            #expect(objects.allSatisfy { $0.summary.standing == .live })
            let named = Set((difference.removed + difference.placed.map(\.id)).map(\.string))
            let known = Set(shown)
            for placed in difference.placed { #expect((placed.kind == .inserted) != known.contains(placed.id.string)) }
            #expect(difference.removed.allSatisfy { known.contains($0.string) })
            shown.removeAll(where: named.contains)
            for placed in difference.placed { shown.insert(placed.id.string, at: placed.index) }
        }
    }
}

/// Results of queries that are kept up to date are what a search finds.
@Suite("Store contract: live results") struct LiveResultTests {
    private func query(
        _ condition: ObjectQuery.Condition? = nil, _ steps: [ObjectOrder.Step] = [], isReversed: Bool = false,
        limit: Int = .max
    ) -> ObjectQuery {
        ObjectQuery(
            space: .home, collection: "c", selection: .standing(.live), condition: condition,
            order: ObjectOrder(steps, isReversed: isReversed), limit: limit)
    }

    private func searched(_ query: ObjectQuery, _ store: SQLiteStore) throws -> [String] {
        try store.places(query).map(\.id.string)
    }

    private func advance(_ readers: inout [Reader], _ store: SQLiteStore) throws {
        var results = readers.map(\.result)
        let steps = try store.advance(&results)
        #expect(steps.count == readers.count)
        for (index, step) in steps.enumerated() {
            readers[index].result = results[index]
            try readers[index].take(step, store)
        }
    }

    private var queries: [ObjectQuery] {
        let (n, t) = (ObjectOrder.Key.field(["n"]), ObjectOrder.Key.field(["t"]))
        return [
            query(), query(.compare(["n"], .less, 5)), query(.compare(["n"], .less, 5), limit: 2),
            query(nil, [.init(n)], limit: 1), query(nil, [.init(n, isDescending: true), .init(t)], limit: 4),
            query(.not(.compare(["t"], .prefix, "a")), [.init(t)], isReversed: true),
            query(.any([.compare(["t"], .equal, "ab"), .isIn(["n"], [1, 2, 7])]), [.init(.created)], limit: 3),
            query(nil, [.init(.changed, isDescending: true)], limit: 5),
            query(nil, [.init(n)], isReversed: true, limit: 3), query(nil, [.init(n, isDescending: true)], limit: 2),
        ]
    }

    @Test(arguments: StoreKind.allCases, [1, 2, 3, 4] as [UInt64])
    func `differences lead to what a search finds, whatever is written`(kind: StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"indexed":["n"]}"#))
        var readers = try queries.map { try Reader($0, store) }
        for _ in 0..<120 {
            for _ in 0...Int.random(in: 0...3, using: &random) {
                let name =
                    "\(Int.random(in: 0..<8, using: &random) == 0 ? "d" : "c")/\(Int.random(in: 0..<12, using: &random))"
                let (n, t) = (
                    Int.random(in: 0..<9, using: &random), ["a", "ab", "b", ""].randomElement(using: &random)!
                )
                let writes: [ObjectWrite]
                switch Int.random(in: 0..<40, using: &random) {
                case 0:
                    writes = [
                        .schema(
                            "c", [#"{"indexed":["n"]}"#, #"{"fields":{"n":"counter"}}"#].randomElement(using: &random)!)
                    ]
                case 1..<8: writes = [.deleting(name)]
                case 8..<14:
                    writes = [
                        .putting("\(name)-\(Int.random(in: 0..<1_000, using: &random))", #"{"n":\#(n),"t":"\#(t)"}"#)
                    ]
                case 14..<20: writes = [.putting(name, #"{"t":"\#(t)"}"#, replacing: true)]
                case _: writes = [.putting(name, #"{"n":\#(n),"t":"\#(t)"}"#)]
                }
                // A deleted object is not written again.
                _ = try store.append([.planned(writes)], wallMilliseconds: Int64(1_000 + n))
            }
            // Some readers fall behind.
            var due = readers.indices.filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
            due.shuffle(using: &random)
            var some = due.map { readers[$0] }
            try advance(&some, store)
            for (index, reader) in zip(due, some) {
                readers[index] = reader
                #expect(try reader.shown == searched(reader.query, store), "\(reader.query)")
            }
        }
        #expect(readers[0].shown.count > 5)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a step says how each object came to its place`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for n in 1...4 { try store.write(.putting("c/\(n)", #"{"n":\#(n * 10)}"#)) }
        var readers = [try Reader(query(nil, [.init(.field(["n"]))], limit: 3), store)]
        func step() throws -> LiveDifference? {
            var results = readers.map(\.result)
            let steps = try store.advance(&results)
            readers[0].result = results[0]
            try readers[0].take(steps[0], store)
            guard case .changed(let difference, _) = steps[0] else { return nil }
            return difference
        }
        func placed(_ difference: LiveDifference?) -> [String] {
            difference?.placed.map { "\($0.kind) \($0.id) \($0.index)" } ?? []
        }
        #expect(readers[0].shown == ["1", "2", "3"])
        try store.write(.putting("c/2", #"{"t":"x"}"#))
        #expect(try placed(step()) == ["changed 2 1"])
        try store.write(.putting("c/1", #"{"n":25}"#))
        #expect(try placed(step()) == ["moved 1 1"])
        try store.write(.putting("c/5", #"{"n":1}"#))
        let pushed = try step()
        #expect(placed(pushed) == ["inserted 5 0"] && pushed?.removed == ["3"])
        try store.write(.deleting("c/5"))
        let back = try step()
        #expect(placed(back) == ["inserted 3 2"] && back?.removed == ["5"])
        // What lies behind the limit, and what is of another collection, is nobody's concern.
        try store.write(.putting("c/4", #"{"n":50}"#), .putting("d/1", "{}"))
        #expect(try step() == nil)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `a short list of a long one is filled again when what was kept runs out`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        func name(_ n: Int) -> String { "c/\(10_000 + n)" }
        try store.write((0..<1_300).map { .putting(name($0), #"{"n":\#($0)}"#) }, at: 1_000)
        var readers = [try Reader(query(nil, [.init(.field(["n"]))], limit: 2), store)]
        #expect(readers[0].result.reservedCount == 1_002, "more are kept than are shown, and not all")
        for start in stride(from: 0, to: 1_290, by: 30) {
            try store.write((start..<start + 30).map { .deleting(name($0)) }, at: 1_000)
            // Behind the last place that is kept, and before the first.
            try store.write(.putting("c/z\(start)", #"{"n":2000}"#), .putting("c/a\(start)", #"{"n":-\#(start)}"#))
            try store.write(.deleting("c/a\(start)"))
            try advance(&readers, store)
            #expect(try readers[0].shown == searched(readers[0].query, store))
        }
        store.close()
    }

    /// So many that the result, and what fills it again, are found in the order of an index.
    @Test(arguments: [false, true])
    func `a short list in the order of an index is filled again from it`(isReversed: Bool) throws {
        let store = try StoreBed(.sqliteInTmpfs).open()
        let count = 4_000
        try store.write(.schema("c", #"{"indexed":["n"]}"#))
        // By value, not by id; some have none.
        func name(_ n: Int) -> String { "c/\(10_000 + n * 7919 % count)" }
        func fill(_ store: SQLiteStore) throws {
            for start in stride(from: 0, to: count, by: 1_000) {
                let numbers = start..<start + 1_000
                try store.write(
                    numbers.map { .putting(name($0), $0 < 30 ? "{}" : #"{"n":\#($0 / 2)}"#) }, at: 1_000)
            }
        }
        try fill(store)
        let query = query(nil, [.init(.field(["n"]))], isReversed: isReversed, limit: 2)
        var wide = query
        wide.limit = Self.capacity
        #expect(try store.cost(of: wide) == QueryCost(order: "n", examined: 0, matched: wide.limit))
        var readers = [try Reader(query, store)]
        #expect(readers[0].result.reservedCount == wide.limit)
        let plain = try StoreBed(.sqliteInTmpfs).open()
        let stored = isReversed ? (0..<count).reversed() : Array(0..<count)
        try fill(plain)
        for start in stride(from: 0, to: 1_200, by: 100) {
            let gone = stored[start..<start + 100].map { ObjectWrite.deleting(name($0)) }
            for each in [store, plain] { try each.write(gone, at: 1_000) }
            try advance(&readers, store)
            #expect(try readers[0].shown == searched(query, plain), "behind \(start) objects that went")
        }
        #expect(try searched(wide, store) == searched(wide, plain))
        for each in [store, plain] { each.close() }
    }

    private static let capacity = 1_002

    @Test(arguments: StoreKind.allCases)
    func `a reader goes on from a position, and after too much begins anew`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for n in 0..<6 { try store.write(.putting("c/\(n)", #"{"n":\#(n)}"#)) }
        let query = query(.compare(["n"], .less, 4), [.init(.field(["n"]), isDescending: true)])
        let reader = try Reader(query, store)
        let position = reader.result.position
        try store.write(
            .putting("c/5", #"{"n":0}"#), .putting("c/0", #"{"n":9}"#), .deleting("c/1"), .putting("d/1", "{}"))
        let (result, step) = try store.liveResult(of: query, since: position)
        guard case .changed(let difference, _) = step else {
            Issue.record("the difference is \(step)")
            return
        }
        #expect(difference.removed.map(\.string).sorted() == ["0", "1"] && difference.placed.map(\.id.string) == ["5"])
        #expect(result.ids.map(\.string) == ["3", "2", "5"])
        guard case .unchanged = try store.liveResult(of: query, since: result.position).step else {
            Issue.record("nothing has changed since")
            return
        }
        try store.write((0..<2_100).map { .putting("c/x\($0)", #"{"n":1}"#) }, at: 1_000)
        guard case .outdated = try store.liveResult(of: query, since: position).step else {
            Issue.record("2,100 changes are one difference")
            return
        }
        // With a limit the result is short, and what lay behind it is not known.
        guard case .outdated = try store.liveResult(of: self.query(limit: 2), since: result.position).step else {
            Issue.record("a result with a limit was told by its changes")
            return
        }
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `an object that a reader was never shown is replaced by the next`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for n in 0..<4 { try store.write(.putting("c/\(n)", #"{"n":\#(n)}"#)) }
        var readers = [try Reader(query(nil, [.init(.field(["n"]))], limit: 2), store)]
        // As when a first result is sent piece by piece, and an object of it went before its turn came.
        try store.write(.deleting("c/1"))
        readers[0].result.remove("1")
        readers[0].shown = readers[0].result.ids.map(\.string)
        #expect(readers[0].shown == ["0", "2"])
        try advance(&readers, store)
        try store.write(.putting("c/2", #"{"t":"x"}"#), .deleting("c/0"))
        try advance(&readers, store)
        #expect(readers[0].shown == ["2", "3"])
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `what comes behind a limit does not make a result begin anew`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write((0..<1_100).map { .putting("c/a\($0)", "{}") }, at: 1_000)
        let reader = try Reader(query(limit: 3), store)
        try store.write((0..<2_300).map { .putting("c/b\($0)", "{}") }, at: 1_000)
        var results = [reader.result]
        guard case .unchanged = try store.advance(&results)[0] else {
            Issue.record("objects that are not shown changed a result")
            return
        }
        store.close()
    }

    /// The first life of the object ended long ago; that it is kept until the deletion is collected shows nowhere.
    @Test(arguments: StoreKind.allCases)
    func `an object that was created again is as old as what is shown`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"deletePolicy":"updateWins"}"#))
        try store.write(.putting("c/old", "{}"))
        try store.write(.putting("c/new", "{}"))
        try store.write(.deleting("c/old"))
        try store.write(.putting("c/old", "{}"))
        #expect(try searched(query(nil, [.init(.created)]), store) == ["new", "old"])
        store.close()
    }

    /// Created and deleted before a peer heard of it, an object leaves no row: no change says that it went.
    @Test(arguments: StoreKind.allCases)
    func `a reader that is behind when rows are removed begins anew`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.putting("c/a", "{}"))
        try store.leaveOpen()
        try store.write(.putting("c/b", "{}"))
        var readers = [try Reader(query(), store)]
        #expect(readers[0].shown == ["a", "b"])
        try store.write(.deleting("c/b"), .putting("d/b", "{}"))
        try store.write(.deleting("d/b"))
        _ = try store.seal()
        #expect(try store.object("c/b") == nil, "the row is gone")
        try advance(&readers, store)
        #expect(readers[0].shown == ["a"])
        guard case .outdated = try store.liveResult(of: query(), since: 0).step else {
            Issue.record("a reader may have been shown what was removed since")
            return
        }
        guard case .unchanged = try store.liveResult(of: query(), since: store.objectPosition()).step else {
            Issue.record("one that saw the deletion needs nothing")
            return
        }
        store.close()
    }
}
