import SyncModel
import SyncStore
import Testing

/// What every store promises about writes that may not be.
@Suite("Store contract: refusals")
struct RefusalTests {
    /// What every case begins with.
    private static let prelude: [ObjectWrite] = [
        .schema(
            "s",
            #"""
            {"fields":{"t":"register","k":"constant","n":"counter","l":"list","e":"set","d":"local"},"upsert":false}
            """#),
        .putting("s/a", #"{"t":"x","k":1,"n":1,"l":[1,2],"e":["q"],"d":1}"#, ifAbsent: true),
        .putting("s/gone", "{}", ifAbsent: true), .deleting("s/gone"), .putting("c/a", #"{"x":"y"}"#),
    ]

    private static let wrong = Dot(replica: ReplicaID(device: TestDevice(1).id, incarnation: 1), counter: 0)
    private static var deep: JSONValue { (0..<64).reduce(JSONValue.integer(1)) { nested, _ in .array([nested]) } }
    private static var large: JSONValue { .text(String(repeating: "x", count: Limits.payloadBytes)) }

    static let cases: [(ObjectWrite, code: String)] = [
        (.putting("s/a", #"{"t":"y"}"#, ifVersion: wrong), "version_mismatch"),
        (.putting("s/none", #"{"t":"y"}"#, ifVersion: wrong), "version_mismatch"),
        (.editing("s/a", "t", .set("y"), ifVersion: wrong), "version_mismatch"),
        (.deleting("s/a", ifVersion: wrong), "version_mismatch"),
        (.putting("s/a", "{}", ifAbsent: true), "exists"), (.putting("s/none", "{}"), "creation_required"),
        (.editing("s/none", "t", .set("y")), "not_found"), (.editing("s/none", "t", .unset), "not_found"),
        (.putting("s/gone", "{}"), "object_deleted"), (.putting("s/gone", "{}", ifAbsent: true), "object_deleted"),
        (.editing("s/gone", "t", .set("y"), creating: true), "object_deleted"),
        (.editing("s/a", "t", .increment(1)), "type_mismatch"), (.putting("s/a", #"{"n":"many"}"#), "type_mismatch"),
        (.putting("s/a", #"{"l":5}"#), "type_mismatch"), (.putting("s/a", #"{"k":2}"#), "constant"),
        (.editing("s/a", "l", .delete(at: 1, count: 2)), "index_out_of_range"),
        (.editing("s/a", "l", .insert(at: 3, 1)), "index_out_of_range"),
        (.editing("s/a", "n", .increment(.max)), "counter_overflow"),
        (.editing("c/a", "x", .set(deep)), "too_deep"), (.editing("c/a", "x", .set(large)), "too_large"),
        (.schema("s", "[]"), "invalid_schema"), (.schema("s", #"{"deletePolicy":"never"}"#), "invalid_schema"),
        (.schema("s", #"{"fields":{"z":"graph"}}"#), "unknown_type"),
        (.schema("s", #"{"fields":{"t":"counter"}}"#), "would_lose_data"),
        (.schema("c", #"{"fields":{"x":"local"}}"#), "would_lose_data"),
        (.resolving("s/none", .field(["t"], 1)), "not_found"),
    ]

    @Test(arguments: StoreKind.allCases)
    func `a refused write refuses alone and leaves nothing behind`(kind: StoreKind) throws {
        for (write, code) in Self.cases {
            let tried = try StoreBed(kind).open()
            let untried = try StoreBed(kind).open()
            for store in [tried, untried] { for step in Self.prelude { try store.write(step) } }
            let good = [ObjectWrite.putting("c/b", #"{"x":1}"#), .putting("c/a", #"{"z":2}"#)]
            let result = try tried.append(
                [good[0], write, good[1]].map { .planned([$0]) }, wallMilliseconds: 1_000)
            let twin = try untried.append(good.map { .planned([$0]) }, wallMilliseconds: 1_000)
            guard case .failure(let refusal) = result.outcomes[1] else {
                Issue.record("\(write) was not refused as \(code)")
                continue
            }
            #expect(refusal.reason.code == code && refusal.step == 0)
            #expect([result.outcomes[0], result.outcomes[2]] == twin.outcomes, "\(code)")
            #expect(result.commit == twin.commit, "\(code)")
            #expect(try tried.state() == untried.state(), "\(code)")
            #expect(try tried.collections(of: .home) == untried.collections(of: .home), "\(code)")
            #expect(try tried.objectPosition() == untried.objectPosition(), "\(code)")
            #expect(try tried.recomputedDigest(of: .home) == tried.state().digest, "\(code)")
            for name in ["s/a", "s/gone", "c/a", "c/b", "s/none"] {
                #expect(try tried.object(name) == untried.object(name), "\(code)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `alone, a refused write does not even begin a history`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let before = try store.state()
        #expect(try store.refusal(of: .editing("c/a", "x", .set(1)))?.reason == .notFound)
        #expect(try store.state() == before && before.ownReplica == nil)
        #expect(try store.collections(of: .home).isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a change is all or nothing`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        try store.write(.schema("c", #"{"fields":{"d":"local"}}"#), .putting("c/a", #"{"x":1,"d":1}"#))
        let before = try store.state()
        let object = try store.object("c/a")
        let refusal = try store.refusal(
            of: .putting("c/a", #"{"x":2,"d":2}"#), .putting("n/new", "{}"), .deleting("c/a"),
            .schema("c", #"{"indexed":["x"]}"#), .schema("n", #"{"indexed":["x"]}"#),
            .appendEvent(Operation.Event(stream: "s", type: nil, payload: Array("1".utf8))),
            .editing("c/none", "x", .set(1)))
        #expect(refusal == WriteRefusal(step: 6, .notFound))
        #expect(try store.state() == before)
        #expect(try store.object("c/a") == object)
        #expect(try store.object("n/new") == nil)
        #expect(try store.schema(of: "n", space: .home) == nil)
        #expect(try store.schema(of: "c", space: .home)?.indexed == [])
        #expect(try store.streams(of: .home).isEmpty)
        #expect(try store.collections(of: .home).map(\.name) == ["c"])
        #expect(try store.recomputedDigest(of: .home) == before.digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `behind a refused line of a row nothing of it is written, other rows go on`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let writes: [(ObjectWrite, UInt64?)] = [
            (.putting("c/1", "{}"), 1), (.putting("c/1", "{}", ifAbsent: true), 1), (.putting("c/2", "{}"), 2),
            (.putting("c/3", "{}"), 1), (.putting("c/4", "{}"), nil), (.putting("c/5", "{}"), 2),
        ]
        let result = try store.append(writes.map { .planned([$0.0], row: $0.1) }, wallMilliseconds: 1)
        #expect(
            result.outcomes.map { (try? $0.get()) != nil } == [true, false, true, false, true, true])
        #expect(result.outcomes[3] == result.outcomes[1])
        #expect(try store.find("c") == ["c/1", "c/2", "c/4", "c/5"])
        // The next commit knows nothing of it.
        let next = try store.append([.planned([.putting("c/3", "{}")], row: 1)], wallMilliseconds: 1)
        #expect(next.outcomes.map { (try? $0.get()) != nil } == [true])
    }

    @Test(arguments: StoreKind.allCases)
    func `a refused change names nobody a member`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let event = Operation.event("s", "\"" + String(repeating: "x", count: Limits.payloadBytes - 2) + "\"")
        let result = try store.append(
            [.operations([.addMember(TestDevice(9).fact), event, event]), .operations([.event("s")])],
            wallMilliseconds: 1)
        #expect(result.outcomes.map { (try? $0.get()) != nil } == [false, true])
        #expect(try store.members() == MemberFacts())
    }

    @Test(arguments: StoreKind.allCases)
    func `what somebody unknown began may be read, and is not written to before he is known`(kind: StoreKind) throws {
        let store = try StoreBed(kind).open()
        let other = try StoreBed(.memory, device: TestDevice(2)).open()
        try other.write(.putting("c/a", #"{"x":1}"#))
        try store.pull(from: other)
        #expect(try store.json("c/a") == JSONValue(json: #"{"x":1}"#))
        #expect(try store.refusal(of: .putting("c/a", #"{"x":2}"#))?.reason == .catchingUp)
        _ = try other.append([[.addMember(TestDevice(1).fact)]], wallMilliseconds: 2)
        try store.pull(from: other)
        #expect(try store.refusal(of: .putting("c/a", #"{"x":2}"#)) == nil)
        try other.pull(from: store)
        #expect(try other.json("c/a") == JSONValue(json: #"{"x":2}"#))
        #expect(try store.state().digest == other.state().digest)
    }

    @Test(arguments: StoreKind.allCases)
    func `under ask a crossed deletion hides the object, refuses writes, and waits for a decision`(
        kind: StoreKind
    ) throws {
        for (decision, isKept) in [(ObjectWrite.Resolution.keep, true), (.delete, false)] {
            let stores = try introduced(kind, count: 2)
            let (store, other) = (stores[0], stores[1])
            try store.write(.schema("c", #"{"deletePolicy":"ask"}"#), .putting("c/a", #"{"x":1}"#))
            try other.pull(from: store)
            try other.write(.putting("c/a", #"{"x":2}"#))
            try store.write(.deleting("c/a"))
            try converge(stores)
            #expect(try store.object("c/a")?.summary.standing == .undecided)
            #expect(try store.find(nil, .conflicted) == ["c/a"] && store.find("c").isEmpty)
            #expect(try store.refusal(of: .putting("c/a", "{}"))?.reason == .undecided)
            #expect(try store.refusal(of: .deleting("c/a"))?.reason == .undecided)
            let undecided = try store.state()
            #expect(undecided.digest == (try other.state().digest), "an open question is part of the state")
            #expect(undecided.counts.objects == 0 && undecided.counts.deletedObjects == 0)
            try store.write(.resolving("c/a", decision))
            try converge(stores)
            for one in stores {
                #expect(try one.json("c/a") == (isKept ? JSONValue(json: #"{"x":2}"#) : nil))
                #expect(try one.find(nil, .conflicted).isEmpty)
                #expect(try one.recomputedDigest(of: .home) == store.state().digest)
            }
        }
    }
}
