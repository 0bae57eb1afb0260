import SyncModel
import Testing

/// `edit`: one thing at a path, each seeing those before it, all or none.
@Suite struct EditTests {
    private static let schema = """
        {"fields":{"k":"counter","s":"set","a":"addOnlySet","o":"orderedSet","l":"list","t":"text","d":"dictionary",
        "c":"constant"}}
        """

    private func desk(_ json: String, schema: String = Self.schema) throws -> Desk {
        var desk = Desk.among(1, schema: try CollectionSchema(schema))[0]
        try desk.put(json)
        return desk
    }

    private func expect(_ desk: Desk, _ json: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        #expect(desk.json == (try JSONValue(text: json)), sourceLocation: sourceLocation)
    }

    @Test func `every operation on every type it fits`() throws {
        var desk = try desk("{}")
        try desk.edit([
            ("r", .set("x")), ("k", .increment(5)), ("k", .increment(-2)), ("s", .add(1)), ("s", .add(2)),
            ("s", .remove(1)), ("a", .add(1)), ("o", .add("b")), ("o", .insert(at: 0, "a")), ("o", .add("c")),
            ("o", .move(from: 2, to: 0)), ("o", .remove("b")), ("l", .insert(at: 0, 1)), ("l", .insert(at: 1, [2])),
            ("l", .insert(at: 0, 0)), ("l/2", .insert(at: 1, 3)), ("l", .move(from: 0, to: 2)),
            ("t", .insert(at: 0, "hello")), ("t", .insert(at: 5, "!")), ("t", .delete(at: 1, count: 3)),
            ("d/x/y", .set(1)), ("d/x/z", .set(.null)), ("d/x/y", .unset), ("c", .set(1)),
        ])
        try expect(
            desk,
            #"{"r":"x","k":3,"s":[2],"a":[1],"o":["c","a"],"l":[1,[2,3],0],"t":"ho!","d":{"x":{"z":null}},"c":1}"#)
    }

    @Test func `all edits are one operation, and an edit that says what is there is none`() throws {
        var desk = try desk(#"{"s":[1],"r":"x","k":0}"#)
        #expect(try desk.edit([("r", .set("y")), ("s", .add(2)), ("k", .increment(1))]).operations.count == 1)
        let same: [(String, FieldEdit.Action)] = [
            ("r", .set("y")), ("s", .add(2)), ("s", .remove(9)), ("k", .increment(0)), ("nothing", .unset),
            ("no/thing", .unset),
        ]
        #expect(try desk.edit(same).isEmpty)
    }

    @Test func `a refused edit refuses those beside it`() throws {
        var desk = try desk(#"{"r":"x"}"#)
        #expect(throws: ObjectRefusal.typeMismatch(field: "r", expected: .register)) {
            try desk.edit([("n", .set(1)), ("r", .increment(1))])
        }
        try expect(desk, #"{"r":"x"}"#)
    }

    @Test func `a set value is all there is at its path`() throws {
        var desk = try desk(#"{"d":{"x":1,"y":2}}"#)
        try desk.edit("d", .set(try JSONValue(text: #"{"y":2,"z":3}"#)))
        try expect(desk, #"{"d":{"y":2,"z":3}}"#)
    }

    @Test func `elements of lists are edited in place`() throws {
        var desk = try desk(#"{"l":[{"t":"a","n":[1,2]},"b"]}"#, schema: "{}")
        try desk.edit([("l/0/t", .set("x")), ("l/0/n", .delete(at: 0, count: 1)), ("l/1", .set("y"))])
        try expect(desk, #"{"l":[{"t":"x","n":[2]},"y"]}"#)
        try desk.edit([("l/1", .set([1])), ("l/0", .set(5)), ("l/1/0", .unset)])
        try expect(desk, #"{"l":[5,[]]}"#)
        try desk.edit([("l/0", .unset), ("l/0", .unset)])
        try expect(desk, #"{"l":[]}"#)
    }

    // MARK: Refusals

    @Test func `what lies outside is refused with the number of places there are`() throws {
        var desk = try desk(#"{"l":[1,2],"t":"añ","o":[1]}"#)
        let outside: [(String, FieldEdit.Action, String, Int)] = [
            ("l", .insert(at: 3, 1), "l", 2), ("l", .delete(at: 1, count: 2), "l", 2),
            ("l", .delete(at: 3, count: 1), "l", 2),
            ("l", .delete(at: 0, count: 0), "l", 2), ("l", .delete(at: -1, count: 1), "l", 2),
            ("l", .delete(at: 1, count: .max), "l", 2), ("l", .move(from: 0, to: 2), "l", 2),
            ("l", .move(from: 2, to: 0), "l", 2), ("l/2", .set(1), "l", 2), ("t", .insert(at: 3, "x"), "t", 2),
            ("t", .delete(at: 0, count: 3), "t", 2), ("o", .insert(at: 2, 5), "o", 1), ("l/7/x", .unset, "l", 2),
            ("m", .insert(at: 1, 1), "m", 0),
        ]
        for (path, action, field, count) in outside {
            #expect(throws: ObjectRefusal.indexOutOfRange(field: field, count: count), "\(path) \(action)") {
                try desk.edit(path, action)
            }
        }
    }

    @Test func `what does not fit the type is refused with the type`() throws {
        var desk = try desk(#"{"r":1,"k":1,"s":[],"a":[],"o":[],"l":[],"t":"","d":{}}"#)
        let misfits: [(String, FieldEdit.Action, FieldType)] = [
            ("r", .increment(1), .register), ("r", .add(1), .register), ("r", .insert(at: 0, 1), .register),
            ("r/x", .set(1), .register), ("k", .set("x"), .counter), ("k", .add(1), .counter),
            ("s", .insert(at: 0, 1), .set), ("s", .set(1), .set), ("s/0", .set(1), .set),
            ("a", .remove(1), .addOnlySet),
            ("o", .increment(1), .orderedSet), ("l", .add(1), .list), ("t", .insert(at: 0, 1), .text),
            ("t", .move(from: 0, to: 0), .text), ("t", .set([]), .text), ("d", .set([]), .dictionary),
            ("d", .delete(at: 0, count: 1), .dictionary), ("t/0", .set("x"), .text),
        ]
        for (path, action, type) in misfits {
            let field = path.hasSuffix("/x") || path.hasSuffix("/0") ? String(path.dropLast(2)) : path
            #expect(throws: ObjectRefusal.typeMismatch(field: field, expected: type), "\(path) \(action)") {
                try desk.edit(path, action)
            }
        }
    }

    @Test func `what is not there cannot be edited, but begun`() throws {
        var desk = try desk(#"{"d":{}}"#, schema: "{}")
        for action in [FieldEdit.Action.remove(1), .delete(at: 0, count: 1), .move(from: 0, to: 0)] {
            #expect(throws: ObjectRefusal.noSuchField("n")) { try desk.edit("n", action) }
            #expect(throws: ObjectRefusal.noSuchField("d/x/y~1z")) {
                try desk.write(.edit(Desk.key, [FieldEdit(path: ["d", "x", "y/z"], action: action)], .init()))
            }
        }
        try desk.edit([
            ("n", .increment(2)), ("s", .add("x")), ("l", .insert(at: 0, "y")), ("new/deep/er", .set(true)),
            ("d/k", .increment(1)),
        ])
        try expect(desk, #"{"d":{"k":1},"n":2,"s":["x"],"l":["y"],"new":{"deep":{"er":true}}}"#)
        for name in ["01", "-1", "x", ""] {
            #expect(throws: ObjectRefusal.noSuchField("l/\(name)")) {
                try desk.write(.edit(Desk.key, [FieldEdit(path: ["l", ExactString(name)], action: .set(1))], .init()))
            }
        }
    }

    @Test func `a counter does not leave 64 bits`() throws {
        var desk = try desk("{}")
        try desk.edit("k", .increment(.max))
        #expect(throws: ObjectRefusal.counterOverflow(field: "k")) { try desk.edit("k", .increment(1)) }
        try desk.edit("k", .increment(-.max))
        try expect(desk, #"{"k":0}"#)
    }

    // MARK: Limits

    @Test func `values deeper than every node reads are refused`() throws {
        var desk = try desk("{}")
        var value: JSONValue = []
        for _ in 1..<JSONValue.maximumDepth - 1 { value = [value] }
        #expect(value.depth == JSONValue.maximumDepth - 1)
        try desk.edit("x", .set(value))
        #expect(desk.json?["x"] == value)
        #expect(throws: ObjectRefusal.tooDeep) { try desk.edit("x", .set([value])) }
        #expect(throws: ObjectRefusal.tooDeep) { try desk.edit("x", .insert(at: 0, value)) }
        #expect(throws: ObjectRefusal.tooDeep) { try desk.edit("x/y", .set(value)) }
        let path = [ExactString](repeating: "a", count: JSONValue.maximumDepth + 1)
        #expect(throws: ObjectRefusal.tooDeep) {
            try desk.write(.edit(Desk.key, [FieldEdit(path: path, action: .set(1))], .init()))
        }
    }

    @Test func `values over 1 MiB are refused`() throws {
        var desk = try desk("{}")
        let fits = JSONValue.text(String(repeating: "x", count: (1 << 20) - 16))
        try desk.edit("r", .set(fits))
        #expect(desk.json?["r"] == fits)
        let text = String(repeating: "x", count: 1 << 20)
        #expect(throws: ObjectRefusal.tooLarge(limitBytes: 1 << 20)) { try desk.edit("r", .set(.text(text))) }
        #expect(throws: ObjectRefusal.tooLarge(limitBytes: 1 << 20)) {
            try desk.edit([
                ("r", .set(.text(String(repeating: "z", count: (1 << 20) - 16)))),
                ("r2", .set(.text(String(repeating: "y", count: 1 << 19)))),
            ])
        }
    }
}
