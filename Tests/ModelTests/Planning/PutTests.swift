import SyncModel
import Testing

/// `put` records the least edits that make the named fields read as they were put.
@Suite struct PutTests {
    private var desk = Desk.among(1)[0]

    private func expect(_ desk: Desk, _ json: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(desk.json == (try JSONValue(text: json)), sourceLocation: sourceLocation)
    }

    @Test func `the first put creates the object, and the same again writes nothing`() throws {
        var desk = desk
        let json = #"{"title":"Milk","done":false,"tags":["a","b"],"more":{"n":1,"deep":{"list":[[1],{"x":null}]}}}"#
        let written = try desk.put(json)
        #expect(written.operations.count == 1)
        try expect(desk, json)
        #expect(try desk.put(json).isEmpty)
        #expect(try desk.put(json, replacing: true).isEmpty)
    }

    @Test func `an object without fields is an object`() throws {
        var desk = desk
        #expect(try desk.put("{}").operations.count == 1)
        try expect(desk, "{}")
        #expect(try desk.put("{}").isEmpty)
    }

    @Test func `fields that are not named stay, also below a field, and null is a value`() throws {
        var desk = desk
        try desk.put(#"{"a":1,"b":{"x":1,"y":{"z":2}}}"#)
        #expect(try desk.put(#"{"c":null,"b":{"y":{"q":3}}}"#).edits.count == 2)
        try expect(desk, #"{"a":1,"b":{"x":1,"y":{"z":2,"q":3}},"c":null}"#)
        #expect(try desk.put(#"{"a":null}"#).edits.count == 1)
        try expect(desk, #"{"a":null,"b":{"x":1,"y":{"z":2,"q":3}},"c":null}"#)
    }

    @Test func `replacing removes what is not named, also below a field`() throws {
        var desk = desk
        try desk.put(#"{"a":1,"b":{"x":1,"y":{"z":2}}}"#)
        #expect(try desk.put(#"{"b":{"y":{}}}"#, replacing: true).edits.count == 3)
        try expect(desk, #"{"b":{"y":{}}}"#)
    }

    @Test func `a value of another kind takes the place of the old one`() throws {
        var desk = desk
        for value in ["[1]", "5", #"{"x":1}"#, "null", #"{"x":2}"#, "[]", "{}", #""text""#] {
            try desk.put(#"{"a":\#(value)}"#)
            try expect(desk, #"{"a":\#(value)}"#)
            #expect(desk.reading.conflicts.isEmpty)
            #expect(try desk.put(#"{"a":\#(value)}"#).isEmpty)
        }
    }

    @Test func `what is emptied stays, empty`() throws {
        let schema = try CollectionSchema(
            #"{"fields":{"s":"set","l":"list","o":"orderedSet","t":"text","d":"dictionary","a":"addOnlySet"}}"#)
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"s":[1],"l":[1],"o":[1],"t":"x","d":{"x":1},"a":[]}"#)
        try desk.put(#"{"s":[],"l":[],"o":[],"t":"","d":{}}"#)
        try expect(desk, #"{"s":[],"l":[],"o":[],"t":"","d":{"x":1},"a":[]}"#)
        try desk.put(#"{"d":{}}"#, replacing: true)
        try expect(desk, #"{"d":{}}"#)
    }

    @Test func `two nodes that each take out one half leave an empty field`() throws {
        var desks = Desk.among(2)
        try desks[0].put(#"{"d":{"x":1,"y":2}}"#)
        desks[1].hear(desks[0])
        try desks[0].edit("d/x", .unset)
        try desks[1].edit("d/y", .unset)
        desks[0].hear(desks[1])
        try expect(desks[0], #"{"d":{}}"#)
    }

    // MARK: By the type of the field

    @Test func `a counter takes the difference, so that nobody's increments are lost`() throws {
        let schema = try CollectionSchema(#"{"fields":{"plays":"counter"}}"#)
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"plays":10}"#)
        desks[1].hear(desks[0])
        try desks[0].put(#"{"plays":12}"#)
        try desks[1].put(#"{"plays":7}"#)
        desks[0].hear(desks[1])
        try expect(desks[0], #"{"plays":9}"#)
        #expect(throws: ObjectRefusal.typeMismatch(field: "plays", expected: .counter)) {
            try desks[0].put(#"{"plays":1.5}"#)
        }
        try desks[0].put(#"{"plays":\#(Int64.min + 9)}"#)
        #expect(throws: ObjectRefusal.counterOverflow(field: "plays")) {
            try desks[0].put(#"{"plays":\#(Int64.max)}"#)
        }
    }

    @Test func `a changed text becomes insertions and deletions`() throws {
        let schema = try CollectionSchema(#"{"fields":{"body":"text"}}"#)
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"body":"Milk, bred and chese"}"#)
        desks[1].hear(desks[0])
        #expect(try desks[0].put(#"{"body":"Milk, bread and chese"}"#).edits.count == 1)
        #expect(try desks[1].put(#"{"body":"Milk, bred and cheese"}"#).edits.count == 1)
        desks[0].hear(desks[1])
        try expect(desks[0], #"{"body":"Milk, bread and cheese"}"#)
    }

    @Test func `a set takes what is added and what is removed`() throws {
        let schema = try CollectionSchema(#"{"fields":{"tags":"set","seen":"addOnlySet"}}"#)
        var desks = Desk.among(2, schema: schema)
        try desks[0].put(#"{"tags":["a","b","c"],"seen":[1]}"#)
        desks[1].hear(desks[0])
        #expect(try desks[0].put(#"{"tags":["d","c","b","b"],"seen":[2]}"#).edits.count == 3)
        try desks[1].put(#"{"tags":["a","c"]}"#)
        desks[0].hear(desks[1])
        try expect(desks[0], #"{"tags":["c","d"],"seen":[1,2]}"#)
        #expect(try desks[0].put(#"{"tags":["d","c","d"],"seen":[2]}"#).isEmpty)
    }

    @Test func `an ordered set moves only what changed its place`() throws {
        let schema = try CollectionSchema(#"{"fields":{"o":"orderedSet"}}"#)
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put(#"{"o":[1,2,3,4,5,6]}"#)
        #expect(try desk.put(#"{"o":[1,3,4,2,5,6]}"#).edits.count == 1)
        try expect(desk, #"{"o":[1,3,4,2,5,6]}"#)
        #expect(try desk.put(#"{"o":[6,7,8,1,4,2,9]}"#).edits.count == 4)
        try expect(desk, #"{"o":[6,7,8,1,4,2,9]}"#)
        try desk.put(#"{"o":[5,5,6,5]}"#)
        try expect(desk, #"{"o":[5,6]}"#)
    }

    @Test func `a constant is set once`() throws {
        let schema = try CollectionSchema(#"{"fields":{"made":"constant"}}"#)
        var desk = Desk.among(1, schema: schema)[0]
        try desk.put("{}")
        try desk.put(#"{"made":"today"}"#)
        #expect(try desk.put(#"{"made":"today"}"#).isEmpty)
        #expect(throws: ObjectRefusal.constant(field: "made")) { try desk.put(#"{"made":"never"}"#) }
        #expect(throws: ObjectRefusal.constant(field: "made")) { try desk.edit("made", .unset) }
        #expect(throws: ObjectRefusal.constant(field: "made")) { try desk.edit("made", .set(1)) }
        try desk.put(#"{"x":1}"#, replacing: true)
        try expect(desk, #"{"made":"today","x":1}"#)
    }

    @Test func `a write that does not fit the schema is refused whole`() throws {
        let schema = try CollectionSchema(#"{"fields":{"s":"set","t":"text","d":"dictionary","l":"list"}}"#)
        var desk = Desk.among(1, schema: schema)[0]
        for (field, type) in [("s", FieldType.set), ("t", .text), ("d", .dictionary), ("l", .list)] {
            #expect(throws: ObjectRefusal.typeMismatch(field: field, expected: type)) {
                try desk.put(#"{"a":1,"\#(field)":true}"#)
            }
            #expect(desk.json == nil)
        }
    }

    // MARK: Conflicts

    @Test func `writing the shown value writes nothing, unless something else was written apart`() throws {
        var desks = Desk.among(2)
        try desks[0].put(#"{"a":0}"#)
        desks[1].hear(desks[0])
        try desks[0].put(#"{"a":1}"#)
        try desks[1].put(#"{"a":2}"#)
        desks[0].hear(desks[1])
        try expect(desks[0], #"{"a":2}"#)
        #expect(desks[0].reading.conflicts.count == 1)
        #expect(try desks[0].put(#"{"a":2}"#).edits.count == 1)
        #expect(desks[0].reading.conflicts.isEmpty)
        #expect(try desks[0].put(#"{"a":2}"#).isEmpty)
    }

    // MARK: Local fields

    @Test func `local fields are kept and never shipped`() throws {
        let schema = try CollectionSchema(#"{"fields":{"draft":"local"}}"#)
        var desk = Desk.among(1, schema: schema)[0]
        let written = try desk.put(#"{"draft":{"n":1},"a":1}"#)
        #expect(written.edits.count == 1)
        try expect(desk, #"{"draft":{"n":1},"a":1}"#)
        #expect(try desk.put(#"{"draft":{"n":1},"a":1}"#).isEmpty)
        let later = try desk.edit([("draft/n", .increment(4)), ("draft/l", .set([])), ("draft/l", .insert(at: 0, "x"))])
        #expect(later.operations.isEmpty)
        try expect(desk, #"{"draft":{"n":5,"l":["x"]},"a":1}"#)
        try desk.put(#"{"a":1}"#, replacing: true)
        try expect(desk, #"{"a":1}"#)
    }
}
