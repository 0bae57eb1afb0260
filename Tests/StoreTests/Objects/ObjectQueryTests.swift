import SyncModel
import SyncStore
import Testing

/// What every store promises about finding objects.
@Suite("Store contract: finding objects")
struct ObjectQueryTests {
    @Test(arguments: StoreKind.allCases)
    func `objects come in the order of collection and id, page by page`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let names = ["a/1", "a/10", "a/2", "a/e\u{301}", "a/\u{e9}", "b/1", "\u{e9}/1", "e\u{301}/1"]
        for name in names.shuffled() { try store.write(.putting(name, #"{"x":1}"#)) }
        try store.write(.putting("a/3", "{}"), .deleting("a/3"))
        let sorted = names.map { ObjectKey($0) }.sorted().map { "\($0)" }
        func pages(_ collection: String?, _ limit: Int) throws -> [String] {
            var found: [String] = []
            while true {
                let page = try store.find(collection, after: found.last, limit: limit)
                #expect(page.count <= limit)
                if page.isEmpty { return found }
                found += page
            }
        }
        for limit in [1, 2, 3, 100] {
            #expect(try pages(nil, limit).map { Array($0.utf8) } == sorted.map { Array($0.utf8) })
            #expect(try pages("a", limit).count == 5 && pages("\u{e9}", limit).count == 1)
        }
        #expect(try store.find("a", .standing(.deleted)) == ["a/3"] && store.find("none").isEmpty)
        #expect(try store.collections(of: .home).count == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `a page may begin behind an object of any collection`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for name in ["a/1", "b/1", "b/2", "c/1"] { try store.write(.putting(name, "{}")) }
        #expect(try store.find("b", after: "a/1") == ["b/1", "b/2"])
        #expect(try store.find("b", after: "aa/9") == ["b/1", "b/2"])
        #expect(try store.find("b", after: "c/1").isEmpty)
        #expect(try store.find(nil, after: "aa/9") == ["b/1", "b/2", "c/1"])
    }

    @Test(arguments: StoreKind.allCases)
    func `an indexed field finds what a look at every object finds`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let values = ["1", "1.5", "\"1\"", "true", "null", "[1]", #"{"k":1}"#, "\"\u{e9}\"", "\"e\u{301}\"", "\"\""]
        let plain = #"{"indexed":[]}"#
        try store.write(.schema("c", plain))
        for (index, value) in values.enumerated() {
            for copy in 0..<3 { try store.write(.putting("c/\(copy)-\(index)", #"{"f":\#(value),"g":"\#(copy)"}"#)) }
        }
        func all() throws -> [[String]] {
            try values.map { try store.find("c", where: "f", is: JSONValue(json: $0)) }
        }
        let scanned = try all()
        #expect(scanned.map(\.count) == values.map { _ in 3 })
        try store.write(.schema("c", #"{"indexed":["f"]}"#))
        #expect(try all() == scanned, "an index that comes later knows what was there before")
        try store.write(.putting("c/0-0", #"{"f":2}"#), .deleting("c/1-0"))
        #expect(try store.find("c", where: "f", is: 1) == ["c/2-0"] && store.find("c", where: "f", is: 2) == ["c/0-0"])
        #expect(try store.find("c", where: "f", is: 1, after: "c/2-0").isEmpty)
        #expect(try store.find("c", where: "f", is: JSONValue(json: "1.5"), after: "c/0-1", limit: 1) == ["c/1-1"])
        try store.write(.schema("c", plain))
        #expect(try store.find("c", where: "f", is: 2) == ["c/0-0"])
        try store.write(.putting("c/0-0", #"{"f":3}"#))
        try store.write(.schema("c", #"{"indexed":["f","g"]}"#))
        #expect(try store.find("c", where: "f", is: 2).isEmpty && store.find("c", where: "f", is: 3) == ["c/0-0"])
        #expect(try store.find("c", where: "g", is: "0").count == 10)
    }

    @Test(arguments: StoreKind.allCases)
    func `a condition asks for an element of a set or a list, also of an indexed one`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("n", #"{"fields":{"tags":"set"},"indexed":["tags"]}"#))
        try store.write(.putting("n/a", #"{"tags":["x","y"],"l":[1,2]}"#), .putting("n/b", #"{"tags":["y"],"l":[3]}"#))
        try store.write(.putting("n/c", #"{"tags":[],"l":"1"}"#))
        func found(_ field: ExactString, _ value: JSONValue) throws -> [String] {
            try store.objects(
                ObjectQuery(
                    space: .home, collection: "n", selection: .standing(.live),
                    condition: .compare([field], .contains, value), limit: 9)
            ).map(\.key.id.string)
        }
        #expect(try found("tags", "y") == ["a", "b"])
        #expect(try found("tags", "x") == ["a"])
        #expect(try found("l", 1) == ["a"])
        #expect(try found("tags", "z").isEmpty)
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `objects come in the order of a field, page by page, and backwards`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let values = [
            "null", "false", "true", "-9223372036854775808", "-1.5", "0", "0.5", "1", "9007199254740992",
            "9007199254740993", "1e300", #""""#, #""A""#, #""a""#, #""aa""#, #""ä""#, #""😀""#,
        ]
        let sorted = ["none"] + values.indices.map { "v\($0)" } + ["w", "x"]
        for (index, value) in values.enumerated().shuffled() {
            try store.write(.putting("c/v\(index)", #"{"f":{"k":\#(value)}}"#))
        }
        try store.write(
            .putting("c/x", #"{"f":{"k":[]}}"#), .putting("c/none", #"{"f":{}}"#), .putting("c/w", #"{"f":{"k":{}}}"#),
            .putting("d/a", #"{"f":{"k":0}}"#))
        for isReversed in [false, true] {
            var (order, found): (ObjectOrder, [String]) = (
                ObjectOrder([.init(.field(["f", "k"]))], isReversed: isReversed), []
            )
            while true {
                let page = try store.places(
                    ObjectQuery(space: .home, collection: "c", selection: .standing(.live), order: order, limit: 3))
                found += page.map(\.id.string)
                guard page.count == 3, let last = page.last else { break }
                order.after = last
            }
            #expect(found == (isReversed ? sorted.reversed() : sorted))
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `objects come by when they were created or changed, and conditions hold`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        for name in ["c", "a", "d", "b"] { try store.write(.putting("n/\(name)", #"{"x":1}"#)) }
        try store.write(.putting("n/a", #"{"x":2}"#))
        func found(_ order: ObjectOrder, x: JSONValue? = nil) throws -> [String] {
            try store.places(
                ObjectQuery(
                    space: .home, collection: "n", selection: .standing(.live),
                    condition: x.map { .compare(["x"], .equal, $0) }, order: order, limit: 9)
            ).map(\.id.string)
        }
        #expect(try found(ObjectOrder([.init(.created)])) == ["c", "a", "d", "b"])
        #expect(try found(ObjectOrder([.init(.created)], isReversed: true), x: 1) == ["b", "d", "c"])
        #expect(try found(ObjectOrder([], isReversed: true)) == ["d", "c", "b", "a"])
        #expect(try found(ObjectOrder([.init(.changed)])).count == 4)
    }

    @Test(arguments: StoreKind.allCases)
    func `conditions reach below a field, and all of them hold`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"indexed":["f"]}"#))
        try store.write(.putting("c/a", #"{"f":1,"o":{"k":"v"}}"#), .putting("c/b", #"{"f":1,"o":{"k":"w"}}"#))
        #expect(try store.find("c", where: "o/k", is: "v") == ["c/a"])
        let both = ObjectQuery(
            space: .home, collection: "c", selection: .standing(.live),
            condition: .all([.compare(["o", "k"], .equal, "w"), .compare(["f"], .equal, 1)]), limit: 9)
        #expect(try store.objects(both).map { "\($0.key)" } == ["c/b"])
    }

    @Test(arguments: StoreKind.allCases)
    func `a local field that is called indexed is found all the same`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"fields":{"d":"local"},"indexed":["d"]}"#))
        try store.write(.putting("c/a", #"{"d":"mine","x":1}"#))
        #expect(try store.find("c", where: "d", is: "mine") == ["c/a"])
        try store.write(.putting("c/a", #"{"d":"other"}"#))
        #expect(try store.find("c", where: "d", is: "mine").isEmpty)
        #expect(try store.find("c", where: "d", is: "other") == ["c/a"])
    }

    /// The values of a field are kept per type; which one is shown, and so found, the schema says.
    @Test(arguments: StoreKind.allCases)
    func `an index follows a type that a peer's schema changes`(kind: StoreKind) throws {
        let stores = try introduced(kind, count: 3)
        try stores[0].write(.schema("c", #"{"indexed":["f"]}"#), .putting("c/a", #"{"x":1}"#))
        try stores[2].write(.schema("c", #"{"fields":{"f":"counter"}}"#))
        try stores[1].pull(from: stores[0])
        try stores[0].write(.putting("c/a", #"{"f":"word"}"#))
        try stores[1].write(.editing("c/a", "f", .increment(5)))
        try stores[0].pull(from: stores[1])
        #expect(try stores[0].find("c", where: "f", is: "word") == ["c/a"])
        #expect(try stores[0].find("c", .conflicted) == ["c/a"])
        try converge(stores)
        for store in stores {
            #expect(try store.find("c", where: "f", is: 5) == ["c/a"])
            #expect(try store.find("c", where: "f", is: "word").isEmpty)
        }
        // Nothing of the old value stays behind when the object goes on.
        try stores[0].write(.editing("c/a", "f", .increment(1)))
        #expect(try stores[0].find("c", where: "f", is: 6) == ["c/a"])
        #expect(try stores[0].find("c", where: "f", is: 5).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `the feed of changes gives each object once, at its newest change, and can be resumed`(
        kind: StoreKind
    ) throws {
        let bed = StoreBed(kind)
        var store = try bed.open()
        try store.write(.schema("c", #"{"fields":{"d":"local"}}"#))
        for round in 0..<3 {
            for id in 0..<4 { try store.write(.putting("c/\(id)", #"{"n":\#(round * 10 + id)}"#)) }
        }
        try store.write(.putting("other/0", "{}"), .putting("c/1", #"{"n":99}"#))
        try store.write(.deleting("c/2"))
        func feed(_ collection: ExactString?, after position: Int64, limit: Int = 100) throws -> [StoredObject] {
            try store.changedObjects(of: collection, space: .home, after: position, limit: limit)
        }
        let all = try feed(nil, after: 0)
        #expect(all.map { "\($0.key)" } == ["c/0", "c/3", "other/0", "c/1", "c/2"])
        #expect(all.map(\.position) == all.map(\.position).sorted() && Set(all.map(\.position)).count == 5)
        #expect(try all.last?.position == store.objectPosition())
        #expect(try feed("c", after: 0).map { "\($0.key)" } == ["c/0", "c/3", "c/1", "c/2"])
        #expect(try feed("other", after: 0, limit: 1).map { "\($0.key)" } == ["other/0"])
        #expect(try feed(nil, after: 0, limit: 0).isEmpty)
        // Page by page, over a restart.
        var seen: [String] = []
        var position: Int64 = 0
        while let page = try? feed(nil, after: position, limit: 2), let last = page.last {
            seen += page.map { "\($0.key)" }
            position = last.position
            store.close()
            store = try bed.open()
        }
        #expect(seen == all.map { "\($0.key)" })
        // What only this node sees is in the feed too.
        try store.write(.putting("c/0", #"{"d":"draft"}"#))
        #expect(try feed(nil, after: position).map { "\($0.key)" } == ["c/0"])
        let unchanged = try store.objectPosition()
        try store.write(.putting("c/0", #"{"d":"draft"}"#))
        #expect(try store.objectPosition() == unchanged && feed(nil, after: unchanged).isEmpty)
    }
}
