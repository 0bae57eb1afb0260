import SyncModel
import SyncStore
import Testing

/// What a store does about devices that were let go: the same for every kind.
@Suite struct CutContractTests {
    private static let note = ObjectKey(collection: "note", id: "1")

    private func key(_ id: String) -> ObjectKey { ObjectKey(collection: "note", id: ExactString(id)) }

    private func put(_ store: SQLiteStore, _ key: ObjectKey, _ title: JSONValue, field: ExactString = "title")
        throws
    {
        let write = ObjectWrite.put(key, .init(fields: [JSONValue.Member(key: field, value: title)]))
        let outcome = try store.append([.planned([write])], wallMilliseconds: 1_700_000_000_000).outcomes[0]
        if case .failure(let refusal) = outcome { Issue.record("\(refusal.reason)") }
    }

    private func text(_ store: SQLiteStore, _ key: ObjectKey, _ field: ExactString = "title") throws -> JSONValue? {
        guard let object = try store.object(key, space: .home), object.summary.standing == .live else { return nil }
        guard
            case .object(let members) = object.reading(
                try store.schema(of: key.collection, space: .home), isLive: { _ in true }
            ).json
        else { return nil }
        return members.first { $0.key == field }?.value
    }

    private func retire(_ store: SQLiteStore, _ device: TestDevice) throws {
        _ = try store.append([.retire(device.id)], wallMilliseconds: 1_700_000_000_000)
    }

    private func readmit(_ store: SQLiteStore, _ device: TestDevice) throws {
        _ = try store.append([[.addMember(device.fact)]], wallMilliseconds: 1_700_000_000_000)
    }

    private func expectEqual(_ stores: [SQLiteStore], sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(Set(try stores.map { try $0.state().digest }).count == 1, sourceLocation: sourceLocation)
        for store in stores {
            #expect(try store.recomputedDigest(of: .home) == store.state().digest, sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `what lies beyond the end goes when the cut comes, and was never there for who heard of the cut first`(
        kind: StoreKind
    ) throws {
        // 0 holds what 1 wrote, 2 lets 1 go without having seen it.
        let stores = try introduced(kind, count: 3)
        try put(stores[0], Self.note, "from 0")
        try converge(stores)
        try put(stores[1], Self.note, "beyond the end")
        try put(stores[1], key("2"), "beyond the end")
        _ = try stores[1].append([[.event("log", "1")]], wallMilliseconds: 1)
        try stores[0].pull(from: stores[1])
        #expect(try text(stores[0], Self.note) == "beyond the end")
        try retire(stores[2], TestDevice(2))
        try converge([stores[0], stores[2]])
        for store in [stores[0], stores[2]] {
            #expect(try text(store, Self.note) == "from 0")
            #expect(try text(store, key("2")) == nil)
            #expect(
                try store.events(
                    EventQuery(space: .home, stream: "log", order: .arrival(after: 0), limit: 10, byteBudget: 1 << 20)
                ).count == 1)
            #expect(try store.touches(of: Self.note, space: .home).count == 1)
        }
        try expectEqual([stores[0], stores[2]])
    }

