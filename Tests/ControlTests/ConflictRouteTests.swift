import ControlAPI
import ControlServer
import Foundation
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConflictRouteTests {
    static func conflict(
        _ id: String, _ kind: ConflictEntry.Kind, field: String? = nil, values: [String] = []
    ) throws -> ConflictEntry {
        ConflictEntry(
            id: id, collection: "note", field: field.map(FieldPath.init(field:)), kind: kind,
            values: try values.map { try JSONText($0) },
            authors: (0..<max(1, values.count)).map { _ in
                .init(device: MemoryAgent.device, time: MemoryObjects.time, count: 3)
            })
    }

    @Test(arguments: Road.allCases)
    func `conflicts are listed and resolved`(road: Road) async throws {
        let agent = MemoryAgent()
        await agent.show([
            try Self.conflict("a", .concurrentValues, field: "title", values: [#""Tea""#, #""Milk""#]),
            try Self.conflict("b", .undecided), try Self.conflict("c", .editedWhileDeleted),
        ])
        try await road.with(agent) { request async throws in
            _ = try await request("PUT", "/v1/spaces/home/collections/note/objects/a", body: "{}")
            let list = try await request("GET", "/v1/spaces/home/conflicts?collection=note")
            let rows = try #require(try JSONSerialization.jsonObject(with: Data(list.body)) as? [[String: Any]])
            #expect(rows.count == 3)
            #expect(rows[0].keys.sorted() == ["authors", "collection", "deletions", "field", "id", "kind", "values"])
            #expect(rows[0]["values"] as? [String] == ["Tea", "Milk"])
            #expect(rows[1]["field"] is NSNull)
            func resolve(_ id: String, _ body: String) async throws -> String {
                try await request("POST", "/v1/spaces/home/collections/note/objects/\(id)/resolve", body: body).text
            }
            #expect(try await resolve("a", #"{"decision":"keep"}"#) == #"{"resolved":false}"#)
            #expect(try await resolve("a", #"{"field":"title","value":"Coffee"}"#) == #"{"resolved":true}"#)
            #expect(try await resolve("b", #"{"decision":"keep"}"#) == #"{"resolved":true}"#)
            #expect(try await resolve("c", #"{"decision":"dismiss"}"#) == #"{"resolved":true}"#)
            #expect(try await request("GET", "/v1/spaces/home/conflicts").text == "[]")
            let object = try await request("GET", "/v1/spaces/home/collections/note/objects/a")
            #expect(object.text.contains(#""fields":{"title":"Coffee"}"#))
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
            #expect(try await request("PUT", path, body: #"{"fields":{"n":"set"}}"#).code == "schema_would_lose_data")
            #expect(try await request("PUT", path, body: #"{"fields":{"n":"sett"}}"#).code == "schema_invalid")
            let refused = try await request("PUT", "/v1/spaces/home/collections/note/objects/x", body: "{}")
            #expect(refused.code == "not_found")
            #expect(refused.text.contains("--if-absent"))
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
