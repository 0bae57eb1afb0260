import SyncModel
import SyncStore
import Testing

private typealias Condition = ObjectQuery.Condition

/// Lists in the order of an indexed field: what is read from the index is what a look at every object finds.
@Suite("Store contract: the order of an index")
struct OrderContractTests {
    private func query(
        _ collection: ExactString, where condition: Condition? = nil, _ order: ObjectOrder, limit: Int
    ) -> ObjectQuery {
        ObjectQuery(
            space: .home, collection: collection, selection: .standing(.live), condition: condition, order: order,
            limit: limit)
    }

    private func ids(_ store: SQLiteStore, _ query: ObjectQuery) throws -> [String] {
        try store.places(query).map(\.id.string)
    }

    /// Reads a list to its end, page by page.
    /// - Returns: the places, and the number of pages that an index gave.
    private func pages(_ store: SQLiteStore, _ query: ObjectQuery) throws -> ([ObjectOrder.Place], walked: Int) {
        var (query, found, walked) = (query, [ObjectOrder.Place](), 0)
        while true {
            let page = try store.places(query)
            #expect(page.count <= query.limit)
            let cost = try store.cost(of: query)
            #expect(cost.matched == page.count, "an explanation counts otherwise than the list")
            if cost.order != nil {
                #expect(cost.index == nil)
                walked += 1
            }
            found += page
            guard page.count == query.limit, let last = page.last else { return (found, walked) }
            query.order?.after = last
        }
    }

    // MARK: Whatever is stored and asked for

    /// JSON texts; nil for an object without the field.
    private static let values: [String?] =
        [
            nil, nil, nil, "null", "null", "false", "true", "true", "[]", "[1]", "[2,1]", #"{"k":1}"#, #"{"k":2}"#,
            "{}", "-1e300", "-9223372036854775808", "-9223372036854775808.0", "-9223372036854777856.0",
            "-9223372036854775807", "-256", "-255.5", "-2", "-1.5", "-1", "-1.0", "-0.0", "0", "0.0", "5e-324", "0.5",
            "1", "1.0", "1.5", "2", "255", "256", "9007199254740992", "9007199254740992.0", "9007199254740993",
            "9007199254740994", "9007199254740994.0", "9007199254740995", "9007199254740996.0", "9223372036854775806",
            "9223372036854775807", "9223372036854775808.0", "1e300",
        ]
        + [
            "", #"\u0000"#, #"\u0000\u0001"#, #"\u0001"#, #"\u0002"#, "a", #"a\u0000"#, #"a\u0001"#, "ab", "b",
            #"e\u0301"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\uffff"#,
        ].map { #""\#($0)""# } + longTexts

    /// Texts that differ before, at and behind each place up to which an order may compare them.
    private static var longTexts: [String] {
        [24, 32, 48, 96].flatMap { limit in
            (-2...1).flatMap { rest in
                ["", "a", "b", #"\u0000"#, #"\u0001a"#, "\u{e9}", #"a\u0000"#].map { end in
                    "\"" + String(repeating: "x", count: limit + rest) + end + "\""
                }
            }
        }
    }

    private struct Asker {
        var random: SeededGenerator

        mutating func pick<Element>(_ elements: [Element]) -> Element { elements.randomElement(using: &random)! }

        mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &random) }

