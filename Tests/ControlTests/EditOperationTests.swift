import ControlAPI
import Testing

@Suite struct EditOperationTests {
    private func operation(_ path: String, _ action: EditOperation.Action) throws -> EditOperation {
        try EditOperation(try FieldPath(parsing: path), action)
    }

    private func json(_ text: String) throws -> JSONText { try JSONText(text) }

    @Test(arguments: [
        ("title=Milk", "title", "\"Milk\""), ("title=", "title", "\"\""), ("n=5", "n", "5"), ("n=1.0", "n", "1.0"),
        ("done=true", "done", "true"), ("x=null", "x", "null"), ("x=[1,2]", "x", "[1,2]"),
        ("x={\"a\":1}", "x", "{\"a\":1}"), ("x=\"5\"", "x", "\"5\""), ("x=a=b", "x", "\"a=b\""),
        ("x=a.unset", "x", "\"a.unset\""), ("cfg/theme=dark", "cfg/theme", "\"dark\""),
        ("a~1b/c~0d=1", "a~1b/c~0d", "1"), ("a.b.set=1", "a.b", "1"), ("x=01", "x", "\"01\""),
        ("x=-5", "x", "-5"), ("x=+5", "x", "\"+5\""), ("x=a\"b", "x", "\"a\\\"b\""),
        ("ключ=значение", "ключ", "\"значение\""),
    ])
    func `a value is JSON if it parses, else the text itself`(text: String, path: String, value: String) throws {
        #expect(try EditOperation(parsing: text) == operation(path, .set(try json(value))))
    }

    @Test(arguments: [("n=5", "\"5\""), ("n=null", "\"null\""), ("n=\"a\"", "\"\\\"a\\\"\"")])
    func `with string a value is always text`(text: String, value: String) throws {
        #expect(try EditOperation(parsing: text, valuesAsText: true) == operation("n", .set(try json(value))))
    }

    @Test func `each form is its operation`() throws {
        let forms: [(String, String, EditOperation.Action)] = [
            ("plays+=1", "plays", .increment(by: 1)), ("plays-=3", "plays", .increment(by: -3)),
            ("plays+=-2", "plays", .increment(by: -2)), ("plays-=-2", "plays", .increment(by: 2)),
            ("plays-=9223372036854775807", "plays", .increment(by: -.max)),
            ("a/b+=9223372036854775807", "a/b", .increment(by: .max)),
            ("title.unset", "title", .unset), ("cfg/theme.unset", "cfg/theme", .unset),
            ("a.b.unset", "a.b", .unset), ("tags.add=red", "tags", .add(try json("\"red\""))),
            ("tags.add=5", "tags", .add(try json("5"))), ("tags.remove=red", "tags", .remove(try json("\"red\""))),
            ("tags.add=x.unset", "tags", .add(try json("\"x.unset\""))),
            ("body.insert@0=Hello, ", "body", .insert(at: 0, try json("\"Hello, \""))),
            ("items.insert@12={\"a\":1}", "items", .insert(at: 12, try json("{\"a\":1}"))),
            ("body.delete@3:2", "body", .delete(at: 3, count: 2)), ("items.move@4:0", "items", .move(from: 4, to: 0)),
            ("items/0/done=true", "items/0/done", .set(try json("true"))),
        ]
        for (text, path, action) in forms {
            #expect(try EditOperation(parsing: text) == operation(path, action), "\(text)")
        }
    }

    @Test(arguments: [
        ("title", ErrorCode.unknownOperation), ("", .unknownOperation), ("title.upper", .unknownOperation),
        ("title.upper=1", .unknownOperation), ("title.Add=1", .unknownOperation), ("title.add@1=x", .unknownOperation),
        ("title.unset@1", .unknownOperation), ("title.", .unknownOperation), ("title.=5", .unknownOperation),
        ("=5", .invalidArgument), (".unset", .invalidArgument), ("+=5", .invalidArgument),
        ("title.unset=1", .invalidArgument), ("x.delete@1:2=3", .invalidArgument), ("x.move@1:2=3", .invalidArgument),
        ("x.add", .invalidArgument), ("x.remove", .invalidArgument), ("x.insert@1", .invalidArgument),
        ("x.insert=1", .invalidArgument), ("x.delete", .invalidArgument), ("x.move", .invalidArgument),
        ("x.delete@1", .invalidArgument), ("x.move@1", .invalidArgument), ("x.insert@=1", .invalidArgument),
        ("x.insert@-1=1", .invalidArgument), ("x.insert@a=1", .invalidArgument), ("x.insert@+1=1", .invalidArgument),
        ("x.delete@1:", .invalidArgument), ("x.delete@1:2:3", .invalidArgument),
        ("x.delete@0:0", .indexOutOfRange), ("x.insert@99999999999999999999=1", .indexOutOfRange),
        ("x.delete@9223372036854775807:1", .indexOutOfRange), ("x.move@99999999999999999999:1", .indexOutOfRange),
        ("n+=1.5", .typeMismatch), ("n+=", .typeMismatch), ("n+=one", .typeMismatch), ("n-=--1", .typeMismatch),
        ("n+=\"1\"", .typeMismatch), ("n+=9223372036854775808", .numberOutOfRange),
        ("n-=-9223372036854775808", .numberOutOfRange), ("n=9223372036854775808", .numberOutOfRange),
        ("n=1e400", .numberOutOfRange), ("x={\"a\":1,\"a\":2}", .malformedJSON), ("a~2=1", .invalidArgument),
        ("a~=1", .invalidArgument),
    ])
    func `what is no operation says what is wrong and what to do`(text: String, code: ErrorCode) {
        let error = #expect(throws: ControlError.self) { try EditOperation(parsing: text) }
        #expect(error?.code == code, "\(text)")
        #expect(error?.message.isEmpty == false)
        #expect(error?.hint.isEmpty == false || error?.code == .indexOutOfRange)
    }

