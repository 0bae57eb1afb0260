import ControlAPI
import Foundation
import LanyardClient
import Testing

/// The client library in an application: what the application's own code throws is for the application.
@Suite(.timeLimit(.minutes(20))) struct CallerErrorTests {
    private struct Stop: Error, Equatable { var number = 7 }

    private func withClient(_ body: (LanyardClient, LiveServer) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            let client = server.client
            _ = try await client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            _ = try await client.emit(try JSONText("1"), to: "s")
            try await body(client, server)
        }
    }

    @Test func `what a closure throws comes out as itself`() async throws {
        try await withClient { client, _ async throws in
            await #expect(throws: Stop()) { try await client.listObjects("note") { _ in throw Stop() } }
            await #expect(throws: Stop()) { try await client.watchObjects("note", after: 0) { _ in throw Stop() } }
            await #expect(throws: Stop()) {
                try await client.watchObjects("note", onStart: { _ in throw Stop() }) { _ in }
            }
            await #expect(throws: Stop()) {
                try await client.readHistory(of: ObjectName(parsing: "note/n")) { _ in throw Stop() }
            }
            await #expect(throws: Stop()) { try await client.watchConflicts { _ in throw Stop() } }
            await #expect(throws: Stop()) { try await client.watchPeers { _ in throw Stop() } }
            for consumer in [nil, "c"] {
                await #expect(throws: Stop()) {
                    try await client.readEvents(EventReadRequest(stream: "s", consumer: consumer)) { _ in throw Stop() }
                }
            }
            await #expect(throws: Stop()) { try await client.backup { _ in throw Stop() } }
            // Also one that the library could have thrown itself.
            let own = ControlError(.agentNotRunning, "Mine.", hint: "Own.")
            await #expect(throws: own) { try await client.listObjects("note") { _ in throw own } }
        }
    }

    @Test func `what a sequence throws comes out as itself, and nothing of its line is written`() async throws {
        struct Failing: AsyncSequence, AsyncIteratorProtocol, Sendable {
            var isBegun = false

            func makeAsyncIterator() -> Failing { self }

            mutating func next() async throws -> [UInt8]? {
                if isBegun { throw Stop() }
                isBegun = true
                return Array("{\"a\"".utf8)
            }
        }
        try await withClient { client, server async throws in
            await #expect(throws: Stop()) { try await client.emitLines(Failing(), to: "s") }
            await #expect(throws: Stop()) { try await client.putLines(Failing(), to: "note") }
            await #expect(throws: Stop()) {
                try await client.attach(Failing(), AttachRequest(to: ObjectName(parsing: "note/n")))
            }
            #expect(try await server.client.streams().map(\.events) == [1])
        }
    }

    @Test func `a lost connection is still told as one`() async throws {
        try await withClient { client, server async throws in
            await #expect(throws: ControlError.self) {
                try await client.listObjects("nothing") { _ in throw Stop() }
            }
            try await server.stop()
            let error = await #expect(throws: ControlError.self) { try await client.listObjects("note") { _ in } }
            #expect(error?.code == .agentNotRunning)
        }
    }

    // MARK: Foundation's coders

    private static let texts = [
        "null", "true", "false", "0", "-1", "9223372036854775807", "-9223372036854775808", "18446744073709551615",
        "0.1", "1.5e+300",
        #""""#, #""é \"\\ 😀""#, "[]", "{}", #"[1,[null,{"a":[]}],"x"]"#, #"{"a":{"b":[1,2.5,true,null]},"c":""}"#,
    ]

    @Test(arguments: texts) func `a JSON text is its value under Foundation's coders`(text: String) throws {
        let value = try JSONText(text)
        let json = try JSONEncoder().encode(value)
        #expect(try JSONText(Array(json)).means(value))
        #expect(try JSONDecoder().decode(JSONText.self, from: json).means(value))
        #expect(try JSONDecoder().decode(JSONText.self, from: Data(text.utf8)).means(value))
        let list = try PropertyListEncoder().encode(["value": [value]])
        if !text.contains("null") {
            #expect(
                try PropertyListDecoder().decode([String: [JSONText]].self, from: list)["value"]?.first?.means(value)
                    == true)
        }
    }

    @Test func `a number that no coder holds is refused, not changed`() throws {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(JSONText("1e999")) }
    }

    @Test func `an object passes through Foundation's coders`() async throws {
        try await withClient { client, _ async throws in
            let put = try await client.put(
                ObjectPut(collection: "note", id: "n", fields: try JSONText(#"{"title":"Milk","n":3,"tags":["a"]}"#)))
            let decoded = try JSONDecoder().decode(ObjectEntry.self, from: JSONEncoder().encode(put))
            #expect(decoded.id == put.id && decoded.version == put.version && decoded.fields.means(put.fields))
        }
    }
}
