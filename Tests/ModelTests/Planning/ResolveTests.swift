import SyncModel
import Testing

/// Resolving a field: one value, and nothing beside it.
@Suite struct ResolveTests {
    @Test func `values written apart give way to the one chosen`() throws {
        var desks = Desk.among(3)
        try desks[0].put(#"{"a":0,"d":{"l":[{"x":0}]}}"#)
        for index in 1...2 {
            desks[index].hear(desks[0])
            try desks[index].edit([("a", .set(.integer(Int64(index)))), ("d/l/0/x", .set(.integer(Int64(index))))])
        }
        for index in 1...2 { desks[0].hear(desks[index]) }
        #expect(desks[0].reading.conflicts.count == 2)
        #expect(try desks[0].resolve(.field(["a"], 2)).edits.count == 1)
        #expect(try desks[0].resolve(.field(["a"], 1)).isEmpty)
        try desks[0].resolve(.field(["d", "l", "0", "x"], 7))
        #expect(desks[0].json == (try JSONValue(text: #"{"a":2,"d":{"l":[{"x":7}]}}"#)))
        #expect(desks[0].reading.conflicts.isEmpty)
        #expect(try desks[0].resolve(.field(["no"], 1)).isEmpty)
        #expect(try desks[0].resolve(.field(["a", "b", "c"], 1)).isEmpty)
    }

    @Test func `other types give way too, at the top and inside a list`() throws {
        var desks = Desk.among(2)
        try desks[0].put(#"{"l":[{"k":0}],"a":0}"#)
        desks[1].hear(desks[0])
        try desks[0].put(#"{"a":[1,2]}"#)
        try desks[1].put(#"{"a":{"x":1}}"#)
        try desks[0].edit("l/0/k", .set([1]))
        try desks[1].edit("l/0/k", .set("text"))
        desks[0].hear(desks[1])
        #expect(desks[0].reading.conflicts.count == 2)
        try desks[0].resolve(.field(["a"], [2, 3]))
        try desks[0].resolve(.field(["l", "0", "k"], "chosen"))
        #expect(desks[0].json == (try JSONValue(text: #"{"l":[{"k":"chosen"}],"a":[2,3]}"#)))
        #expect(desks[0].reading.conflicts.isEmpty)
    }

    @Test func `a value that two lives hold is in one of them afterwards`() throws {
        var desks = Desk.among(2)
        try desks[0].put(#"{"a":1,"d":{"x":1}}"#)
        try desks[1].put(#"{"a":2,"d":{"x":2}}"#)
        desks[0].hear(desks[1])
        try desks[0].resolve(.field(["a"], 1))
        try desks[0].resolve(.field(["d", "x"], 2))
        #expect(desks[0].json == (try JSONValue(text: #"{"a":1,"d":{"x":2}}"#)))
        #expect(desks[0].reading.conflicts.isEmpty)
    }
}
