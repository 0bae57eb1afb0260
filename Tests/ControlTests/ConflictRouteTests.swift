import ControlAPI
import Foundation
import Testing

@Suite(.timeLimit(.minutes(20))) struct ConflictRouteTests {
    private static let notes = "/v1/spaces/home/collections/note/objects/"

    @Test(arguments: Road.allCases)
    func `conflicts are listed and resolved`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            try await live.withPeer { peer async throws in
                try await live.makeUndecided("b", with: peer)
                try await live.put("note/a", "{}")
                try await live.put("other/c", "{}")
                try await live.converge(with: peer)
                try await live.apart(from: peer) {
                    try await live.put("note/a", #"{"title":"Tea"}"#)
                    try await peer.put("note/a", #"{"title":"Milk"}"#)
                    try await live.delete("other/c")
                    for number in 1...3 { try await peer.edit("other/c", "n=\(number)") }
                }
            }
            let list = try await request("GET", "/v1/spaces/home/conflicts?collection=note")
            let rows = try #require(try JSONSerialization.jsonObject(with: Data(list.body)) as? [[String: Any]])
            #expect(rows.count == 2)
            #expect(rows[0].keys.sorted() == ["authors", "collection", "deletions", "field", "id", "kind", "values"])
            #expect((rows[0]["values"] as? [String])?.sorted() == ["Milk", "Tea"])
            #expect(rows[1]["field"] is NSNull)
            let all = try (try await request("GET", "/v1/spaces/home/conflicts")).value([ConflictEntry].self)
            #expect(all.map(\.kind) == [.concurrentValues, .undecided, .editedWhileDeleted])
            func resolve(_ name: String, _ body: String) async throws -> String {
                let parts = name.split(separator: "/")
                return try await request(
                    "POST", "/v1/spaces/home/collections/\(parts[0])/objects/\(parts[1])/resolve", body: body
                ).text
            }
            #expect(try await resolve("note/a", #"{"decision":"keep"}"#) == #"{"resolved":false}"#)
            #expect(try await resolve("note/a", #"{"field":"title","value":"Coffee"}"#) == #"{"resolved":true}"#)
            #expect(try await resolve("note/b", #"{"decision":"keep"}"#) == #"{"resolved":true}"#)
            #expect(try await resolve("other/c", #"{"decision":"dismiss"}"#) == #"{"resolved":true}"#)
            #expect(try await request("GET", "/v1/spaces/home/conflicts").text == "[]")
            let object = try await request("GET", Self.notes + "a")
            #expect(object.text.contains(#""fields":{"title":"Coffee"}"#))
            #expect(try await request("GET", Self.notes + "b").text.contains(#""fields":{"n":1}"#))
        }
    }

    @Test(arguments: Road.allCases)
    func `schemas are set by parts and shown whole`(road: Road) async throws {
        try await road.with { request async throws in
            let path = "/v1/spaces/home/collections/note/schema"
            #expect(try await request("GET", path).code == "unknown_collection")
            let set = try await request(
                "PUT", path, body: #"{"fields":{"tags":{"type":"set","refers":"tag"}},"upsert":false}"#)
            #expect(
                set.text
                    == #"{"collection":"note","fields":{"tags":{"type":"set","refers":"tag"}},"deletePolicy":"deleteWins","indexed":[],"upsert":false}"#
            )
            let more = try await request("PUT", path, body: #"{"fields":{"n":"counter"},"deletePolicy":"ask"}"#)
            #expect(try await request("GET", path).text == more.text)
            #expect(more.text.contains(#""fields":{"n":"counter","tags""#))
            #expect(try await request("GET", "/v1/spaces/home/schemas").text == "[\(more.text)]")
            #expect(try await request("PUT", path, body: #"{"fields":{"n":"sett"}}"#).code == "schema_invalid")
            let refused = try await request("PUT", Self.notes + "x", body: "{}")
            #expect(refused.code == "not_found")
            #expect(refused.text.contains("--if-absent"))
            _ = try await request("PUT", Self.notes + "x?ifAbsent=true", body: #"{"n":1}"#)
            #expect(try await request("PUT", path, body: #"{"fields":{"n":"set"}}"#).code == "schema_would_lose_data")
        }
    }

    @Test(arguments: Road.allCases)
    func `streams are told how to keep events`(road: Road) async throws {
        try await road.with { request async throws in
            let path = "/v1/spaces/home/streams/light"
            let first = try (try await request("PUT", path, body: #"{"latestOnly":true}"#)).value(StreamEntry.self)
            #expect(first.latestOnly && first.retainSeconds == nil)
            let second = try (try await request("PUT", path, body: #"{"retainSeconds":60}"#)).value(StreamEntry.self)
            #expect(second.latestOnly && second.retainSeconds == 60)
            #expect(try await request("PUT", path, body: "{}").code == "invalid_argument")
        }
    }
}
