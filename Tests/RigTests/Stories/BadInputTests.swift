import Foundation
import Testing

extension RigSuites {
    /// What people and programs get wrong: each is answered by a code, a sentence and a next step, and nothing is
    /// half-written.
    @Suite(.rig(1, "--no-pair")) struct BadInputTests {
        struct Mistake: Sendable, CustomTestStringConvertible {
            let testDescription: String
            let arguments: [String]
            let code: String
            let exit: Int32
            var input: String?

            init(_ name: String, _ arguments: String..., input: String? = nil, code: String, exit: Int32) {
                testDescription = name
                self.arguments = arguments
                self.code = code
                self.exit = exit
                self.input = input
            }
        }

        static let values = [
            Mistake("text where a counter is", "put", "thing/a", #"{"plays":"many"}"#, code: "type_mismatch", exit: 1),
            Mistake("an array as an object", "put", "thing/a", "[1]", code: "type_mismatch", exit: 1),
            Mistake("cut off", "put", "thing/a", #"{"title":"#, code: "malformed_json", exit: 1),
            Mistake("no number at all", "put", "thing/a", #"{"size":NaN}"#, code: "malformed_json", exit: 1),
            Mistake("a key twice", "put", "thing/a", #"{"a":1,"a":2}"#, code: "malformed_json", exit: 1),
            Mistake("beyond any double", "put", "thing/a", #"{"size":1e999}"#, code: "number_out_of_range", exit: 1),
            Mistake(
                "beyond 64 bits", "put", "thing/a", #"{"size":9223372036854775808}"#, code: "number_out_of_range",
                exit: 1),
            Mistake(
                "65 deep", "put", "thing/a", "-", input: #"{"d":\#(nested(64))}"#, code: "too_deep", exit: 1),
            Mistake(
                "more than a mebibyte", "put", "thing/a", "-",
                input: #"{"title":"\#(String(repeating: "x", count: 1 << 20))"}"#, code: "too_large", exit: 1),
            Mistake("another birth", "put", "thing/a", #"{"born":1816}"#, code: "constant_field", exit: 4),
        ]

        static let edits = [
            Mistake("no such operation", "edit", "thing/a", "plays.double=2", code: "unknown_operation", exit: 2),
            Mistake("no operation", "edit", "thing/a", "title", code: "unknown_operation", exit: 2),
            Mistake("counting a title", "edit", "thing/a", "title+=1", code: "type_mismatch", exit: 1),
            Mistake("a place in a set", "edit", "thing/a", "tags.insert@0=red", code: "type_mismatch", exit: 1),
            Mistake("counting by halves", "edit", "thing/a", "plays+=0.5", code: "type_mismatch", exit: 1),
            Mistake(
                "behind the end of a text", "edit", "thing/a", "body.insert@6=!", code: "index_out_of_range", exit: 1),
            Mistake("too much of a list", "edit", "thing/a", "steps.delete@1:2", code: "index_out_of_range", exit: 1),
            Mistake("to a place beyond", "edit", "thing/a", "steps.move@0:2", code: "index_out_of_range", exit: 1),
            Mistake(
                "an element that is not there", "edit", "thing/a", "steps/2=c", code: "index_out_of_range", exit: 1),
            Mistake(
                "one bad operation of three", "edit", "thing/a", "-",
                input: #"["title=Other",{"op":"increment","path":"tags","by":1},"plays+=1"]"#, code: "type_mismatch",
                exit: 1),
            Mistake("nothing to edit", "edit", "thing/never", "title=x", code: "not_found", exit: 3),
        ]

        static let names = [
            Mistake("a collection that never was", "list", "nowhere", code: "unknown_collection", exit: 3),
            Mistake("a schema that never was", "schema", "show", "nowhere", code: "unknown_collection", exit: 3),
            Mistake("an object that never was", "get", "thing/never", code: "not_found", exit: 3),
            Mistake("no id", "get", "thing", code: "invalid_argument", exit: 2),
            Mistake("a slash in the id", "put", "thing/a/b", "{}", code: "invalid_name", exit: 2),
            Mistake(
                "129 bytes", "put", "\(String(repeating: "n", count: 129))/a", "{}", code: "invalid_name", exit: 2),
            Mistake("no version", "put", "thing/a", "{}", "--if-version", "latest", code: "invalid_argument", exit: 2),
        ]

        static let schemas = [
            Mistake(
                "a type that does not exist", "schema", "set", "thing", "-", input: #"{"fields":{"size":"float"}}"#,
                code: "schema_invalid", exit: 1),
            Mistake(
                "a word that is not known", "schema", "set", "thing", "-", input: #"{"feilds":{}}"#,
                code: "schema_invalid", exit: 1),
            Mistake(
                "another type for what holds data", "schema", "set", "thing", "-",
                input: #"{"fields":{"tags":"text"}}"#,
                code: "schema_would_lose_data", exit: 4),
        ]

        @Test func `every mistake is answered by a code, a sentence and a next step, and nothing is half-written`()
            throws
        {
            try StoryRig.tell { rig in
                let node = rig.node(1)
                try make(on: node)
                let before = try node.get("thing/a")
                let changes = try node.status().spaces.map(\.changes)
                for mistake in Self.values + Self.edits + Self.names + Self.schemas {
                    let outcome = try node.run(["lanyard"] + mistake.arguments + ["--json"], input: mistake.input)
                    print("    \(mistake.testDescription): \(outcome.errors.prefix(300))", terminator: "")
                    node.expectRefusal(of: outcome, code: mistake.code, exit: mistake.exit)
                }
                let after = try node.get("thing/a")
                #expect(after.version == before.version && after.fields == before.fields)
                #expect(try node.status().spaces.map(\.changes) == changes, "no change was written")
            }
        }

        @Test func `bytes that are no text are refused, wherever they stand`() throws {
            try StoryRig.tell { rig in
                let node = rig.node(1)
                for script in [
                    #"printf '{"title":"\377"}' | lanyard put bytes/a - --json"#,
                    #"printf '["title=\303"]' | lanyard edit bytes/a - --create --json"#,
                ] {
                    node.expectRefusal(of: try node.run(["sh", "-c", script]), code: "invalid_utf8", exit: 1)
                }
                try node.expectRefusal(["get", "bytes/a"], code: "not_found", exit: 3)
            }
        }

        @Test func `normalisation twins are two keys, two elements and two objects`() throws {
            try StoryRig.tell { rig in
                let node = rig.node(1)
                // "é" as one scalar and as two: equal to Swift's String, so bytes are compared.
                let (one, two) = ("\u{e9}", "e\u{301}")
                for (id, fields) in [(one, #"{"\#(one)":1,"\#(two)":2}"#), (two, #"{"all":["\#(one)","\#(two)"]}"#)] {
                    try node.lanyard("put", "twin/\(id)", fields)
                }
                for id in [one, two] {
                    let text = try node.lanyard("get", "twin/\(id)", "--json").output
                    for twin in [one, two] where !text.utf8.holds(#""\#(twin)""#.utf8) {
                        Issue.record("\(Array(twin.utf8)) is missing in \(text)")
                    }
                }
                #expect(try node.list("twin").count == 2)
            }
        }

        @Test func `a deleted object is not written to, and the hint says what to do instead of undeleting`() throws {
            try StoryRig.tell { rig in
                let node = rig.node(1)
                try node.put("gone/a", ["title": "was here"])
                #expect(try node.delete("gone/a"))
                for arguments in [
                    ["put", "gone/a", #"{"title":"x"}"#], ["put", "gone/a", "{}", "--if-absent"],
                    ["edit", "gone/a", "title=x"], ["edit", "gone/a", "title=x", "--create"],
                ] {
                    let refusal = try node.expectRefusal(arguments, code: "object_deleted", exit: 4)
                    #expect(refusal?.error.hint.lowercased().contains("create") == true, "\(refusal?.error.hint ?? "")")
                }
                #expect(try node.run(["lanyard", "undelete", "gone/a"]).status == 2, "there is no such command")
                #expect(try !node.delete("gone/a"))
            }
        }

        @Test func `a transaction with one bad step writes nothing, and a good one is one change`() throws {
            try StoryRig.tell { rig in
                let node = rig.node(1)
                let changes = try node.homeChanges()
                let put = #"{"op":"put","collection":"trade","id":"a","fields":{"paid":1}}"#
                let event = #"{"op":"emit","stream":"trades","payload":{"sum":1}}"#
                let bad = #"{"op":"edit","collection":"trade","id":"never","edits":["paid+=1"]}"#
                let refused = try transact([put, event, bad], on: node)
                #expect(refused["error"]?["code"] == "not_found", "\(refused)")
                #expect(refused["error"]?["message"]?.text?.hasPrefix("Operation 3") == true, "\(refused)")
                try node.expectRefusal(["get", "trade/a"], code: "not_found", exit: 3)
                #expect(try node.homeChanges() == changes)
                let done = try transact([put, event], on: node)
                #expect(done["results"]?.elements.count == 2, "\(done)")
                #expect(try node.homeChanges() == changes + 1)
                #expect(try node.fields("trade/a") == ["paid": 1])
            }
        }

        // MARK: What they are said about

        private func make(on node: Node) throws {
            try node.setSchema(
                "thing",
                [
                    "fields": [
                        "title": "register", "plays": "counter", "tags": "set", "body": "text", "steps": "list",
                        "born": "constant",
                    ]
                ])
            try node.put(
                "thing/a",
                ["title": "A", "plays": 3, "tags": ["red"], "body": "Hello", "steps": ["a", "b"], "born": 1815])
        }

        /// There is no command for it: a program sends it.
        private func transact(_ steps: [String], on node: Node) throws -> JSONValue {
            let body = #"{"operations":[\#(steps.joined(separator: ","))]}"#
            let request = """
                curl --silent --unix-socket "$LANYARD_SOCKET" -H 'Content-Type: application/json' --data-binary @- \
                    http://localhost/v1/transactions
                """
            return try node.decode(JSONValue.self, try node.run(["sh", "-c", request], input: body).output)
        }

        private static func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
    }
}

extension Sequence<UInt8> {
    fileprivate func holds(_ part: some Collection<UInt8>) -> Bool {
        let (all, part) = (Array(self), Array(part))
        return all.indices.contains { all[$0...].starts(with: part) }
    }
}
