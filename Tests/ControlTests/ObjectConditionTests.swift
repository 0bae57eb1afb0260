import ControlAPI
import Testing

/// The texts of conditions: how they are read, and that they read back.
@Suite struct ObjectConditionTests {
    private func compare(
        _ field: String, _ comparison: ObjectCondition.Comparison, _ value: String
    ) throws -> ObjectCondition {
        .compare(try FieldPath(parsing: field), comparison, try JSONText(value))
    }

    @Test(arguments: [
        ("done=true", "done = true"), ("cfg/n=5", "cfg/n = 5"), ("n = 5", "n = 5"), ("n==5", "n = 5"),
        ("n!=5", "n != 5"), ("n<5", "n < 5"), ("n <= 5", "n <= 5"), ("n>=-1.5", "n >= -1.5"),
        ("title=Milk", #"title = "Milk""#), (#"title="Milk""#, #"title = "Milk""#), ("title=", #"title = """#),
        ("title=Buy milk and eggs", #"title = "Buy milk and eggs""#), ("title=a=b", #"title = "a=b""#),
        ("title=Is 1<2 or not?", #"title = "Is 1<2 or not?""#), ("title=(a)", #"title = "(a)""#),
        ("title = two words ", #"title = "two words""#), ("t=5 apples", #"t = "5 apples""#),
        (#"t=[1,{"a":2}]"#, #"t = [1,{"a":2}]"#), ("t=[1", #"t = "[1""#),
        ("tags.contains=home", #"tags contains "home""#), ("tags contains home", #"tags contains "home""#),
        ("name.prefix=Mi", #"name prefix "Mi""#), ("zip prefix 80", #"zip prefix "80""#),
        ("a=1 and b=2", "a = 1 and b = 2"), ("a=1 or b=2 and c=3", "a = 1 or b = 2 and c = 3"),
        ("(a=1 or b=2) and c=3", "(a = 1 or b = 2) and c = 3"), ("(a=1)", "a = 1"),
        ("(a=x or b=y z) and c=3", #"(a = "x" or b = "y z") and c = 3"#),
        ("a=x and not b=y", #"a = "x" and not b = "y""#), ("not(a=1)", "not a = 1"), ("not=1", #""not" = 1"#),
        ("a=salt and b in [x, 2, true, \"q,\"]", #"a = "salt" and b in ["x",2,true,"q,"]"#), ("a in []", "a in []"),
        (#""odd field" = 1"#, #""odd field" = 1"#), (#""a.contains"=1"#, #""a.contains" = 1"#),
        (".contains=1", #"".contains" = 1"#), ("a in [b c , d]", #"a in ["b c","d"]"#),
    ])
    func `conditions are read as people write them`(text: String, canonical: String) throws {
        let condition = try ObjectCondition(parsing: text)
        #expect(condition.text == canonical)
        #expect(try ObjectCondition(parsing: condition.text) == condition)
    }

    @Test func `the parts of a condition are what was meant`() throws {
        #expect(try ObjectCondition(parsing: "cfg/n=5") == compare("cfg/n", .equal, "5"))
        #expect(
            try ObjectCondition(parsing: "a=1 or not b<2 and c.contains=3")
                == .any([
                    compare("a", .equal, "1"),
                    .all([.not(compare("b", .less, "2")), compare("c", .contains, "3")]),
                ]))
        #expect(
            try ObjectCondition(parsing: "a=b and c") == compare("a", .equal, #""b and c""#),
            "what follows is no comparison, so it belongs to the text")
    }

    @Test func `values are texts where that is asked for`() throws {
        for (text, value) in [("n=5", #""5""#), (#"n="5""#, #""\"5\"""#), ("n=[1]", #""[1]""#)] {
            #expect(try ObjectCondition(parsing: text, valuesAsText: true) == compare("n", .equal, value))
        }
        #expect(
            try ObjectCondition(parsing: "n in [5,x]", valuesAsText: true)
                == .isIn(FieldPath(field: "n"), [try JSONText(#""5""#), try JSONText(#""x""#)]))
    }

    @Test(arguments: [
        "", " ", "n", "=5", "n 5", "(n=5", "n=5 and", "not", "a= and b=1", "a in [1", "a in 1", "n=5) ", "\"n=5",
        "a in [1}",
        "()", "a=1 and (b=2", "a~2=1",
    ])
    func `what cannot be read is refused with its place`(text: String) throws {
        // Some of them are texts: "n=5) " compares with a text that ends in a parenthesis.
        guard let condition = try? ObjectCondition(parsing: text) else {
            let error = #expect(throws: ControlError.self) { try ObjectCondition(parsing: text) }
            #expect(error?.code == .invalidArgument && error?.hint != nil)
            return
        }
        #expect(["n=5) ", "n=5 and"].contains(text), "\(text) was read as \(condition.text)")
    }

    @Test func `groups go so deep and no deeper`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a=1" + String(repeating: ")", count: depth)
        }
        #expect(try ObjectCondition(parsing: nested(32)).text == "a = 1")
        let negated = try ObjectCondition(parsing: String(repeating: "not ", count: 32) + "a=1")
        #expect(try ObjectCondition(parsing: negated.text) == negated)
        let blanks = String(repeating: " ", count: 4_000)
        let hard = "a=x\(blanks)and\(String(repeating: "(", count: 4_000))"
        #expect(throws: Never.self) { try ObjectCondition(parsing: hard) }
        for text in [nested(1_000), String(repeating: "not ", count: 1_000) + "a=1"] {
            let error = #expect(throws: ControlError.self) { try ObjectCondition(parsing: text) }
            #expect(error?.code == .tooDeep)
        }
        let long = #expect(throws: ControlError.self) {
            try ObjectCondition(parsing: "a=" + String(repeating: "x", count: 9_000))
        }
        #expect(long?.code == .tooLarge)
    }

    @Test func `conditions that a program made wrong are refused before they are sent`() throws {
        for wrong in [.all([]), .any([]), .not(.all([])), try compare("a", .prefix, "5")] as [ObjectCondition] {
            let error = #expect(throws: ControlError.self) { try wrong.check() }
            #expect(error?.code == .invalidArgument)
        }
    }

    @Test func `steps of an order read back`() throws {
        for text in ["created", "changed desc", "prio desc", "a/b", "x desc desc"] {
            #expect(try ListOrder.Step(parsing: text).text == text)
        }
        #expect(throws: ControlError.self) { try ListOrder.Step(parsing: "") }
        #expect(throws: ControlError.self) { try ListOrder(parsing: ["a", "b", "c", "d", "e"]) }
        #expect(try ListOrder(parsing: []) == ListOrder())
    }
}
