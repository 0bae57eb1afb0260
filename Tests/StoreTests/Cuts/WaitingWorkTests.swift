import LawHistories
import SyncModel
import SyncStore
import Testing

/// What a retired device wrote while it was away, as its own readers see it until it is written again. 0 is under test, 1 retires it,
/// and 2 is another member.
@Suite("Store contract: waiting work") struct WaitingWorkTests {
    private static let own = TestDevice(1)
    private static let text = #"{"fields":{"body":"text","plays":"counter"},"indexed":["kind"]}"#

    /// Everything of the collection as readers of a store see it, by each way on which they read.
    private struct Screen: Equatable {
        var listed: [String: JSONValue] = [:]
        var got: [String: JSONValue] = [:]
        var ofKind: [String] = []
        var sorted: [String] = []
        var count = 0
        var attached: [String] = []
        var live: [String] = []

        init(_ store: SQLiteStore, _ names: [String]) throws {
            let schema = try store.schema(of: "note", space: .home)
            func json(_ object: StoredObject) -> JSONValue? {
                guard object.summary.standing == .live else { return nil }
                return object.reading(schema, isLive: { _ in true }).json
            }
            let all = ObjectQuery(space: .home, collection: "note", selection: .standing(.live), limit: .max)
            for object in try store.objects(all) { listed["\(object.key)"] = json(object) }
            for name in names {
                got[name] = try store.shownObject(ObjectKey(name), space: .home).flatMap(json)
                attached += try store.attached(to: name).map { "\(name): \($0)" }
            }
            ofKind = try store.find("note", where: "kind", is: "mine")
            count = try store.cost(of: all).matched
            var order = all
            order.order = ObjectOrder([.init(.field(["kind"]))])
            sorted = try store.places(order).map(\.id.string)
            live = try store.liveResult(of: order).result.ids.map(\.string)
        }
    }

    private static let names = ["note/shared", "note/mine", "note/gone", "note/late", "note/other"]