        mutating func value() -> String? {
            // Few in most objects, so that many are equal.
            below(2) == 0 ? pick(values) : pick(["1", "true", #""a""#, nil, "[1]", "1.0"])
        }

        mutating func fields() -> String {
            let members = ["f", "g", "h"].compactMap { name in value().map { #""\#(name)":\#($0)"# } }
            return "{" + members.joined(separator: ",") + "}"
        }

        /// The same for two collections, of which one has indexes.
        mutating func writes() -> [ObjectWrite] {
            let id = "\(below(70))"
            let fields = fields()
            let kind = below(20)
            return ["plain", "indexed"].map { collection in
                let name = "\(collection)/\(id)"
                switch kind {
                case 0..<2: return .deleting(name)
                case 2..<4: return .editing(name, "f", .unset)
                case 4: return .editing(name, "f", .increment(3), creating: true)
                case 5: return .putting("\(name)-\(id)", fields)
                case _: return .putting(name, fields, replacing: kind < 15)
                }
            }
        }

        mutating func condition(_ depth: Int) -> Condition {
            let field = pick(["f", "f", "g", "h"] as [ExactString])
            let operands = (0..<3).map { _ in JSONValue(json: value() ?? "null") }
            switch below(depth == 0 ? 5 : 8) {
            case 0: return .isIn([field], operands)
            case 1...4:
                let all: [Condition.Comparison] = [
                    .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual, .prefix, .contains,
                ]
                return .compare([field], pick(all), operands[0])
            case 5: return .not(condition(depth - 1))
            case 6: return .any((0..<2).map { _ in condition(depth - 1) })
            case _: return .all((0..<2).map { _ in condition(depth - 1) })
            }
        }

        mutating func order() -> ObjectOrder {
            let paths: [[ExactString]] = [["g"], ["h"], ["f", "k"], ["f"]]
            let others = paths.map(ObjectOrder.Key.field) + [.created]
            var steps = [ObjectOrder.Step(.field(["f"]), isDescending: below(2) == 0)]
            let count = pick([0, 0, 0, 1, 1, 2, 3])
            while steps.count <= count { steps.append(.init(pick(others), isDescending: below(2) == 0)) }
            if below(8) == 0 { steps.shuffle(using: &random) }
            return ObjectOrder(steps, isReversed: below(2) == 0)
        }

        /// A place that a client made up from one of the list.
        mutating func forged(_ places: [ObjectOrder.Place]) -> ObjectOrder.Place {
            var key = below(9) == 0 || places.isEmpty ? [] : pick(places).key
            for _ in 0..<below(4) {
                switch below(4) {
                case 0 where !key.isEmpty: key.removeLast(below(key.count))
                case 1: key += (0..<below(5)).map { _ in UInt8.random(in: 0...255, using: &random) }
                case 2 where !key.isEmpty: key[0] = pick(Array(0...7) + Array(248...255))
                case _ where !key.isEmpty: key[below(key.count)] = UInt8.random(in: 0...255, using: &random)
                case _: break
                }
            }
            return ObjectOrder.Place(key: key, id: ExactString("\(below(70))"))
        }
    }

    @Test(arguments: StoreKind.allCases, [1, 2, 3] as [UInt64])
    func `an index gives what a look at every object gives, in the same order`(kind: StoreKind, seed: UInt64) throws {
        var asker = Asker(random: SeededGenerator(seed: seed))
        let all = try introduced(kind, count: 3)
        let (stores, third) = (Array(all[..<2]), all[2])
        try stores[0].write(
            .schema("indexed", #"{"indexed":["f","g"],"deletePolicy":"updateWins"}"#),
            .schema("plain", #"{"deletePolicy":"updateWins"}"#))
        try converge(stores)
        var (walked, sorted, listed) = (0, 0, 0)
        for round in 0..<5 {
            for number in 0..<(round == 0 ? 200 : 40) {
                // Some are refused, then in both collections: it is one change.
                _ = try stores[number % 2].append([.planned(asker.writes())], wallMilliseconds: Int64(1_000 + number))
            }
            if round == 3 {
                // Only a device without objects may set a type that hides values.
                let type = #"{"fields":{"f":"counter"}}"#
                try third.write(.schema("plain", type), .schema("indexed", type))
                try stores[0].pull(from: third)
            }
            if round % 2 == 1 { try converge(stores) }
            for _ in 0..<15 {
                let store = asker.pick(stores)
                let (order, condition) = (asker.order(), asker.below(3) == 0 ? asker.condition(2) : nil)
                let limit = asker.pick([1, 3, 3, 7, 15])
                let expected = try store.places(query("plain", where: condition, order, limit: .max))
                let wanted = query("indexed", where: condition, order, limit: limit)
                let (found, byIndex) = try pages(store, wanted)
                #expect(found == expected, "\(order) \(String(describing: condition)) by \(limit), round \(round)")
                (walked, sorted) = (walked + byIndex, sorted + (byIndex == 0 ? 1 : 0))
                listed += found.count
                var forged = order
                forged.after = asker.forged(expected)
                #expect(
                    try store.places(query("indexed", where: condition, forged, limit: limit))
                        == store.places(query("plain", where: condition, forged, limit: limit)), "\(forged)")
            }
        }
        #expect(walked > 200 && sorted > 0 && listed > 1_000, "\(walked) \(sorted) \(listed)")
        for store in all { store.close() }
    }

    // MARK: What it costs

    private func open(_ kind: StoreKind, _ count: Int, _ fields: (Int) -> String) throws -> SQLiteStore {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"indexed":["title","rank","done","owner"]}"#))
        for start in stride(from: 0, to: count, by: 500) {
            try store.write(
                (start..<min(start + 500, count)).map { .putting("c/\(10_000 + $0)", fields($0)) }, at: 1_000)
        }
        return store
    }

    @Test(arguments: [StoreKind.memory, .sqliteInTmpfs])
    func `a list reads what it shows, and what its condition leaves out`(kind: StoreKind) throws {
        let count = 2_400
        let store = try open(kind, count) { number in
            #"{"title":"task \#(10_000 + number * 7919 % 2_400)","rank":\#(number),"done":\#(number % 2 == 0),"#
                + #""owner":"p\#(number % 100)","n":\#(number)}"#
        }
        func cost(
            _ steps: [ObjectOrder.Step], _ condition: Condition? = nil, reversed: Bool = false
        ) throws -> QueryCost {
            try store.cost(of: query("c", where: condition, ObjectOrder(steps, isReversed: reversed), limit: 50))
        }
        let (title, rank, done) = (
            ObjectOrder.Key.field(["title"]), ObjectOrder.Key.field(["rank"]), ObjectOrder.Key.field(["done"])
        )
        for (isDescending, reversed) in [(false, false), (false, true), (true, false), (true, true)] {
            let step = ObjectOrder.Step(title, isDescending: isDescending)
            #expect(try cost([step], reversed: reversed) == QueryCost(order: "title", examined: 0, matched: 50))
            #expect(
                try cost([step, .init(rank)], reversed: reversed)
                    == QueryCost(order: "title", examined: 50, matched: 50), "titles differ: no group is larger")
            let order = ObjectOrder([step], isReversed: reversed)
            let numbers = try ids(store, query("c", order, limit: 50)).map { Int($0)! - 10_000 }
            let titles = numbers.map { $0 * 7919 % count }
            #expect(titles == (isDescending == reversed ? Array(0..<50) : (0..<50).map { count - 1 - $0 }))
        }
        // Half of the objects meet the condition, one after the other.
        let odd = Condition.compare(["done"], .equal, false)
        #expect(try cost([.init(rank)], odd) == QueryCost(order: "rank", examined: 100, matched: 50))
        let late = Condition.compare(["n"], .greaterOrEqual, 100)
        #expect(try cost([.init(rank)], late) == QueryCost(order: "rank", examined: 150, matched: 50))
        // A range of the same field is where the walk begins and ends.
        let range = Condition.compare(["rank"], .greaterOrEqual, 2_000)
        #expect(try cost([.init(rank)], range).order == "rank")
        #expect(try cost([.init(rank)], range).examined <= 51)
        #expect(try cost([.init(rank, isDescending: true)], range).examined <= 51)
        #expect(try cost([.init(rank)], .compare(["rank"], .greaterOrEqual, 2_350)).order == nil)
        let prefix = Condition.compare(["title"], .prefix, "task 11")
        #expect(try cost([.init(title)], prefix) == QueryCost(order: "title", examined: 0, matched: 50))
        // The index of few objects wins: 24 of 2,400.
        let owner = Condition.compare(["owner"], .equal, "p7")
        #expect(try cost([.init(title)], owner) == QueryCost(index: "owner", examined: 24, matched: 24))
        #expect(try cost([.init(title)], .all([odd, owner])).index == "owner")
        // No index has the order.
        #expect(try cost([.init(.field(["n"]))]) == QueryCost(examined: count, matched: 50))
        #expect(try cost([.init(.field(["n"])), .init(title)]) == QueryCost(examined: count, matched: 50))
        #expect(try cost([.init(.field(["title", "k"]))]) == QueryCost(examined: count, matched: 50))
        #expect(try cost([.init(.created)]) == QueryCost(examined: count, matched: 50))
        #expect(try cost([.init(done), .init(rank)]) == QueryCost(order: "done", examined: 1_200, matched: 50))
        // A page in the middle begins there, also among many that are equal.
        for steps in [[ObjectOrder.Step(done)], [.init(done, isDescending: true)]] {
            for reversed in [false, true] {
                let list = query("c", ObjectOrder(steps, isReversed: reversed), limit: 300)
                let (found, walked) = try pages(store, list)
                #expect(walked == 9, "eight full pages, and one that says that the list has ended")
                #expect(found.map(\.id.string) == (try ids(store, query("c", list.order!, limit: .max))))
                #expect(found.count == count && Set(found.map(\.id)).count == count)
                var middle = list
                middle.order?.after = found[1_000]
                #expect(try store.cost(of: middle) == QueryCost(order: "done", examined: 0, matched: 300))
            }
        }
        // What is nearly the whole list is read object by object, and sorted.
        let whole = query("c", ObjectOrder([.init(title)]), limit: 1_200)
        #expect(try store.cost(of: whole) == QueryCost(examined: count, matched: 1_200))
        let (places, isWhole) = try store.places(whole, sortedLimit: 5_000)
        #expect(places.count == count && isWhole, "all objects were looked at: all places come")
        let first = try store.places(query("c", ObjectOrder([.init(title)]), limit: 50), sortedLimit: 5_000)
        #expect(first.places.count == 50 && !first.isWhole, "the index gives no more than it is asked for")
        store.close()
    }

    @Test(arguments: StoreKind.allCases)
    func `objects without the field come first, and last when it is reversed`(kind: StoreKind) throws {
        let store = try open(kind, 40) { number in
            switch number % 4 {
            case 0: #"{"n":\#(number)}"#
            case 1: #"{"title":null}"#
            case 2: #"{"title":\#(number)}"#
            case _: #"{"title":"t"}"#
            }
        }
        func expected(_ rests: [Int], reversed: Bool) -> [String] {
            rests.flatMap { rest -> [String] in
                let ids = stride(from: rest, to: 40, by: 4).map { "\(10_000 + $0)" }
                return reversed ? ids.reversed() : ids
            }
        }
        let title = ObjectOrder.Key.field(["title"])
        for limit in [1, 3, 10, 19] {
            func list(_ order: ObjectOrder) throws -> [String] {
                let (found, walked) = try pages(store, query("c", order, limit: limit))
                #expect(walked == 40 / limit + 1)
                return found.map(\.id.string)
            }
            #expect(try list(ObjectOrder([.init(title)])) == expected([0, 1, 2, 3], reversed: false))
            #expect(
                try list(ObjectOrder([.init(title)], isReversed: true)) == expected([3, 2, 1, 0], reversed: true))
            let descending = try list(ObjectOrder([.init(title, isDescending: true)]))
            let numbers = expected([2], reversed: true)
            #expect(
                descending == expected([3], reversed: false) + numbers + expected([1, 0], reversed: false),
                "only the values are turned round, not the ids of equal ones")
        }
        // The field comes and goes.
        try store.write(.putting("c/10000", #"{"title":"a"}"#), .editing("c/10002", "title", .unset))
        try store.write(.deleting("c/10004"))
        let now = try ids(store, query("c", ObjectOrder([.init(title)]), limit: 10))
        #expect(
            now == ["10002", "10008", "10012", "10016", "10020", "10024", "10028", "10032", "10036", "10001"])
        store.close()
    }

    // MARK: Stores of before

    /// The indexes as an older program left them.
    private static let aging = "DELETE FROM field_value WHERE value = x''; UPDATE space SET indexes_absent = 0;"

    @Test func `a store of before has the order of its indexes after it is opened`() throws {
        let bed = StoreBed(.sqliteInTmpfs)
        let store = try bed.open()
        try store.write(.schema("c", #"{"indexed":["f"]}"#), .schema("d", #"{"indexed":["g"]}"#))
        for number in 0..<30 {
            try store.write(
                .putting("c/\(100 + number)", number % 3 == 0 ? "{}" : #"{"f":\#(30 - number)}"#),
                .putting("d/\(100 + number)", #"{"f":\#(number)}"#))
        }
        let queries = ["f", "g"].flatMap { (field: ExactString) -> [ObjectQuery] in
            ["c", "d"].flatMap { collection in
                [false, true].map { isReversed in
                    query(
                        collection, ObjectOrder([.init(.field([field]))], isReversed: isReversed), limit: 12)
                }
            }
        }
        let (before, costs) = (try queries.map(store.places), try queries.map(store.cost))
        #expect(costs.filter { $0.order != nil }.count == 4)
        store.close()
        let upgraded = try bed.open(schema: Schema(steps: Schema.current.steps + [Self.aging]))
        #expect(try queries.map(upgraded.places) == before)
        #expect(try queries.map(upgraded.cost) == costs)
        try upgraded.write(.putting("c/100", #"{"f":0}"#))
        #expect(try ids(upgraded, queries[0]).first == "103")
        upgraded.close()
    }

    /// A value that only this node has stays when the field becomes one that all have.
    @Test(arguments: StoreKind.allCases)
    func `an index holds what is shown, also if it is this node's alone`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"fields":{"d":"local"},"indexed":["d"]}"#))
        for number in 0..<9 { try store.write(.putting("c/\(number)", #"{"d":\#(9 - number)}"#)) }
        let list = query("c", ObjectOrder([.init(.field(["d"]))]), limit: 3)
        #expect(try ids(store, list) == ["8", "7", "6"])
        #expect(try store.cost(of: list).order == nil, "a local field is in no index")
        try store.write(.schema("c", #"{"fields":{"d":"register"}}"#))
        #expect(try ids(store, list) == ["8", "7", "6"])
        #expect(try store.cost(of: list).order == "d")
        #expect(try store.find("c", where: "d", is: 4) == ["c/5"])
        try store.write(.putting("c/9", #"{"d":0}"#), .deleting("c/8"))
        #expect(try ids(store, list) == ["9", "7", "6"])
        store.close()
    }
}
