import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct RequestKeyTests {
    private static let events = "/v1/spaces/home/streams/s/events"

    @Test(arguments: Road.allCases)
    func `a request under a key is done once, and another one under it is refused`(road: Road) async throws {
        try await road.with { request async throws in
            let key = [("Idempotency-Key", "k-1")]
            let first = try await request("POST", Self.events, headers: key, body: #"{"payload":1}"#)
            let again = try await request("POST", Self.events, headers: key, body: #"{"payload":1}"#)
            #expect(first.status == 200 && again.text == first.text)
            let other = try await request("POST", Self.events, headers: key, body: #"{"payload":2}"#)
            #expect(other.status == 422 && other.code == "idempotency_mismatch")
            let keyless = try await request("POST", Self.events, body: #"{"payload":1}"#)
            #expect(keyless.status == 200 && keyless.text != first.text)
            let page = try (try await request("GET", Self.events)).value(EventPage.self)
            #expect(page.events.map(\.payload.description) == ["1", "1"])
        }
    }

    @Test(arguments: Road.allCases)
    func `a line has the key with its number, or the one that it names`(road: Road) async throws {
        let lines = [("Content-Type", "application/x-ndjson"), ("Idempotency-Key", "k")]
        try await road.with { request async throws in
            func payloads() async throws -> [String] {
                try (try await request("GET", Self.events)).value(EventPage.self).events.map(\.payload.description)
            }
            _ = try await request("POST", Self.events, headers: lines, body: "1\n\n2\n")
            // The first and the third line are known, the fourth is not.
            let longer = try await request("POST", Self.events, headers: lines, body: "1\n\n2\n3\n")
            #expect(longer.status == 200)
            #expect(try await payloads() == ["1", "2", "3"])
            let moved = try await request("POST", Self.events, headers: lines, body: "2\n")
            #expect(moved.code == "idempotency_mismatch")
            let named = "{\"id\":\"a\",\"type\":\"t\",\"payload\":4}\n"
            for keys in [lines, [lines[0], ("Idempotency-Key", "l")]] {
                let answer = try await request("POST", Self.events + "?envelope=true", headers: keys, body: named)
                #expect(answer.status == 200, "\(answer.text)")
            }
            #expect(try await payloads() == ["1", "2", "3", "4"])
        }
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
            #expect(relay.requestCount == 2)
            #expect(try await server.client.streams().map(\.events) == [1])
            let order = client.once("order-17")
            let first = try await order.emit(try JSONText("2"), to: "s")
            #expect(try await order.emit(try JSONText("2"), to: "s") == first)
            #expect(try await server.client.streams().map(\.events) == [2])
        }
    }
}
