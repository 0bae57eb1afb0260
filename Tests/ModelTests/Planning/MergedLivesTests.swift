import SyncModel
import Testing

/// Two nodes create the same id; what both began is shown as one object and written as one.
@Suite struct MergedLivesTests {
    private func merged(_ one: String, _ other: String, schema: String = "{}") throws -> Desk {
        var desks = Desk.among(2, schema: try CollectionSchema(schema))
        try desks[0].put(one)
        try desks[1].put(other)
        desks[0].hear(desks[1])
        #expect(desks[0].object.lives.lives.count == 2)
        return desks[0]
    }

    private func expect(_ desk: Desk, _ json: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(desk.json == (try JSONValue(text: json)), sourceLocation: sourceLocation)
    }

    @Test func `what is shown together is written together`() throws {
        var desk = try merged(#"{"a":1,"d":{"x":1}}"#, #"{"b":2,"d":{"y":2}}"#)
        try expect(desk, #"{"a":1,"b":2,"d":{"x":1,"y":2}}"#)
        #expect(try desk.put(#"{"a":1,"b":2,"d":{"x":1,"y":2}}"#, replacing: true).isEmpty)
        // Each edit goes to the life that has the field.
        #expect(try desk.put(#"{"a":5,"b":6,"d":{"y":7}}"#).operations.count == 2)
        try expect(desk, #"{"a":5,"b":6,"d":{"x":1,"y":7}}"#)
        try desk.put(#"{"c":1,"d":{}}"#, replacing: true)
        try expect(desk, #"{"c":1,"d":{}}"#)
    }

    @Test func `a register that both set is a conflict until it is written`() throws {
        var desk = try merged(#"{"a":1}"#, #"{"a":2}"#)
        #expect(desk.reading.conflicts.count == 1)
        try desk.put(#"{"a":2}"#)
        try expect(desk, #"{"a":2}"#)
        #expect(desk.reading.conflicts.isEmpty)
        #expect(try desk.put(#"{"a":2}"#).isEmpty)
        var equal = try merged(#"{"a":1}"#, #"{"a":1}"#)
        #expect(try equal.put(#"{"a":1}"#).isEmpty)
    }

    @Test func `containers that both filled become what the put says, and nothing twice`() throws {
        let schema = #"{"fields":{"k":"counter","s":"set","a":"addOnlySet","o":"orderedSet","l":"list","t":"text"}}"#
        var desk = try merged(
            #"{"k":3,"s":[1,2],"a":[1],"o":[1,2],"l":[1],"t":"ab"}"#,
            #"{"k":4,"s":[2,3],"a":[2],"o":[3],"l":[2],"t":"cd"}"#, schema: schema)
        let shown = try #require(desk.json)
        #expect(shown["k"] == 7 && shown["s"] == [1, 2, 3] && shown["l"] == [1, 2])
        #expect(try desk.write(.put(Desk.key, .init(fields: shown.members))).isEmpty)
        try desk.put(#"{"k":10,"s":[3,4],"a":[3],"o":[3,1],"l":[2,1,5],"t":"abd"}"#)
        try expect(desk, #"{"k":10,"s":[3,4],"a":[1,2,3],"o":[3,1],"l":[2,1,5],"t":"abd"}"#)
    }

    @Test func `edits of what both hold come to what they would come to`() throws {
        let schema = #"{"fields":{"k":"counter","s":"set","l":"list","t":"text"}}"#
        var desk = try merged(
            #"{"k":3,"s":[1],"l":[1],"t":"ab","d":{"x":{"n":1}}}"#,
            #"{"k":4,"s":[2],"l":[2],"t":"cd","d":{"x":{"m":[1]}}}"#, schema: schema)
        try desk.edit([
            ("k", .increment(1)), ("s", .add(3)), ("s", .remove(1)), ("l", .insert(at: 1, 9)),
            ("t", .delete(at: 1, count: 2)),
            ("d/x/m", .insert(at: 0, 0)), ("d/x/n", .set(2)), ("d/y", .set(1)),
        ])
        try expect(desk, #"{"k":8,"s":[2,3],"l":[1,9,2],"t":"ad","d":{"x":{"n":2,"m":[0,1]},"y":1}}"#)
        try desk.edit([("d", .unset), ("k", .unset)])
        try expect(desk, #"{"s":[2,3],"l":[1,9,2],"t":"ad"}"#)
        #expect(throws: ObjectRefusal.typeMismatch(field: "t", expected: .text)) { try desk.edit("t", .add(1)) }
    }

    @Test func `of a constant that both set the least stands, and can be chosen otherwise`() throws {
        var desk = try merged(#"{"c":2}"#, #"{"c":1}"#, schema: #"{"fields":{"c":"constant"}}"#)
        let shown = try #require(desk.json?["c"])
        let other: JSONValue = shown == 1 ? 2 : 1
        #expect(try desk.put(#"{"c":\#(shown)}"#).isEmpty)
        #expect(throws: ObjectRefusal.constant(field: "c")) { try desk.put(#"{"c":\#(other)}"#) }
        #expect(throws: ObjectRefusal.constant(field: "c")) { try desk.resolve(.field(["c"], 3)) }
        try desk.resolve(.field(["c"], other))
        #expect(desk.json?["c"] == other)
        #expect(desk.reading.conflicts.isEmpty)
    }
}
