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

    /// An element's number among the elements is not that of its place once a move made a place without an element.
    @Test func `an element that came after a move is named by its own birth`() throws {
        var desk = Desk.among(1)[0]
        for list in [#"{"l":["a","b"]}"#, #"{"l":["b","a"]}"#, #"{"l":["b","a","c"]}"#, #"{"l":["b","a"]}"#] {
            try desk.put(list)
            #expect(desk.json == (try JSONValue(text: list)))
        }
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

    /// A list of numbers that are all different, in an order that a seed says.
    private func shuffled(_ count: Int, seed: UInt64) -> [JSONValue] {
        var state = seed
        var numbers = (0..<count).map { JSONValue.integer(Int64($0)) }
        for index in numbers.indices.reversed() {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            numbers.swapAt(index, Int(state >> 33) % (index + 1))
        }
        return numbers
    }

    private func put(_ list: [JSONValue]) -> ObjectWrite {
        .put(Desk.key, ObjectWrite.Put(fields: [JSONValue.Member(key: "l", value: .array(list))]))
    }

    @Test func `a long list that was shuffled keeps its elements, and takes about a second`() throws {
        var desk = Desk.among(1)[0]
        try desk.write(put(shuffled(20_000, seed: 1)))
        var took = Duration.zero
        for seed in UInt64(2)...3 {
            let target = put(shuffled(20_000, seed: seed))
            took = try ContinuousClock().measure { _ = try desk.plan(target) }
            let written = try desk.write(target)
            #expect(desk.json?["l"] == .array(shuffled(20_000, seed: seed)))
            #expect(written.edits.count > 19_000)
            let isOnlyMoves = written.edits.allSatisfy(\.isMove)
            #expect(isOnlyMoves)
        }
        // A plan that copies the list for each move takes minutes.
        #expect(took < .seconds(10), "\(took)")
    }

    @Test func `a shuffle of more than a change can move is written anew`() throws {
        var desks = Desk.among(2)
        try desks[0].write(put(shuffled(20_000, seed: 1)))
        desks[1].hear(desks[0])
        let written = try desks[1].write(put(shuffled(20_000, seed: 2)))
        #expect(desks[1].json?["l"] == .array(shuffled(20_000, seed: 2)))
        let movesSome = written.edits.contains(where: \.isMove)
        #expect(!movesSome)
    }

    /// Whatever was moved, inserted and taken out before, here and elsewhere: a list reads as it was put.
    @Test func `every put of a list is read back`() throws {
        var state: UInt64 = 1
        func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for history in 0..<400 {
            var desks = Desk.among(2)
            for _ in 0..<12 {
                let author = below(2)
                let list = (0..<below(6)).map { _ in JSONValue.integer(Int64(below(7))) }
                try desks[author].write(put(list))
                #expect(desks[author].json?["l"] == .array(list), "history \(history)")
                if below(3) == 0 { desks[author].hear(desks[1 - author]) }
            }
            desks[0].hear(desks[1])
            desks[1].hear(desks[0])
            #expect(desks[0].json == desks[1].json, "history \(history)")
        }
    }
}

extension ObjectFields.Operation {
    fileprivate var isMove: Bool {
        if case .update(_, .list(.move)) = self { true } else { false }
    }
}
