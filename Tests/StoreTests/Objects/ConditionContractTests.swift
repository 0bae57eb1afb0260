import SyncModel
import SyncStore
import Testing

private typealias Condition = ObjectQuery.Condition

/// Conditions: what they mean, and that an index finds what a look at every object finds.
@Suite("Store contract: conditions on objects")
struct ConditionContractTests {
    /// JSON texts in their order, each less than the next; those in one row are equal.
    private static let numbers = [
        ["-1e300"], ["-9223372036854775808", "-9223372036854775808.0"], ["-9223372036854775807"], ["-2"], ["-1.5"],
        ["-1", "-1.0"], ["0", "0.0"], ["5e-324"], ["0.5"], ["1", "1.0", "1e0"],
        ["9007199254740992", "9007199254740992.0"],
        ["9007199254740993"], ["9007199254740994"], ["9223372036854775807"], ["9223372036854775808.0"], ["1e300"],
    ]
    private static let texts = [
        #""""#, #""\u0000""#, #""\u0000\u0001""#, #""\u0001""#, #""\u0002""#, #""a""#, #""a\u0000""#, #""ab""#, #""b""#,
        #""e\u0301""#, #""\u00e9""#, #""\ud83d\ude00""#,
    ].map { [$0] }
    private static let others = ["[]", "[1]", #"{"k":1}"#, #"["a",null]"#]

    private func open(_ kind: StoreKind, _ values: [String]) throws -> SQLiteStore {
        let store = try StoreBed(kind).open()
        try store.write(.schema("indexed", #"{"indexed":["f","g"]}"#))
        for (index, value) in values.enumerated() {
            for collection in ["plain", "indexed"] {
                let other = values[(index * 7 + 3) % values.count]
                try store.write(.putting("\(collection)/v\(index)", #"{"f":\#(value),"g":\#(other)}"#))
            }
        }
        for collection in ["plain", "indexed"] { try store.write(.putting("\(collection)/none", "{}")) }
        return store
    }

    private func find(_ store: SQLiteStore, _ collection: ExactString, _ condition: Condition) throws -> [String] {
        var query = ObjectQuery(
            space: .home, collection: collection, selection: .standing(.live), condition: condition, limit: 7)
        var found: [String] = []
        while true {
            let page = try store.objects(query)
            found += page.map(\.key.id.string)
            guard page.count == 7, let last = page.last else { break }
            query.after = last.key
        }
        let cost = try store.cost(of: query)
        #expect(cost.matched == found.count, "a count differs from a list")
        return found
    }

    /// - Returns: what both collections give for the condition.
    private func both(
        _ store: SQLiteStore, _ condition: Condition, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> [String] {
        let plain = try find(store, "plain", condition)
        #expect(try find(store, "indexed", condition) == plain, "\(condition)", sourceLocation: sourceLocation)
        return plain
    }

    @Test(arguments: StoreKind.allCases)
    func `comparisons follow the order of numbers and of texts, exactly`(kind: StoreKind) throws {
        for rows in [Self.numbers, Self.texts] {
            let values = rows.flatMap(\.self)
            let ranks = rows.indices.flatMap { rank in rows[rank].map { _ in rank } }
            let store = try open(kind, values + Self.others + ["null", "true", rows == Self.texts ? "1" : #""1""#])
            for (operand, rank) in zip(values, ranks) {
                let json = JSONValue(json: operand)
                func expect(_ comparison: Condition.Comparison, _ holds: (Int) -> Bool) throws {
                    let expected = values.indices.filter { holds(ranks[$0]) }.map { "v\($0)" }.sorted()
                    #expect(try both(store, .compare(["f"], comparison, json)) == expected, "\(comparison) \(operand)")
                }
                try expect(.equal) { $0 == rank }
                try expect(.less) { $0 < rank }
                try expect(.lessOrEqual) { $0 <= rank }
                try expect(.greater) { $0 > rank }
                try expect(.greaterOrEqual) { $0 >= rank }
                let unequal = try both(store, .compare(["f"], .notEqual, json))
                #expect(unequal.count == values.count + Self.others.count + 4 - rows[rank].count)
                #expect(try both(store, .not(.compare(["f"], .equal, json))) == unequal)
            }
            store.close()
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a text has beginnings and parts, and an absent field is like null`(kind: StoreKind) throws {
        let values = [
            #""milk""#, #""mi""#, #""Milk""#, #""\u0001a""#, #""\u0001""#, "null", #"["milk","mi"]"#, "[[1.0]]", "5",
        ]
        let store = try open(kind, values)
        func found(_ comparison: Condition.Comparison, _ operand: String) throws -> [String] {
            try both(store, .compare(["f"], comparison, JSONValue(json: operand)))
        }
        #expect(try found(.prefix, #""mi""#) == ["v0", "v1"])
        #expect(try found(.prefix, #""""#) == ["v0", "v1", "v2", "v3", "v4"])
        #expect(try found(.prefix, #""\u0001""#) == ["v3", "v4"])
        #expect(try found(.prefix, "5") == [])
        #expect(try found(.contains, #""il""#) == ["v0", "v2"])
        #expect(try found(.contains, #""mi""#) == ["v0", "v1", "v6"])
        #expect(try found(.contains, "[1]") == ["v7"])
        #expect(try found(.equal, "null") == ["none", "v5"])
        #expect(try found(.equal, "[[1]]") == ["v7"])
        #expect(try both(store, .isIn(["f"], ["mi", 5, 5])) == ["v1", "v8"])
        #expect(try both(store, .isIn(["f"], [JSONValue(json: "5.0"), .null])) == ["none", "v5", "v8"])
        #expect(try both(store, .isIn(["f"], [])) == [])
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `SQL in a name or a value is text`(kind: StoreKind) throws {
        let values = [
            #""' OR '1'='1""#, #""'); DROP TABLE object; --""#, #""\" OR 1=1 --""#, #""x' UNION SELECT 1 --""#,
            #""%""#, #""?1""#, #"":a""#, #""a' || 'b""#,
        ]
        let store = try open(kind, values)
        for (index, value) in values.enumerated() {
            for comparison in [Condition.Comparison.equal, .prefix, .contains] {
                #expect(try both(store, .compare(["f"], comparison, JSONValue(json: value))) == ["v\(index)"])
            }
            #expect(try both(store, .isIn(["f"], [JSONValue(json: value)])) == ["v\(index)"])
        }
        #expect(try both(store, .compare(["f' OR '1'='1"], .equal, JSONValue(json: "1"))) == [])
        let name = "x'); DROP TABLE object; --"
        try store.write(.schema(name, #"{"indexed":["f\"); DROP TABLE object; --"]}"#))
        try store.write(.putting("\(name)/' OR '1'='1", #"{"f\"); DROP TABLE object; --":"here"}"#))
        let there = Condition.compare(["f\"); DROP TABLE object; --"], .equal, JSONValue(json: #""here""#))
        #expect(try find(store, ExactString(name), there) == ["' OR '1'='1"])
        #expect(try both(store, .compare(["f"], .equal, .null)) == ["none"])
        store.close()
    }

    @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
    func `random conditions find the same with an index and without`(kind: StoreKind, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let values = (Self.numbers + Self.texts).flatMap(\.self) + Self.others + ["null", "true", "false"]
        let store = try open(kind, values)
        func operand() -> JSONValue { JSONValue(json: values.randomElement(using: &random)!) }
        func condition(_ depth: Int) -> Condition {
            let field: ExactString = Bool.random(using: &random) ? "f" : "g"
            switch Int.random(in: 0..<(depth == 0 ? 5 : 9), using: &random) {
            case 0: return .isIn([field], (0..<3).map { _ in operand() })
            case 1...4:
                let all: [Condition.Comparison] = [
                    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .prefix, .contains,
                ]
                return .compare([field], all.randomElement(using: &random)!, operand())
            case 5: return .not(condition(depth - 1))
            case 6: return .any((0..<2).map { _ in condition(depth - 1) })
            case _: return .all((0..<3).map { _ in condition(depth - 1) })
            }
        }
        var (found, indexed) = (0, 0)
        for _ in 0..<300 {
            let condition = condition(2)
            found += try both(store, condition).count
            let query = ObjectQuery(
                space: .home, collection: "indexed", selection: .standing(.live), condition: condition, limit: 1)
            if try store.cost(of: query).index != nil { indexed += 1 }
        }
        #expect(found > 1_000 && indexed > 50, "the conditions find \(found), \(indexed) by an index")
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `the index that finds fewest is looked up, and alone it counts`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"indexed":["done","owner"]}"#))
        for index in 0..<50 {
            try store.write(.putting("c/\(index)", #"{"done":\#(index > 0),"owner":"p\#(index % 10)","n":\#(index)}"#))
        }
        func cost(_ condition: Condition?) throws -> QueryCost {
            try store.cost(
                of: ObjectQuery(
                    space: .home, collection: "c", selection: .standing(.live), condition: condition, limit: 1))
        }
        let done = Condition.compare(["done"], .equal, true)
        let owner = Condition.compare(["owner"], .equal, "p3")
        #expect(try cost(done) == QueryCost(index: "done", examined: 0, matched: 49))
        #expect(try cost(.all([done, owner])) == QueryCost(index: "owner", examined: 5, matched: 5))
        #expect(try cost(.all([.not(done), owner])) == QueryCost(index: "owner", examined: 5, matched: 0))
        #expect(try cost(.compare(["n"], .less, 3)) == QueryCost(index: nil, examined: 50, matched: 3))
        #expect(try cost(.any([done, owner])) == QueryCost(index: nil, examined: 50, matched: 49))
        #expect(
            try cost(.all([.compare(["owner"], .greaterOrEqual, "p3"), .compare(["owner"], .less, "p5")]))
                == QueryCost(index: "owner", examined: 10, matched: 10))
        #expect(try cost(nil) == QueryCost(index: nil, examined: 0, matched: 50))
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `several fields order a list, each up or down`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let texts = [#""""#, #""a""#, #""a\u0000""#, #""a\u0001""#, #""ab""#, "null", "2", "10", #"[1]"#]
        for (row, first) in texts.enumerated() {
            for (column, second) in texts.enumerated() {
                try store.write(.putting("c/\(row)\(column)", #"{"a":\#(first),"b":\#(second)}"#))
            }
        }
        // null, numbers, texts, all else.
        let ranks = [5, 6, 7, 0, 1, 2, 3, 4, 8]
        func ids(_ order: ObjectOrder) throws -> [String] {
            var (order, found): (ObjectOrder, [String]) = (order, [])
            while true {
                let page = try store.places(
                    ObjectQuery(space: .home, collection: "c", selection: .standing(.live), order: order, limit: 10))
                found += page.map(\.id.string)
                guard page.count == 10, let last = page.last else { return found }
                #expect(last.key.count <= ObjectOrder.keyByteLimit)
                order.after = last
            }
        }
        let (up, down) = (ranks.map(String.init), ranks.reversed().map(String.init))
        let (a, b) = (ObjectOrder.Key.field(["a"]), ObjectOrder.Key.field(["b"]))
        func expected(_ first: [String], _ second: [String]) -> [String] {
            first.flatMap { one in second.map { one + $0 } }
        }
        #expect(try ids(ObjectOrder([.init(a), .init(b)])) == expected(up, up))
        #expect(try ids(ObjectOrder([.init(a), .init(b, isDescending: true)])) == expected(up, down))
        #expect(try ids(ObjectOrder([.init(a, isDescending: true), .init(b)])) == expected(down, up))
        #expect(
            try ids(ObjectOrder([.init(a, isDescending: true), .init(b)], isReversed: true)) == expected(up, down))
        store.close()
    }
}

extension ConditionContractTests {
    /// A condition reads a field without reading the whole object: by a shorter way that must show the same.
    @Test(arguments: StoreKind.allCases, [1, 2] as [UInt64])
    func `a field alone reads as it does in the whole object`(kind: StoreKind, seed: UInt64) throws {
        let stores = try introduced(kind, count: 2)
        var writes = RandomWrites(seed: seed)
        var compared = 0
        for round in 0..<400 {
            let store = stores[round % 2]
            _ = try store.append([writes.write(on: store)], wallMilliseconds: 1_000)
            if round % 10 == 9 { try converge(stores) }
            for name in RandomWrites.names {
                guard let object = try store.object(name) else { continue }
                let schema = try store.schema(of: object.key.collection, space: .home)
                for field in object.reading(schema, isLive: { _ in true }).fields {
                    #expect(object.value(at: [field.key], schema) == field.value)
                    compared += 1
                }
            }
        }
        #expect(compared > 1_000)
        for store in stores { store.close() }
    }
}
