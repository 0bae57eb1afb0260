import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(5))) struct RequestKeyTests {
    private static let events = "/v1/spaces/home/streams/s/events"

    @Test(arguments: Road.allCases)
    func `a key reaches the agent with all that the request asks for`(road: Road) async throws {
        let agent = MemoryAgent()
        try await road.with(agent) { request async throws in
            for body in [#"{"payload":1}"#, #"{"payload":1}"#, #"{"payload":2}"#] {
                _ = try await request("POST", Self.events, headers: [("Idempotency-Key", "k-1")], body: body)
            }
            _ = try await request("POST", Self.events, body: #"{"payload":3}"#)
        }
        let keys = await agent.emitKeys
        #expect(keys.map { $0.map(\.?.text) } == [["k-1"], ["k-1"], ["k-1"], []])
        #expect(keys[0] == keys[1])
        #expect(keys[0] != keys[2], "another body is another request")
    }

    @Test(arguments: Road.allCases)
    func `a line has the key with its number, or the one that it names`(road: Road) async throws {
        let agent = MemoryAgent()
        let lines = [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", "k")]
        try await road.with(agent) { request async throws in
            _ = try await request("POST", Self.events, headers: lines, body: "1\n\n2\n")
            let named = "{\"id\":\"a\",\"type\":\"t\",\"payload\":1}\n{\"payload\":2}\n"
            _ = try await request("POST", Self.events + "?envelope=true", headers: lines, body: named)
            let page = try (try await request("GET", Self.events)).value(EventPage.self)
            #expect(page.events.map(\.payload.description) == ["1", "2", "1", "2"])
            #expect(page.events.map(\.type) == [nil, nil, "t", nil])
        }
        #expect(await agent.emitKeys.flatMap { $0.map(\.?.text) } == ["k 1", "k 3", "a", "k 2"])
    }

    @Test(arguments: Road.allCases)
    func `a key with spaces or without end is refused`(road: Road) async throws {
        try await road.with { request async throws in
            for key in ["a b", String(repeating: "x", count: 256)] {
                let answer = try await request(
                    "POST", Self.events, headers: [("Idempotency-Key", key)], body: #"{"payload":1}"#)
                #expect(answer.code == "invalid_argument")
            }
        }
    }

    @Test func `a client whose answer is lost sends the write again under the same key`() async throws {
        try await LiveServer.with { server async throws in
            let relay = try LosingRelay(to: server.socketPath)
            defer { relay.close() }
            let client = LanyardClient(socketPath: relay.path)
            #expect(try await client.emit(try JSONText("1"), to: "s").count == 1)
            let keys = await server.agent.emitKeys.map { $0.map(\.?.text) }
            #expect(keys.count == 2)
            #expect(keys[0] == keys[1])
            #expect(keys[0].first.map { $0 != nil } ?? false)
            _ = try await client.once("order-17").emit(try JSONText("2"), to: "s")
            #expect(await server.agent.emitKeys.last?.first??.text == "order-17")
        }
    }
}