    private func begun(_ kind: StoreKind) throws -> [SQLiteStore] {
        let stores = try introduced(kind, count: 3)
        try stores[1].write(.schema("note", Self.text))
        try stores[1].write(.putting("note/shared", #"{"body":"Dear all.","plays":2,"kind":"theirs"}"#))
        try stores[1].write(.putting("note/gone", #"{"kind":"theirs"}"#), .putting("note/other", #"{"kind":"theirs"}"#))
        try stores[1].write(.attaching("old", to: "note/shared"))
        try converge(stores)
        return stores
    }

    /// 0 writes while it is alone.
    private func write(_ store: SQLiteStore) throws {
        try store.write(.editing("note/shared", "body", .set("Dear all, far and wide.")))
        try store.write(.editing("note/shared", "plays", .increment(3)), .attaching("picture", to: "note/shared"))
        try store.write(.putting("note/mine", #"{"body":"first","kind":"mine"}"#))
        try store.write(.editing("note/mine", "body", .set("first and last")), .attaching("map", to: "note/mine"))
        try store.write(.deleting("note/gone"))
    }

    private func admit(_ stores: [SQLiteStore]) throws {
        _ = try stores[1].append([[.addMember(Self.own.fact)]], wallMilliseconds: 1_700_000_000_000)
    }

    @Test(arguments: StoreKind.allCases)
    func `it is there at every step, and what all devices judge has nothing of it`(kind: StoreKind) throws {
        let stores = try begun(kind)
        let store = stores[0]
        try write(store)
        let before = try Screen(store, Self.names)
        #expect(before.listed.count == 3 && before.count == 3 && before.ofKind == ["note/mine"])
        #expect(Set(before.attached) == ["note/shared: old", "note/shared: picture", "note/mine: map"])
        func expectSame(_ step: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
            let now = try Screen(store, Self.names)
            #expect(now == before, "\(step): \(now)", sourceLocation: sourceLocation)
            #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
        }
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 1)
        try store.pull(from: stores[1])
        try expectSame("retired")
        #expect(try store.json("note/mine") == nil && store.json("note/gone") != nil, "as all devices judge it")
        #expect(try store.state().digest == stores[1].state().digest)
        let changed = try store.shownChanges(of: "note", space: .home, after: 0, limit: .max)
        #expect(changed.filter { $0.summary.standing == .live }.count == 3, "nor does a watcher see it go")
        try admit(stores)
        try store.pull(from: stores[1])
        try expectSame("admitted again")
        var steps = 0
        while try store.rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {
            steps += 1
            try expectSame("step \(steps)")
        }
        #expect(steps >= 4)
        try expectSame("written again")
        try converge(stores)
        for other in stores { #expect(try Screen(other, Self.names) == before) }
        #expect(Set(try stores.map { try $0.state().digest }).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `what is shown and does not count yet is not written to`(kind: StoreKind) throws {
        let stores = try begun(kind)
        let store = stores[0]
        try write(store)
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 1)
        try admit(stores)
        try store.pull(from: stores[1])
        let picture = try #require(try store.attachments(.ofObject(ObjectKey("note/shared"))).first).attachment.id
        for write in [
            ObjectWrite.editing("note/shared", "body", .set("other")), .editing("note/mine", "kind", .set("x")),
            .putting("note/mine", "{}"), .deleting("note/shared"), .putting("note/gone", "{}"),
            .attaching("more", to: "note/mine"), .detaching(picture, from: "note/shared"),
        ] {
            #expect(try store.refusal(of: write)?.reason == .writingAgain, "\(write)")
        }
        try store.write(.editing("note/other", "kind", .set("free")), .putting("note/late", #"{"kind":"new"}"#))
        while try store.rewriteVoid(limit: 10, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try store.write(.editing("note/mine", "kind", .set("x")), .deleting("note/shared"))
        try converge(stores)
        #expect(Set(try stores.map { try $0.state().digest }).count == 1)
    }

    @Test(arguments: StoreKind.allCases)
    func `what others write meanwhile shows beside it, and a store that is opened again shows both`(
        kind: StoreKind
    ) throws {
        let bed = StoreBed(kind, device: Self.own)
        var stores = try introduced([
            bed, StoreBed(.memory, device: TestDevice(2)), StoreBed(.memory, device: TestDevice(3)),
        ])
        try stores[1].write(.schema("note", Self.text))
        try stores[1].write(.putting("note/shared", #"{"body":"Dear all.","plays":2}"#))
        try converge(stores)
        try stores[0].write(.editing("note/shared", "body", .set("Dear all, far and wide.")))
        try stores[0].write(.editing("note/shared", "plays", .increment(3)))
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 1)
        try stores[1].write(.editing("note/shared", "body", .set("Dear all. Yours, 1")))
        try stores[1].write(.editing("note/shared", "plays", .increment(10)))
        try stores[0].pull(from: stores[1])
        let expected = JSONValue(json: #"{"body":"Dear all, far and wide. Yours, 1","plays":15}"#)
        #expect(try Screen(stores[0], ["note/shared"]).got["note/shared"] == expected)
        bed.crash(stores[0])
        stores[0] = try bed.open()
        #expect(try Screen(stores[0], ["note/shared"]).got["note/shared"] == expected)
        #expect(try stores[1].shownObject(ObjectKey("note/shared"), space: .home) == stores[1].object("note/shared"))
    }

    private func stores(_ kind: StoreKind, countingDown: Bool = true) throws -> [SQLiteStore] {
        let beds = (1...3).map { StoreBed($0 == 1 ? kind : .memory, device: TestDevice($0)) }
        for bed in beds { bed.countsDown = countingDown }
        return try introduced(beds)
    }

    @Test func `it shows as it will be once it is written again, whatever others did meanwhile`() throws {
        let stores = try introduced(.memory, count: 3)
        for name in ["note/a", "note/b", "note/c", "note/d"] { try stores[1].write(.putting(name, #"{"x":0}"#)) }
        try converge(stores)
        let store = stores[0]
        try store.write(.putting("order/o", #"{"x":1}"#))
        try store.write(.editing("note/a", "x", .set(1)), .editing("note/b", "x", .set(1)))
        try store.write(.deleting("note/c"), .deleting("note/d"))
        try stores[1].write(.putting("order/o", #"{"x":2}"#), at: 5_000)
        try stores[1].write(.deleting("order/o"), at: 5_000)
        // Later than what waits.
        try stores[1].write(.editing("note/a", "x", .set(2)), .editing("note/c", "x", .set(2)), at: 5_000)
        try stores[1].write(.deleting("note/b"), at: 5_000)
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 6_000)
        try admit(stores)
        try store.pull(from: stores[1])
        let names = ["order/o", "note/a", "note/b", "note/c", "note/d"]
        let waiting = try Screen(store, names)
        while try store.rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
        let written = try Screen(store, names)
        #expect(waiting == written)
        #expect(
            waiting.got["order/o"] == JSONValue(json: #"{"x":1}"#) && waiting.got["note/a"]?.members.first?.value == 1)
        #expect(waiting.got["note/b"] == nil && waiting.got["note/c"] != nil && waiting.got["note/d"] == nil)
    }

    @Test(arguments: [false, true])
    func `work under several replicas is written again in the order in which it was written`(countingDown: Bool) throws
    {
        let stores = try stores(.memory, countingDown: countingDown)
        try converge(stores)
        let store = stores[0]
        try store.write(.putting("note/1", #"{"title":"begun"}"#))
        try store.closeIncarnation()
        try store.write(.editing("note/1", "title", .set("edited")), .putting("note/2", #"{"title":"new"}"#))
        try store.closeIncarnation()
        try store.write(.editing("note/2", "title", .set("edited, too")))
        let before = try Screen(store, ["note/1", "note/2"])
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 200)
        try admit(stores)
        try store.pull(from: stores[1])
        repeat {
            #expect(try Screen(store, ["note/1", "note/2"]) == before)
        } while try store.rewriteVoid(
            limit: 1, wallMilliseconds: 300
        ).hasMore
        try converge(stores)
        for other in stores { #expect(try Screen(other, ["note/1", "note/2"]) == before) }
    }

    /// What readers of a store see of the objects that `RandomWrites` writes to.
    private func screen(_ store: SQLiteStore) throws -> [String] {
        var lines: [String] = []
        for name in RandomWrites.names {
            let object = try store.shownObject(ObjectKey(name), space: .home)
            let schema = try store.schema(of: ObjectKey(name).collection, space: .home)
            let standing = object?.summary.standing ?? .nothing
            let json = standing == .live ? object?.reading(schema, isLive: { _ in true }).json : nil
            let attached = try store.attached(to: name).sorted()
            lines.append("\(name) \(standing) \(json.map { "\($0)" } ?? "-") \(attached)")
        }
        for collection in ["a", "b"] {
            for standing in [ObjectStanding.live, .deleted, .undecided] {
                lines.append("\(collection) \(standing) \(try store.find(collection, .standing(standing)))")
            }
            for field in ["r", "n", "d"] {
                lines.append("\(collection) \(field) \(try store.find(collection, where: field, is: .integer(1)))")
            }
        }
        return lines
    }

    @Test(arguments: 1...150)
    func `random work stays on the screen while it waits, and while it is written again`(seed: UInt64) throws {
        let stores = try stores(seed % 4 == 0 ? .sqliteOfLargeObjects : .memory, countingDown: seed % 2 == 0)
        var writes = RandomWrites(seed: seed)
        if seed % 3 == 0 {
            // Another device was away before, and wrote again what it had written.
            try stores[2].write(.editing("a/1", "n", .increment(4), creating: true))
            _ = try stores[1].append([.retire(TestDevice(3).id)], wallMilliseconds: 1)
            _ = try stores[1].append([[.addMember(TestDevice(3).fact)]], wallMilliseconds: 1)
            try stores[2].pull(from: stores[1])
            while try stores[2].rewriteVoid(limit: 1, wallMilliseconds: 1).hasMore {}
            try converge(stores)
        }
        for round in 0..<30 {
            let store = writes.pick(stores)
            _ = try store.append([writes.write(on: store)], wallMilliseconds: Int64(round))
            if writes.below(6) == 0 { try converge(stores) }
        }
        try converge(stores)
        let store = stores[0]
        for round in 0..<20 {
            if writes.below(6) == 0 { try store.closeIncarnation() }
            _ = try store.append([writes.write(on: store)], wallMilliseconds: Int64(100 + round))
        }
        let before = try screen(store)
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 200)
        try store.pull(from: stores[1])
        #expect(try screen(store) == before, "retired")
        try admit(stores)
        try store.pull(from: stores[1])
        var step = 0
        repeat {
            let now = try screen(store)
            #expect(now == before, "step \(step): \(zip(before, now).filter { $0 != $1 })")
            step += 1
        } while try store.rewriteVoid(limit: 1, wallMilliseconds: 300).hasMore
        let now = try screen(store)
        #expect(now == before, "written again: \(zip(before, now).filter { $0 != $1 })")
        try converge(stores)
        for other in stores { #expect(try screen(other) == before) }
    }

    /// Each way on which readers find objects tells the same as reading each of them.
    private func expectConsistent(_ store: SQLiteStore, _ step: String) throws {
        for collection in ["a", "b"] {
            let names = RandomWrites.names.filter { $0.hasPrefix(collection) }
            let schema = try store.schema(of: ExactString(collection), space: .home)
            let objects = try names.compactMap { try store.shownObject(ObjectKey($0), space: .home) }
            for standing in [ObjectStanding.live, .deleted, .undecided] {
                let those = objects.filter { $0.summary.standing == standing }
                #expect(try store.find(collection, .standing(standing)) == those.map { "\($0.key)" }, "\(step)")
            }
            let conflicted = objects.filter(\.summary.hasConflict)
            #expect(try store.find(collection, .conflicted) == conflicted.map { "\($0.key)" }, "\(step)")
            let live = objects.filter { $0.summary.standing == .live }
            let query = ObjectQuery(
                space: .home, collection: ExactString(collection), selection: .standing(.live), limit: .max)
            #expect(try store.cost(of: query).matched == live.count, "\(step)")
            for field in ["r", "n"] {
                let those = live.filter { $0.value(at: [ExactString(field)], schema) == .integer(1) }
                #expect(
                    try store.find(collection, where: field, is: .integer(1)) == those.map { "\($0.key)" }, "\(step)")
            }
            for object in objects {
                let attached = object.state.shownAttachments.newestFirst
                let found = try store.attachments(.ofObject(object.key))
                #expect(found.map(\.attachment) == attached, "\(step)")
                for one in attached.prefix(1) {
                    #expect(try store.attachments(.labelled(one.label)).map(\.attachment) == [one], "\(step)")
                }
            }
        }
        let all = try store.attachments()
        #expect(all.map(\.attachment.key) == all.map(\.attachment.key).sorted().reversed(), "\(step)")
        var (pages, after) = ([StoredAttachment](), CanonicalKey?.none)
        repeat {
            let page = try store.attachments(after: after, limit: 2)
            pages += page
            after = page.count == 2 ? page.last?.attachment.key : nil
        } while after != nil
        #expect(pages == all, "\(step)")
    }

    @Test(arguments: 1...100)
    func `while others write, too, all readers of a device see the same, and in the end all devices`(
        seed: UInt64
    ) throws {
        let stores = try stores(seed % 4 == 0 ? .sqliteOfLargeObjects : .memory, countingDown: seed % 2 == 0)
        var writes = RandomWrites(seed: 1_000 + seed)
        func writeSomewhere(_ stores: ArraySlice<SQLiteStore>, _ count: Int) throws {
            for round in 0..<count {
                let store = writes.pick(Array(stores))
                _ = try store.append([writes.write(on: store)], wallMilliseconds: Int64(round))
            }
        }
        try writeSomewhere(stores[...], 20)
        try converge(stores)
        let store = stores[0]
        try writeSomewhere(stores[...], 30)
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 200)
        try writeSomewhere(stores[1...], 10)
        try store.pull(from: stores[1])
        try expectConsistent(store, "retired")
        try stores[1].pull(from: stores[2])
        try admit(stores)
        try writeSomewhere(stores[1...], 10)
        try store.pull(from: stores[1])
        try writeSomewhere(stores[...0], 10)
        repeat {
            try expectConsistent(store, "written again")
        } while try store.rewriteVoid(
            limit: 1, wallMilliseconds: 300
        ).hasMore
        try converge(stores)
        #expect(Set(try stores.map { try $0.state().digest }).count == 1)
        let expected = try screen(store)
        for other in stores { #expect(try screen(other) == expected) }
    }

    @Test(arguments: StoreKind.allCases)
    func `what a revocation ended shows no more`(kind: StoreKind) throws {
        let stores = try begun(kind)
        let replica = try #require(try stores[0].state().ownReplica)
        let next = try stores[0].vector.next(of: replica)
        try write(stores[0])
        _ = try stores[1].append([.retire(Self.own.id)], wallMilliseconds: 1)
        try stores[0].pull(from: stores[1])
        #expect(try Screen(stores[0], Self.names).got["note/mine"] != nil)
        _ = try stores[0].apply([], judging: [replica: next], wallMilliseconds: 1)
        let screen = try Screen(stores[0], Self.names)
        #expect(screen.got["note/mine"] == nil && screen.got["note/gone"] != nil)
        #expect(screen.attached == ["note/shared: old"])
    }
}
