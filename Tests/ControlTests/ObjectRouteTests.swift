import ControlAPI
import ControlServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(20))) struct ObjectRouteTests {
    private static let notes = "/v1/spaces/home/collections/note/objects"
    private static let lines = [("Content-Type", "application/x-ndjson")]

    @Test(arguments: Road.allCases)
    func `an object is put, read, changed and deleted`(road: Road) async throws {
        try await road.with { request async throws in
            let put = try await request("PUT", Self.notes + "/n1", body: #"{"title":"Milk","n":1.0e2}"#)
            #expect(put.status == 200)
            let first = try put.value(ObjectEntry.self)
            #expect(
                put.text
                    == #"{"id":"n1","collection":"note","fields":{"n":100.0,"title":"Milk"},"version":"\#(first.version)"}"#
            )
            #expect(try await request("GET", Self.notes + "/n1").text == put.text)
            let again = try await request("PUT", Self.notes + "/n1", body: #"{"title":null,"cfg":{"a":1}}"#)
            #expect(try again.value(ObjectEntry.self).fields.description == #"{"cfg":{"a":1},"n":100.0,"title":null}"#)
            let replaced = try await request("PUT", Self.notes + "/n1?replace=true", body: #"{"title":"Tea"}"#)
            #expect(try replaced.value(ObjectEntry.self).fields.description == #"{"title":"Tea"}"#)
            let edits = #"["plays+=2",{"op":"add","path":"tags","value":"red"},"cfg/theme=dark"]"#
            let edited = try await request("PATCH", Self.notes + "/n1", body: edits)
            #expect(
                try edited.value(ObjectEntry.self).fields.description
                    == #"{"cfg":{"theme":"dark"},"plays":2,"tags":["red"],"title":"Tea"}"#)
            let past = try await request("GET", Self.notes + "/n1?at=\(first.version)")
            #expect(try past.value(ObjectEntry.self) == first)
            #expect(try await request("DELETE", Self.notes + "/n1").text == #"{"deleted":true}"#)
            #expect(try await request("DELETE", Self.notes + "/n1").text == #"{"deleted":false}"#)
            #expect(try await request("GET", Self.notes + "/n1").code == "not_found")
            let refused = try await request("PUT", Self.notes + "/n1", body: "{}")
            #expect(refused.status == 410)
            #expect(refused.code == "object_deleted")
            #expect(refused.text.contains("Create a new one: lanyard put"))
        }
    }

    @Test(arguments: Road.allCases)
    func `without an id an object gets a fresh one, and its member id is a field`(road: Road) async throws {
        try await road.with { request async throws in
            let one = try (try await request("POST", Self.notes, body: #"{"id":"x"}"#)).value(ObjectEntry.self)
            let two = try (try await request("POST", Self.notes, body: #"{"id":"x"}"#)).value(ObjectEntry.self)
            #expect(one.id != two.id)
            #expect(one.fields.description == #"{"id":"x"}"#)
        }
    }

    @Test(arguments: Road.allCases)
    func `a write happens under its condition only, and says the version there is`(road: Road) async throws {
        try await road.with { request async throws in
            let first = try (try await request("PUT", Self.notes + "/n?ifAbsent=true", body: "{\"a\":1}"))
                .value(ObjectEntry.self)
            #expect(try await request("PUT", Self.notes + "/n?ifAbsent=true", body: "{}").code == "already_exists")
            let condition = "?ifVersion=\(first.version)"
            let second = try (try await request("PUT", Self.notes + "/n" + condition, body: "{\"a\":2}"))
                .value(ObjectEntry.self)
            for (method, body) in [("PUT", "{\"a\":3}"), ("PATCH", #"["a=3"]"#), ("DELETE", nil)] {
                let refused = try await request(method, Self.notes + "/n" + condition, body: body)
                #expect(refused.status == 409)
                let error = try refused.value(ErrorResponse.self).controlError
                #expect(error.code == .versionMismatch)
                #expect(error.version == second.version)
            }
            #expect(try (try await request("GET", Self.notes + "/n")).value(ObjectEntry.self) == second)
            let none = try await request("PUT", Self.notes + "/other" + condition, body: "{}")
            #expect(none.code == "version_mismatch")
            #expect(!none.text.contains(#""version":"#))
            #expect(try await request("PATCH", Self.notes + "/other", body: #"["a=3"]"#).code == "not_found")
            #expect(try await request("PATCH", Self.notes + "/other?create=true", body: #"["a=3"]"#).status == 200)
        }
    }

    @Test(arguments: Road.allCases)
    func `normalisation twins are two objects with two fields`(road: Road) async throws {
        try await road.with { request async throws in
            let body = "{\"caf\u{E9}\":1,\"cafe\u{301}\":2}"
            _ = try await request("PUT", Self.notes + "/caf%C3%A9", body: body)
            _ = try await request("PUT", Self.notes + "/cafe%CC%81", body: "{}")
            let list = try (try await request("GET", Self.notes)).value([ObjectEntry].self)
            #expect(list.count == 2)
            let sorted = "{\"cafe\u{301}\":2,\"caf\u{E9}\":1}"
            #expect(list.last.map { Array($0.id.utf8) } == Array("caf\u{E9}".utf8))
            #expect(list.last.map { Array($0.fields.bytes) } == Array(sorted.utf8))
        }
    }

    // MARK: Lines

    @Test(arguments: Road.allCases)
    func `lines become objects, each its own, up to the first bad one`(road: Road) async throws {
        try await road.with { request async throws in
            let text = "{\"id\":\"a\",\"n\":1}\n\n{\"n\":2}\r\n{\"id\":\"c\"}"
            let good = try await request("POST", Self.notes, headers: Self.lines, body: text)
            #expect(try good.value(EmitResponse.self).count == 3)
            let bad = try await request(
                "POST", Self.notes, headers: Self.lines,
                body: "{\"id\":\"d\"}\n{\"id\":\"e\"}\n{\"id\":5}\n{\"id\":\"f\"}\n")
            let error = try bad.value(ErrorResponse.self).controlError
            #expect(error.code == .invalidArgument)
            #expect(error.line == 3 && error.written == 2)
            #expect(error.message.hasPrefix("Line 3: "))
            #expect(error.hint.hasPrefix("2 objects before it were written and stay."))
            let list = try (try await request("GET", Self.notes)).value([ObjectEntry].self)
            #expect(list.count == 5, "one got a fresh id")
            #expect(list.map(\.id).filter { $0.count == 1 } == ["a", "c", "d", "e"])
        }
    }

    @Test(arguments: Road.allCases)
    func `a line that the agent refuses is named, and what stood before it stays`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            try await live.put("note/x", "{}")
            try await live.delete("note/x")
            let text = "\n{\"id\":\"a\"}\n{\"id\":\"x\"}\n{\"id\":\"b\"}\n"
            let refused = try await request("POST", Self.notes, headers: Self.lines, body: text)
            #expect(refused.status == 410)
            let error = try refused.value(ErrorResponse.self).controlError
            #expect(error.code == .objectDeleted && error.line == 3 && error.written == 1)
            #expect(try (try await request("GET", Self.notes)).value([ObjectEntry].self).map(\.id) == ["a"])
        }
    }

    @Test(arguments: Road.allCases)
    func `many lines become as many objects`(road: Road) async throws {
        try await road.with { request async throws in
            let text = (0..<3_000).map { "{\"id\":\"n\($0)\"}" }.joined(separator: "\n")
            let answer = try await request("POST", Self.notes, headers: Self.lines, body: text)
            #expect(try answer.value(EmitResponse.self).count == 3_000)
            let all = try await request("GET", Self.notes, headers: [("Accept", "application/x-ndjson")])
            #expect(all.text.split(separator: "\n").count == 3_000)
        }
    }

    // MARK: Lists

    @Test(arguments: Road.allCases)
    func `lists go by pages and conditions`(road: Road) async throws {
        try await road.with { request async throws in
            #expect(try await request("GET", Self.notes).code == "unknown_collection")
            for number in 1...5 {
                let body = "{\"odd\":\(number % 2 == 1),\"cfg\":{\"n\":\(number)},\"t\":\"5\"}"
                _ = try await request("PUT", Self.notes + "/n\(number)", body: body)
            }
            let first = try await request("GET", Self.notes + "?limit=2")
            #expect(try first.value([ObjectEntry].self).map(\.id) == ["n1", "n2"])
            let next = try #require(first.headers["lanyard-next"])
            let rest = try await request("GET", Self.notes + "?after=\(next)")
            #expect(try rest.value([ObjectEntry].self).map(\.id) == ["n3", "n4", "n5"])
            #expect(rest.headers["lanyard-next"] == nil)
            func ids(_ query: String) async throws -> [String] {
                try (try await request("GET", Self.notes + query)).value([ObjectEntry].self).map(\.id)
            }
            #expect(try await ids("?where=odd%3Dtrue") == ["n1", "n3", "n5"])
            #expect(try await ids("?where=odd=true&where=cfg/n=3") == ["n3"])
            #expect(try await ids("?where=t=5") == [])
            #expect(try await ids("?where=t=%225%22").count == 5)
            // A blank as forms, curl and HTTP libraries write it; a plus is escaped, also in a path.
            #expect(try await ids("?where=cfg/n+%3E+2+and+not+cfg/n+in+[3,5.0]") == ["n4"])
            #expect(try await ids("?where=t+=+%225%2B%22").isEmpty)
            #expect(try await ids("?where=cfg/n%3E2%20and%20not%20cfg/n%20in%20[3,5.0]") == ["n4"])
            #expect(
                try await ids("?where=t%20prefix%205%20or%20none=null&sort=odd%20desc&sort=cfg/n%20desc&limit=2") == [
                    "n5", "n3",
                ])
            let count = try await request("GET", "/v1/spaces/home/collections/note/count?where=odd=true")
            #expect(try count.value(ObjectCount.self) == ObjectCount(count: 3, index: nil, examined: 5))
            let list = try await request("GET", "/v1/spaces/home/collections/note/count?sort=odd&reverse=true&limit=2")
            #expect(try list.value(ObjectCount.self) == ObjectCount(count: 2, index: nil, examined: 5))
            let refusedQueries = [
                "count?where=odd", "count?limit=2", "count?sort=", "objects?where=odd", "objects?where=(odd=1",
            ]
            for query in refusedQueries {
                let refused = try await request("GET", "/v1/spaces/home/collections/note/\(query)")
                #expect(refused.code == "invalid_argument", "\(query)")
            }
            #expect(try await request("GET", "/v1/spaces/home/collections/none/count").code == "unknown_collection")
            #expect(try await ids("?reverse=true&limit=2") == ["n5", "n4"])
            #expect(try await ids("?sort=odd&reverse=true") == ["n5", "n3", "n1", "n4", "n2"])
            #expect(try await ids("?sort=cfg/n&after=note/n3") == ["n4", "n5"])
            #expect(try await ids("?sort=created&limit=1") == ["n1"])
            for query in ["?sort=", "?reverse=yes", "?sort=~2"] {
                #expect(try await request("GET", Self.notes + query).code == "invalid_argument", "\(query)")
            }
            let lines = try await request("GET", Self.notes + "?limit=3", headers: [("Accept", "application/x-ndjson")])
            #expect(lines.text.split(separator: "\n").count == 3)
            let object = try #require(try first.value([ObjectEntry].self).first)
            #expect(lines.text.hasPrefix(String(decoding: JSONEncoding.bytes(object), as: UTF8.self) + "\n"))
        }
    }

    @Test(arguments: Road.allCases)
    func `conditions that are too long are refused with a code`(road: Road) async throws {
        try await road.with { request async throws in
            _ = try await request("PUT", Self.notes + "/n", body: "{}")
            let letters = String(repeating: "%C3%A9", count: 4_000)
            #expect(try await request("GET", Self.notes + "?where=t=\(letters)").text == "[]")
            let refused = try await request("GET", Self.notes + "?where=t=\(letters)&where=u=\(letters)")
            #expect(refused.code == "too_large")
        }
    }

    @Test(arguments: Road.allCases)
    func `deletions and history are told`(road: Road) async throws {
        try await road.with { request async throws in
            _ = try await request("PUT", Self.notes + "/n", body: #"{"a":1,"b":null}"#)
            _ = try await request("PATCH", Self.notes + "/n", body: #"["a=2"]"#)
            _ = try await request("DELETE", Self.notes + "/n")
            let deleted = try await request("GET", "/v1/spaces/home/deleted?collection=note")
            let rows = try #require(try JSONSerialization.jsonObject(with: Data(deleted.body)) as? [[String: Any]])
            #expect(rows.first?.keys.sorted() == ["collection", "device", "id", "policy", "time"])
            #expect(
                try (try await request("GET", "/v1/spaces/home/deleted?collection=x")).value([DeletedEntry].self)
                    .isEmpty)
            let history = try (try await request("GET", Self.notes + "/n/history")).value([HistoryEntry].self)
            #expect(history.map(\.kind) == [.created, .created, .edited, .deleted])
            #expect(history[1].old == nil)
            #expect(history[1].new?.description == "null")
            #expect(history[2].old?.description == "1" && history[2].new?.description == "2")
            #expect(history[3].field == nil)
            let field = try (try await request("GET", Self.notes + "/n/history?field=a")).value([HistoryEntry].self)
            #expect(field.count == 2)
            #expect(try await request("GET", Self.notes + "/n/history?field=x").code == "unknown_field")
            #expect(try await request("GET", Self.notes + "/other/history").code == "not_found")
        }
    }

    // MARK: Transactions

    @Test(arguments: Road.allCases)
    func `a transaction is done as a whole or not at all`(road: Road) async throws {
        try await road.with { request async throws in
            let good = #"""
                {"operations":[{"op":"put","collection":"note","id":"a","fields":{"n":1},"ifAbsent":true},
                {"op":"edit","collection":"note","id":"a","edits":["m+=1"]},{"op":"delete","collection":"note","id":"z"},
                {"op":"emit","stream":"s","type":"t","payload":{"x":1.0}}]}
                """#
            let answer = try await request("POST", "/v1/transactions", body: good)
            #expect(answer.status == 200)
            let results = try answer.value(TransactionResponse.self).results
            #expect(results.count == 4)
            guard case .edit(let object?) = results[1], case .delete(false) = results[2], case .emit = results[3] else {
                Issue.record("\(results)")
                return
            }
            #expect(object.fields.description == #"{"m":1,"n":1}"#)
            let bad = #"""
                {"operations":[{"op":"put","collection":"note","id":"b","fields":{}},
                {"op":"put","collection":"note","id":"a","fields":{},"ifAbsent":true},{"op":"emit","stream":"s","payload":1}]}
                """#
            let refused = try await request("POST", "/v1/transactions", body: bad)
            #expect(refused.code == "already_exists")
            #expect(refused.text.contains(#""message":"Operation 2: "#))
            #expect(try await request("GET", Self.notes + "/b").code == "not_found")
            let page = try (try await request("GET", "/v1/spaces/home/streams/s/events")).value(EventPage.self)
            #expect(page.events.map(\.payload.description) == [#"{"x":1.0}"#])
        }
    }

    private static let badTransactions: [(body: String, code: String, place: String)] = [
        (#"{"operations":[]}"#, "invalid_argument", ""),
        (#"{"operations":[{"op":"frob"}]}"#, "unknown_operation", "Operation 1"),
        (
            #"{"operations":[{"op":"delete","collection":"a","id":"b"},{"op":"put","collection":"a/b","fields":{}}]}"#,
            "invalid_name", "Operation 2"
        ),
        (#"{"operations":[{"op":"put","collection":"a","fields":[]}]}"#, "type_mismatch", "Operation 1"),
        (#"{"operations":[{"op":"put","collection":"a","fields":{},"edits":[]}]}"#, "unknown_key", "Operation 1"),
        (
            #"{"operations":[{"op":"put","collection":"a","fields":{},"ifVersion":"r:1","ifAbsent":true}]}"#,
            "invalid_argument", "Operation 1"
        ),
        (
            #"{"operations":[{"op":"edit","collection":"a","id":"b","edits":["x.frob"]}]}"#, "unknown_operation",
            "Operation 1"
        ),
        (
            #"{"operations":[{"op":"edit","collection":"a","id":"b","edits":[]}]}"#, "invalid_argument",
            "Operation 1"
        ),
        (#"{"operations":[{"op":"emit","stream":"s"}]}"#, "invalid_argument", ""),
        (#"{"space":"other","operations":[{"op":"emit","stream":"s","payload":1}]}"#, "unknown_space", ""),
    ]

    @Test(arguments: Road.allCases)
    func `a bad transaction says which operation is bad`(road: Road) async throws {
        try await road.with { request async throws in
            for sample in Self.badTransactions {
                let answer = try await request("POST", "/v1/transactions", body: sample.body)
                #expect(answer.code == sample.code, "\(sample.body): \(answer.text)")
                #expect(answer.text.contains(#""message":"\#(sample.place)"#), "\(sample.body): \(answer.text)")
            }
        }
    }

    // MARK: Bad input

    private static let badInput: [(method: String, path: String, body: String?, status: Int, code: String)] = [
        ("PUT", "/n", "{", 400, "malformed_json"), ("PUT", "/n", "[]", 422, "type_mismatch"),
        ("PUT", "/n", "", 400, "malformed_json"), ("PUT", "/n", #"{"a":1,"a":2}"#, 400, "malformed_json"),
        ("PUT", "/n", #"{"a":1e999}"#, 422, "number_out_of_range"),
        ("PUT", "/n?ifVersion=x", "{}", 400, "invalid_argument"),
        ("PUT", "/n?ifVersion=r:1&ifAbsent=true", "{}", 400, "invalid_argument"),
        ("PUT", "/n?replace=maybe", "{}", 400, "invalid_argument"),
        ("PUT", "/n?if-absent=true", "{}", 400, "unknown_key"),
        ("PUT", "/a%2Fb", "{}", 400, "invalid_name"), ("PUT", "/%0A", "{}", 400, "invalid_name"),
        ("PUT", "/%FF", "{}", 400, "invalid_name"), ("GET", "/n", nil, 404, "not_found"),
        ("GET", "/n?at=x", nil, 400, "invalid_argument"),
        ("PATCH", "/n", #"["x.frob=1"]"#, 400, "unknown_operation"),
        ("PATCH", "/n", #"{}"#, 400, "invalid_argument"), ("PATCH", "/n", #"["x.insert@1=1"]"#, 404, "not_found"),
        ("PATCH", "/n?create=true", #"["x.insert@1=1"]"#, 422, "index_out_of_range"),
        ("PATCH", "/n?create=true", #"["x=a","x+=1"]"#, 422, "type_mismatch"),
        ("GET", "?where=x", nil, 400, "invalid_argument"), ("GET", "?limit=0", nil, 400, "invalid_argument"),
        ("GET", "?after=", nil, 400, "invalid_argument"),
        ("GET", "/n/history?field=~", nil, 400, "invalid_argument"),
        ("POST", "/n/resolve", #"{"decision":"maybe"}"#, 400, "invalid_argument"),
        ("POST", "/n/resolve", #"{"decision":"keep","field":"a"}"#, 400, "invalid_argument"),
        ("POST", "/n/resolve", #"{"field":"a"}"#, 400, "invalid_argument"),
        ("POST", "/n", "{}", 405, "method_not_allowed"),
    ]

    @Test(arguments: Road.allCases)
    func `bad input is refused with a status, a code and a hint`(road: Road) async throws {
        try await road.with { request async throws in
            for sample in Self.badInput {
                let answer = try await request(sample.method, Self.notes + sample.path, body: sample.body)
                #expect(answer.status == sample.status && answer.code == sample.code, "\(sample): \(answer.text)")
                #expect(try !answer.value(ErrorResponse.self).controlError.hint.isEmpty, "\(sample)")
            }
        }
    }

    @Test(arguments: Road.allCases)
    func `what is not UTF-8, too deep or too large is refused before the agent sees it`(road: Road) async throws {
        try await road.with { request async throws in
            let bad = Array("{\"a\":\"".utf8) + [0xFF] + Array("\"}".utf8)
            #expect(try await request.send("PUT", Self.notes + "/n", body: bad).code == "invalid_utf8")
            for depth in [65, 500] {
                let deep = String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
                let answer = try await request("PUT", Self.notes + "/n", body: deep)
                #expect(answer.status == 422)
                #expect(answer.code == "too_deep")
            }
            let large = #"{"a":""# + String(repeating: "x", count: ControlLimits.valueBytes) + #""}"#
            #expect(try await request("PUT", Self.notes + "/n", body: large).code == "too_large")
            #expect(try await request("POST", Self.notes, headers: Self.lines, body: large).code == "too_large")
            let endless = String(repeating: "x", count: 3 * ControlLimits.valueBytes)
            #expect(try await request("POST", Self.notes, headers: Self.lines, body: endless).code == "too_large")
            #expect(try await request("GET", Self.notes).code == "unknown_collection")
        }
    }
}