    @Test func `values and paths are bounded`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        // The object itself is the first level.
        _ = try EditOperation(parsing: "x=" + nested(63))
        for text in ["x=" + nested(64), "a/x=" + nested(63), "x.insert@0=" + nested(63), "x=" + nested(500)] {
            let error = #expect(throws: ControlError.self) { try EditOperation(parsing: text) }
            #expect(error?.code == .tooDeep)
        }
        let path = Array(repeating: "k", count: 65).joined(separator: "/")
        let deep = #expect(throws: ControlError.self) { try EditOperation(parsing: path + "=1") }
        #expect(deep?.code == .tooDeep)
        let large = #expect(throws: ControlError.self) {
            try EditOperation(parsing: "x=" + String(repeating: "y", count: ControlLimits.valueBytes))
        }
        #expect(large?.code == .tooLarge)
    }

    @Test func `normalisation twins are two paths`() throws {
        let one = try EditOperation(parsing: "caf\u{E9}=1")
        let two = try EditOperation(parsing: "cafe\u{301}=1")
        #expect(one != two)
        #expect(one.path != two.path)
        #expect(Set([one, two]).count == 2)
    }

    @Test func `the JSON form reads back, and the text forms stand among it`() throws {
        let text = #"""
            [{"op":"set","path":"a/b","value":null},{"op":"increment","path":"n","by":-5},{"op":"unset","path":"x"},
            {"op":"add","path":"tags","value":"red"},{"op":"remove","path":"tags","value":1.0},
            {"op":"insert","path":"l","at":0,"value":{"a":[]}},{"op":"delete","path":"l","at":1,"count":2},
            {"op":"move","path":"l","from":3,"to":0},"title=Milk","plays+=1"]
            """#
        let operations = try EditOperation.list(parsing: Array(text.utf8))
        #expect(operations.count == 10)
        #expect(operations[0] == (try operation("a/b", .set(try json("null")))))
        #expect(operations[8] == (try EditOperation(parsing: "title=Milk")))
        #expect(try EditOperation.list(parsing: JSONEncoding.bytes(operations)) == operations)
    }

    @Test(arguments: [
        (#"{}"#, ErrorCode.invalidArgument), ("[]", .invalidArgument), ("[", .malformedJSON), ("5", .invalidArgument),
        (#"[{"op":"frob","path":"x"}]"#, .unknownOperation), (#"["frob"]"#, .unknownOperation),
        (#"[{"op":"set","path":"x"}]"#, .invalidArgument), (#"[{"op":"set","value":1}]"#, .invalidArgument),
        (#"[{"path":"x","value":1}]"#, .invalidArgument), (#"[{"op":"unset","path":"x","value":1}]"#, .invalidArgument),
        (#"[{"op":"set","path":"x","value":1,"frob":1}]"#, .unknownKey),
        (#"[{"op":"insert","path":"x","at":-1,"value":1}]"#, .indexOutOfRange),
        (#"[{"op":"delete","path":"x","at":0,"count":0}]"#, .indexOutOfRange),
        (#"[{"op":"insert","path":"x","at":"1","value":1}]"#, .invalidArgument),
        (#"[{"op":"increment","path":"x","by":1.5}]"#, .invalidArgument),
        (#"[{"op":"set","path":5}]"#, .invalidArgument),
        (#"[{"op":"set","path":"x","value":18446744073709551615}]"#, .numberOutOfRange), ("[1]", .invalidArgument),
    ])
    func `a bad list is refused`(text: String, code: ErrorCode) {
        let error = #expect(throws: ControlError.self) { try EditOperation.list(parsing: Array(text.utf8)) }
        #expect(error?.code == code, "\(text)")
    }

    @Test func `an error says which operation it is about`() {
        let error = #expect(throws: ControlError.self) {
            try EditOperation.list(parsing: Array(#"["a=1","b=2","c.frob"]"#.utf8))
        }
        #expect(error?.message.hasPrefix("Operation 3: ") == true)
    }

    @Test(arguments: ["a", "a/b", "a~1b", "~0", "a//b", "", "/", "é/e\u{301}"])
    func `paths read back`(text: String) throws { #expect(try FieldPath(parsing: text).description == text) }
}
