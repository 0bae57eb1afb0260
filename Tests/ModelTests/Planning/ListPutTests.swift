import SyncModel
import Testing

/// Elements of a list have an identity that a put of values has to guess.
@Suite struct ListPutTests {
    /// How many edits it takes from one list to the other; both are read back.
    private func edits(
        _ old: String, _ target: String, sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Int {
        var desk = Desk.among(1)[0]
        try desk.put(#"{"l":\#(old)}"#)
        let written = try desk.put(#"{"l":\#(target)}"#)
        #expect(desk.json == (try JSONValue(text: #"{"l":\#(target)}"#)), sourceLocation: sourceLocation)
        #expect(try desk.put(#"{"l":\#(target)}"#).isEmpty, sourceLocation: sourceLocation)
        return written.edits.count
    }

    @Test func `insertions and deletions are runs`() throws {
        #expect(try edits("[1,2,3]", "[1,7,8,9,2,3]") == 1)
        #expect(try edits("[1,2,3,4]", "[1]") == 1)
        #expect(try edits("[1,2,3,4]", "[3]") == 1)
        #expect(try edits("[]", "[1,2,3]") == 1)
        #expect(try edits("[0,0,1,0,0,1,0]", "[0,1,0,0,1,0,0]") <= 2)
    }

    @Test func `an element elsewhere is moved`() throws {
        #expect(try edits(#"["a","b","c","d"]"#, #"["d","a","b","c"]"#) == 1)
        #expect(try edits(#"["a","b","c","d"]"#, #"["b","c","d","a"]"#) == 1)
        #expect(try edits(#"["a","b","c"]"#, #"["c","b","a"]"#) == 2)
        #expect(try edits(#"[["x"],{"y":1},3]"#, #"[3,["x"],{"y":1}]"#) == 1)
    }

    @Test func `a changed element at its place is edited there`() throws {
        #expect(
            try edits(#"[{"t":"a","d":false},{"t":"b","d":false}]"#, #"[{"t":"a","d":true},{"t":"b","d":false}]"#) == 1)
        #expect(try edits(#"["a","b","c"]"#, #"["a","x","c"]"#) == 1)
        #expect(try edits(#"[[1,2],[3,4]]"#, #"[[1,2],[3,5,4]]"#) == 1)
        #expect(try edits(#"[{"t":"a","d":false},{"t":"b","d":false}]"#, #"[{"t":"new"},{"t":"b","d":true}]"#) <= 4)
    }

    @Test func `an object with an id is the same one wherever it is`() throws {
        let old = #"[{"id":1,"t":"a"},{"id":2,"t":"b"},{"id":3,"t":"c"}]"#
        #expect(try edits(old, #"[{"id":3,"t":"c"},{"id":1,"t":"a"},{"id":2,"t":"x"}]"#) == 2)
        #expect(try edits(old, #"[{"id":2,"t":"b"},{"id":3,"t":"c"}]"#) == 1)
        // Another thing at the same place: the old one goes.
        #expect(try edits(#"[{"id":1,"t":"a"}]"#, #"[{"id":2,"t":"a"}]"#) == 4)
    }

    @Test func `an edited element inherits nothing that was not named`() throws {
        #expect(try edits(#"[{"t":"a","done":true}]"#, #"[{"t":"b"}]"#) == 2)
    }

    @Test func `an element that two nodes changed and moved is there once, with both changes`() throws {
        var desks = Desk.among(2)
        try desks[0].put(#"{"l":[{"id":"a","x":1,"y":1},{"id":"b"},{"id":"c"}]}"#)
        desks[1].hear(desks[0])
        try desks[0].put(#"{"l":[{"id":"b"},{"id":"c"},{"id":"a","x":2,"y":1}]}"#)
        try desks[1].put(#"{"l":[{"id":"b"},{"id":"a","x":1,"y":3},{"id":"c"}]}"#)
        desks[0].hear(desks[1])
        guard case .array(let elements)? = desks[0].json?["l"] else {
            Issue.record("the list is there")
            return
        }
        #expect(elements.count == 3)
        #expect(elements.contains(try JSONValue(text: #"{"id":"a","x":2,"y":3}"#)))
    }

    @Test func `long lists that have little in common take no longer than they must`() throws {
        var desk = Desk.among(1)[0]
        let old = (0..<20_000).map { JSONValue.integer(Int64($0 % 7_919)) }
        let target = (0..<20_000).map { JSONValue.integer(Int64($0 * 31 % 10_007)) }
        for list in [old, target, Array(target.reversed()), Array(target.dropFirst(9_000))] {
            try desk.write(
                .put(Desk.key, ObjectWrite.Put(fields: [JSONValue.Member(key: "l", value: .array(list))])))
            #expect(desk.json?["l"] == .array(list))
        }
    }
}
