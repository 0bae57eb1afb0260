import SyncModel
import SyncStore
import Testing

/// Large writes, planned against what readers see before their turn comes.
@Suite struct PreparedWriteTests {
    private static let size = 1_200

    private static func list(_ count: Int = size, _ element: (Int) -> String) -> String {
        #"{"list":["# + (0..<count).map(element).joined(separator: ",") + "]}"
    }

    /// Elements that stay, go, come, move and are edited.
    private static let before = list { "\($0)" }
    private static let after = list { $0 % 7 == 0 ? "[\($0)]" : $0 % 5 == 0 ? "\($0 + 1)" : "\((size - $0) % size)" }
    private static let nested = list { #"{"id":\#($0),"of":{"name":"n\#($0)","tags":[\#($0)]}}"# }

    private func prepared(_ write: LocalWrite, _ store: SQLiteStore) throws -> LocalWrite {
        let prepared = try store.prepared(write, wallMilliseconds: 1_000)
        if case .prepared = prepared { return prepared }
        Issue.record("the write was not planned ahead")
        return write
    }

    @Test(arguments: StoreKind.allCases, [true, false])
    func `a write that was planned ahead writes the same bytes, whatever came between`(
        kind: StoreKind, isPut: Bool
    ) throws {
        func tips(_ prepare: (LocalWrite, SQLiteStore) throws -> LocalWrite) throws -> [KnownReplica] {
            let store = try StoreBed(kind).open()
            try store.write(.putting("n/a", Self.before))
            for fields in [Self.after, Self.nested, Self.before] {
                let step =
                    isPut
                    ? ObjectWrite.putting("n/a", fields)
                    : .editing("n/a", "list", .set(JSONValue(json: fields)["list"] ?? .null))
                let write = try prepare(.planned([.putting("n/c", #"{"x":1}"#), step]), store)
                for number in 0..<3 { try store.write(.putting("n/b\(number)", #"{"x":\#(fields.utf8.count)}"#)) }
                let result = try store.append([write], wallMilliseconds: 2_000)
                _ = try #require(result.outcomes.first).get()
                #expect(try store.json("n/a") == JSONValue(json: fields))
            }
            return try store.state().tips
        }
        #expect(try tips(prepared) == tips { write, _ in write })
    }

    /// The object after a write that was planned ahead, and before whose turn the object changed.
    private func overtaken(_ kind: StoreKind, _ faults: StoreFaults = []) throws -> JSONValue? {
        let store = try StoreBed(kind).open(faults: faults)
        try store.write(.putting("n/a", Self.before))
        let write = try prepared(.planned([.putting("n/a", Self.after)]), store)
        try store.write(.editing("n/a", "list", .insert(at: 3, .string("between"))))
        _ = try store.append([write], wallMilliseconds: 2_000)
        return try store.json("n/a")
    }

    @Test(arguments: StoreKind.allCases)
    func `a plan whose object has changed is made anew`(kind: StoreKind) throws {
        #expect(try overtaken(kind) == JSONValue(json: Self.after))
    }

    @Test func `a plan that counts whatever became of its object is noticed`() throws {
        #expect(try overtaken(.memory, StoreFaults(.plansGrowOld)) != JSONValue(json: Self.after))
    }

    @Test func `a schema that was set meanwhile, and a change of the same commit, make it anew, too`() throws {
        let store = try StoreBed(.memory).open()
        try store.write(.putting("n/a", #"{"x":1}"#))
        let write = try prepared(.planned([.putting("n/new", Self.before)]), store)
        try store.write(.schema("n", #"{"fields":{"list":"text"}}"#))
        guard case .failure(let refusal) = try store.append([write], wallMilliseconds: 2_000).outcomes[0] else {
            Issue.record("a list was written where a text belongs")
            return
        }
        #expect(refusal.reason == .typeMismatch(field: "list", expected: .text))
        let other = try prepared(.planned([.putting("m/new", Self.before)]), store)
        let first = LocalWrite.planned([.putting("m/new", #"{"list":["first"]}"#)])
        _ = try store.append([first, other], wallMilliseconds: 2_000)
        #expect(try store.json("m/new") == JSONValue(json: Self.before))
    }

    @Test func `a small write is planned when its turn comes`() throws {
        let store = try StoreBed(.memory).open()
        try store.write(.putting("n/a", #"{"x":1}"#))
        for write in [LocalWrite.planned([.putting("n/a", #"{"x":2}"#)]), .planned([.deleting("n/a")])] {
            #expect(try store.prepared(write, wallMilliseconds: 1_000) == write)
        }
    }
}