    @Test(arguments: StoreKind.allCases)
    func `what one built on who had not heard of it comes back with his word`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 4)
        try converge(stores)
        try put(stores[1], key("seen"), "by 1")
        try stores[3].pull(from: stores[1])
        try put(stores[3], key("built"), "by 3, who had seen it")
        try retire(stores[2], TestDevice(2))
        // The cut, then what it made void, then the word that keeps it.
        try stores[0].pull(from: stores[2])
        try stores[0].pull(from: stores[1])
        #expect(try text(stores[0], key("seen")) == nil)
        try stores[0].pull(from: stores[3])
        #expect(try text(stores[0], key("seen")) == "by 1")
        try converge(stores)
        try expectEqual(stores)
    }

    @Test(arguments: StoreKind.allCases)
    func `a device that was let go writes nothing until it is let in, and then all of it again`(kind: StoreKind) throws
    {
        let stores = try introduced(kind, count: 3)
        try put(stores[1], Self.note, "shared")
        try converge(stores)
        let schema = JSONValue.object([
            .init(
                key: "fields",
                value: .object([.init(key: "body", value: "text"), .init(key: "plays", value: "counter")]))
        ])
        _ = try stores[1].append([.planned([.setSchema("note", schema)])], wallMilliseconds: 1)
        try put(stores[1], Self.note, "Dear all.", field: "body")
        try converge(stores)
        // Written here while nobody listens: the store under test is the one that is let go.
        try put(stores[0], Self.note, "Dear all, far and wide.", field: "body")
        try put(stores[0], Self.note, "Dear all, far and very wide.", field: "body")
        try put(stores[0], key("mine"), "first", field: "body")
        try put(stores[0], key("mine"), "first and last", field: "body")
        try put(stores[1], Self.note, "Dear all. Yours, 1", field: "body")
        try retire(stores[1], TestDevice(1))
        try stores[0].pull(from: stores[1])
        #expect(try text(stores[0], Self.note, "body") == "Dear all. Yours, 1")
        #expect(throws: StoreError.retired) { try put(stores[0], key("more"), "now") }
        #expect(throws: StoreError.retired) { _ = try stores[0].rewriteVoid(limit: 100, wallMilliseconds: 1) }
        try readmit(stores[2], TestDevice(1))
        #expect(try stores[2].state().cuts.isAway(TestDevice(1).id) == false, "2 did not know of the cut")
        try stores[2].pull(from: stores[1])
        try readmit(stores[2], TestDevice(1))
        try stores[0].pull(from: stores[2])
        try put(stores[0], key("more"), "now")
        // A step at a time: what was written again in one is built upon in the next.
        while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
        #expect(try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1).commit.segments.isEmpty)
        try converge(stores)
        for store in stores {
            #expect(try text(store, Self.note, "body") == "Dear all, far and very wide. Yours, 1")
            #expect(try text(store, key("mine"), "body") == "first and last")
            #expect(try text(store, key("more")) == "now")
        }
        try expectEqual(stores)
    }

    @Test(arguments: StoreKind.allCases)
    func `cuts survive a crash, and what was written again is not written twice`(kind: StoreKind) throws {
        let bed = StoreBed(kind, device: TestDevice(1))
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        var store = try bed.open()
        _ = try store.append([[.addMember(TestDevice(2).fact)]], wallMilliseconds: 1)
        try other.pull(from: store)
        _ = try other.append([[.addMember(TestDevice(1).fact)]], wallMilliseconds: 1)
        try store.pull(from: other)
        for number in 0..<4 { try put(store, key("\(number)"), "mine") }
        try retire(other, TestDevice(1))
        try readmit(other, TestDevice(1))
        try store.pull(from: other)
        #expect(try store.rewriteVoid(limit: 2, wallMilliseconds: 1).hasMore)
        bed.crash(store)
        store = try bed.open()
        #expect(try store.state().cuts.cuts.count == 1)
        while try store.rewriteVoid(limit: 2, wallMilliseconds: 1).hasMore {}
        #expect(try store.state().counts.objects == 4)
        try other.pull(from: store)
        #expect(try other.state().counts.objects == 4)
        try expectEqual([store, other])
    }

    @Test(arguments: StoreKind.allCases)
    func `an edit of what was deleted meanwhile is listed, and raises nothing`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 2)
        try put(stores[1], Self.note, "shared")
        try converge(stores)
        try put(stores[0], Self.note, "in vain")
        _ = try stores[1].append([.planned([.delete(Self.note, ifVersion: nil)])], wallMilliseconds: 1)
        try retire(stores[1], TestDevice(1))
        try readmit(stores[1], TestDevice(1))
        try stores[0].pull(from: stores[1])
        while try stores[0].rewriteVoid(limit: 100, wallMilliseconds: 1).hasMore {}
        try converge(stores)
        for store in stores { #expect(try text(store, Self.note) == nil) }
        #expect(try stores[0].object(Self.note, space: .home)?.summary.hasConflict == true)
        try expectEqual(stores)
    }

    /// 1, 2 and 3 know each other, 4 nobody yet.
    private func threeAndAStranger(_ kind: StoreKind) throws -> [SQLiteStore] {
        let stores = try (0..<4).map {
            try StoreBed($0 == 0 ? kind : .memory, device: TestDevice(UInt8($0 + 1))).open()
        }
        _ = try stores[0].append(
            [.operations([2, 3].map { .addMember(TestDevice($0).fact) })], wallMilliseconds: 1)
        for store in stores[1...2] { try store.pull(from: stores[0]) }
        try readmit(stores[1], TestDevice(1))
        return stores
    }

    @Test(arguments: StoreKind.allCases)
    func `whom only a void word let in waits for another word, and what it wrote is written again`(kind: StoreKind)
        throws
    {
        // 3 lets 4 in; 2, who has not heard of it, lets 3 go. 1 has seen all of it and said nothing.
        let stores = try threeAndAStranger(kind)
        try put(stores[1], Self.note, "from 2")
        try converge(Array(stores[0...2]))
        try readmit(stores[2], TestDevice(4))
        try stores[3].pull(from: stores[2])
        try put(stores[3], Self.note, "from 4")
        try put(stores[3], key("4"), "from 4")
        try stores[0].pull(from: stores[3])
        #expect(try text(stores[0], Self.note) == "from 4")
        try retire(stores[1], TestDevice(3))
        try stores[0].pull(from: stores[1])
        #expect(try text(stores[0], Self.note) == "from 2")
        #expect(try text(stores[0], key("4")) == nil)
        #expect(try stores[0].state().cuts.isAway(TestDevice(4).id))
        try stores[1].pull(from: stores[0])
        try expectEqual(Array(stores[0...1]))
        // Back again, 3 says once more whom it had let in.
        try readmit(stores[1], TestDevice(3))
        try stores[2].pull(from: stores[1])
        while try stores[2].rewriteVoid(limit: 9, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try stores[3].pull(from: stores[2])
        #expect(try !stores[3].state().cuts.isAway(TestDevice(4).id))
        #expect(try text(stores[3], Self.note) == "from 2")
        while try stores[3].rewriteVoid(limit: 9, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try converge(stores)
        for store in stores {
            #expect(try text(store, Self.note) == "from 4")
            #expect(try text(store, key("4")) == "from 4")
        }
        try expectEqual(stores)
    }

    @Test(arguments: StoreKind.allCases)
    func `who does not know yet that it was let in lets nobody go`(kind: StoreKind) throws {
        let stores = try (0..<3).map {
            try StoreBed($0 == 0 ? kind : .memory, device: TestDevice(UInt8($0 + 1))).open()
        }
        _ = try stores[0].append(
            [.operations([1, 2, 3].map { .addMember(TestDevice($0).fact) })], wallMilliseconds: 1)
        try stores[1].pull(from: stores[0])
        try put(stores[1], Self.note, "from 2")
        try stores[0].pull(from: stores[1])
        // 3 has heard of nothing, and says so all the same.
        let refused = try stores[2].append([.retire(TestDevice(2).id)], wallMilliseconds: 1).outcomes[0]
        guard case .failure(let refusal) = refused else {
            Issue.record("it lets somebody go")
            return
        }
        #expect(refusal.reason == .catchingUp)
        let cut = CutFact(device: TestDevice(2).id, isStrict: false, ends: [])
        _ = try stores[2].append([[.cut(cut)]], wallMilliseconds: 1)
        try stores[0].pull(from: stores[2])
        #expect(try text(stores[0], Self.note) == "from 2")
        #expect(try !stores[0].state().cuts.isAway(TestDevice(2).id))
        // Once it knows, its word counts.
        try stores[2].pull(from: stores[0])
        try retire(stores[2], TestDevice(2))
        try stores[0].pull(from: stores[2])
        #expect(try stores[0].state().cuts.isAway(TestDevice(2).id))
        #expect(try text(stores[0], Self.note) == "from 2")
    }

    @Test(arguments: StoreKind.allCases)
    func `who began anew knowing of a cut speaks for nothing of it, in whatever order others hear`(kind: StoreKind)
        throws
    {
        // 4 alone has seen what 3 wrote last, and 0 lets both go. 4 is let in again, and its next first change knows by those before
        // what 3 wrote, and by itself of the cut.
        let stores = try introduced(kind, count: 5)
        try put(stores[3], Self.note, "from 3")
        try converge(stores)
        try put(stores[3], Self.note, "beyond the end")
        try stores[4].pull(from: stores[3])
        try stores[4].closeIncarnation()
        try put(stores[4], key("1"), "from 4")
        try retire(stores[0], TestDevice(4))
        try retire(stores[0], TestDevice(5))
        try converge(stores)
        try readmit(stores[0], TestDevice(5))
        for store in stores[1...] { try store.pull(from: stores[0]) }
        try put(stores[4], key("2"), "from 4, let in again")
        // 2 is let go by 1, which has not heard from 4 since; 0 has.
        try retire(stores[1], TestDevice(3))
        try stores[0].pull(from: stores[4])
        try converge(Array(stores[0...1]) + [stores[4]])
        #expect(try text(stores[0], Self.note) == "from 3")
        #expect(try text(stores[0], key("2")) == "from 4, let in again")
        #expect(try stores[0].state().cuts.encoded == stores[1].state().cuts.encoded)
        try expectEqual([stores[0], stores[1], stores[4]])
    }

    @Test(arguments: StoreKind.allCases)
    func `one word that counts is enough, whoever else's does not`(kind: StoreKind) throws {
        let stores = try threeAndAStranger(kind)
        try converge(Array(stores[0...2]))
        try readmit(stores[2], TestDevice(4))
        try readmit(stores[0], TestDevice(4))
        try stores[3].pull(from: stores[2])
        try stores[3].pull(from: stores[0])
        try put(stores[3], key("4"), "from 4")
        try stores[0].pull(from: stores[3])
        try retire(stores[1], TestDevice(3))
        try converge(Array(stores[0...1]))
        #expect(try text(stores[0], key("4")) == "from 4")
        #expect(try text(stores[1], key("4")) == "from 4")
        #expect(try !stores[0].state().cuts.isAway(TestDevice(4).id))
        try expectEqual(Array(stores[0...1]))
    }

    @Test(arguments: StoreKind.allCases)
    func `what was half written again when its device was cut once more knows what had counted by then`(kind: StoreKind)
        throws
    {
        let stores = try introduced(kind, count: 2)
        try put(stores[1], Self.note, "shared")
        try converge(stores)
        try put(stores[0], Self.note, "first")
        try put(stores[0], Self.note, "second")
        func comeBack() throws {
            try stores[0].pull(from: stores[1])
            try readmit(stores[1], TestDevice(1))
            try stores[0].pull(from: stores[1])
        }
        try retire(stores[1], TestDevice(1))
        try comeBack()
        #expect(try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore)
        try stores[1].pull(from: stores[0])
        #expect(try text(stores[1], Self.note) == "first")
        #expect(try !stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore)
        try retire(stores[1], TestDevice(1))
        try comeBack()
        #expect(try text(stores[0], Self.note) == "first")
        while try stores[0].rewriteVoid(limit: 9, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try converge(stores)
        for store in stores {
            #expect(try text(store, Self.note) == "second")
            #expect(try store.object(Self.note, space: .home)?.summary.hasConflict == false)
        }
        try expectEqual(stores)
    }

    @Test(arguments: StoreKind.allCases)
    func `what was left to be written again comes behind what stands, void as well, under the history between`(
        kind: StoreKind
    ) throws {
        let stores = try introduced(kind, count: 2)
        try converge(stores)
        try put(stores[0], key("mine"), "first")
        try put(stores[0], key("mine"), "second")
        for _ in 0..<3 {
            try retire(stores[1], TestDevice(1))
            try stores[0].pull(from: stores[1])
            try readmit(stores[1], TestDevice(1))
            try stores[0].pull(from: stores[1])
            // Nobody hears of it in time.
            _ = try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000)
            let shown = try #require(try stores[0].shownObject(key("mine"), space: .home))
            #expect(shown.value(at: ["title"], nil) == "second", "its own screen shows all of it")
        }
        while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try converge(stores)
        for store in stores { #expect(try text(store, key("mine")) == "second") }
        try expectEqual(stores)
    }

    @Test(arguments: [false, true])
    func `work under a later replica is written again behind the work that it builds on`(countingDown: Bool) throws {
        let beds = [StoreBed(.memory, device: TestDevice(1)), StoreBed(.memory, device: TestDevice(2))]
        beds[0].countsDown = countingDown
        let stores = try introduced(beds)
        try converge(stores)
        try put(stores[0], key("mine"), "first")
        try stores[0].closeIncarnation()
        try put(stores[0], key("mine"), "second")
        try retire(stores[1], TestDevice(1))
        try readmit(stores[1], TestDevice(1))
        try stores[0].pull(from: stores[1])
        while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try converge(stores)
        for store in stores { #expect(try text(store, key("mine")) == "second") }
        try expectEqual(stores)
    }

    @Test func `what is written again under two replicas knows all of what its author had known`() throws {
        let stores = try introduced(.memory, count: 2)
        try stores[1].write(.schema("note", #"{"fields":{"tags":"set","plays":"counter"}}"#))
        try put(stores[1], Self.note, "shared")
        try converge(stores)
        try stores[0].write(
            .editing("note/1", "title", .set("first")), .editing("note/1", "tags", .add("x")),
            .editing("note/1", "plays", .increment(3)))
        try stores[0].write(
            .editing("note/1", "title", .set("second")), .editing("note/1", "tags", .remove("x")),
            .editing("note/1", "plays", .unset))
        let before = try #require(try stores[0].json("note/1"))
        try retire(stores[1], TestDevice(1))
        try readmit(stores[1], TestDevice(1))
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore)
        try stores[0].closeIncarnation()
        while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {}
        try converge(stores)
        for store in stores {
            #expect(try store.json("note/1") == before)
            #expect(try store.object(Self.note, space: .home)?.summary.hasConflict == false)
        }
        try expectEqual(stores)
    }

    @Test func `what is written again a third time finds what it hangs from`() throws {
        let stores = try introduced(.memory, count: 2)
        try stores[1].write(.schema("note", #"{"fields":{"body":"text"}}"#))
        try stores[1].write(.putting("note/1", #"{"body":""}"#))
        try converge(stores)
        for text in ["abc", "abcdef", "abcdefghi"] {
            try stores[0].write(.editing("note/1", "body", .set(.string(ExactString(text)))))
        }
        for _ in 0..<2 {
            try retire(stores[1], TestDevice(1))
            try readmit(stores[1], TestDevice(1))
            try stores[0].pull(from: stores[1])
            // None of it arrives elsewhere, and the machine starts anew between the steps.
            while try stores[0].rewriteVoid(limit: 1, wallMilliseconds: 1_700_000_000_000).hasMore {
                #expect(try stores[0].shownObject(Self.note, space: .home)?.value(at: ["body"], nil) == "abcdefghi")
                try stores[0].closeIncarnation()
            }
        }
        try converge(stores)
        for store in stores { #expect(try text(store, Self.note, "body") == "abcdefghi") }
        try expectEqual(stores)
    }
}
