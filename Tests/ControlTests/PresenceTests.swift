import ControlAPI
import ControlServer
import LanyardClient
import SyncAgent
import SyncModel
import Testing

/// Presence through the control API: sessions, their values, and what is refused.
@Suite(.timeLimit(.minutes(20))) struct PresenceTests {
    private static let path = "/v1/spaces/home/presence/t"

    /// A client's stream ended.
    private struct Stop: Error {}

    /// A client that has joined a topic.
    private final class Member: Sendable {
        let lists: AsyncStream<[PresentValue]>
        let session: PresenceSession
        private let task: Task<Void, any Error>

        init(_ server: LiveServer, _ topic: String = "t") async throws {
            let (lists, see) = AsyncStream<[PresentValue]>.makeStream(bufferingPolicy: .bufferingNewest(1))
            let (joined, join) = AsyncStream<PresenceSession>.makeStream()
            self.lists = lists
            task = Task {
                defer {
                    see.finish()
                    join.finish()
                }
                try await server.client.followPresence(topic) {
                    join.yield($0)
                } _: {
                    see.yield($0)
                }
            }
            guard let session = await joined.first(where: { _ in true }) else {
                try await task.value
                throw Stop()
            }
            self.session = session
        }

        /// Waits until these values are present, in any order.
        func sees(_ values: [String]) async throws {
            for await list in lists where list.map(\.value.description).sorted() == values.sorted() { return }
            try await task.value
            throw Stop()
        }

        func end() async {
            task.cancel()
            _ = try? await task.value
        }
    }

    private func set(_ text: String, _ member: Member, _ server: LiveServer, in topic: String = "t") async throws {
        let answer = try await server.client.setPresence(try JSONText(text), of: member.session, in: topic)
        #expect(answer == PresenceSetting(session: member.session, isPresent: text != "null"))
    }

    @Test func `a value is there for as long as its client reads`() async throws {
        try await LiveServer.with { server async throws in
            let (ada, bob) = (try await Member(server), try await Member(server))
            let elsewhere = try await Member(server, "u")
            try await bob.sees([])
            try await set("{\"at\":12}", ada, server)
            for await list in bob.lists where !list.isEmpty {
                let value = PresentValue(
                    device: server.live.device, name: "desk", session: ada.session,
                    value: try JSONText("{\"at\":12}"), isThisDevice: true)
                #expect(list == [value])
                break
            }
            try await set("\"bob\"", bob, server)
            try await ada.sees(["{\"at\":12}", "\"bob\""])
            try await set("null", bob, server)
            try await ada.sees(["{\"at\":12}"])
            await ada.end()
            try await bob.sees([])
            try await set("1", elsewhere, server, in: "u")
            try await elsewhere.sees(["1"])
            #expect(server.live.agent.present(in: "t").isEmpty)
            await bob.end()
            await elsewhere.end()
        }
    }

    @Test func `the lines of a stream say who came and went`() async throws {
        try await LiveServer.with { server async throws in
            let watcher = try await Member(server)
            let other = try await Member(server)
            try await set("[1,\n2]", other, server)
            // A line break in a value would end the line.
            try await watcher.sees(["[1, 2]"])
            await other.end()
            try await watcher.sees([])
            await watcher.end()
        }
        let session = PresenceSession(rawValue: 255)
        #expect(session.description == "00000000000000ff")
        let value = PresentValue(
            device: "D", name: "desk", session: session, value: try JSONText("{\"a\":1}"), isThisDevice: true)
        let lines: [(PresenceLine, String)] = [
            (.joined(session: session), #"{"kind":"joined","session":"00000000000000ff"}"#),
            (.gone(device: "D", session: session), #"{"kind":"gone","device":"D","session":"00000000000000ff"}"#),
            (
                .present(value),
                #"{"kind":"present","device":"D","name":"desk","session":"00000000000000ff","value":{"a":1},"#
                    + #""isThisDevice":true}"#
            ),
        ]
        for (line, text) in lines {
            #expect(String(decoding: JSONEncoding.bytes(line), as: UTF8.self) == text)
            #expect(try JSONDecoding.value(PresenceLine.self, from: Array(text.utf8), unknownKeys: .refuse) == line)
        }
    }

    @Test(arguments: Road.allCases)
    func `what is wrong is refused, with what to do`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            let session = try live.agent.joinPresence("t")
            let put = "\(Self.path)/\(session)"
            let largest = "\"" + String(repeating: "x", count: 1_022) + "\""
            #expect(try await request("PUT", put, body: largest).status == 200)
            #expect(live.agent.present(in: "t").map(\.value.bytes.count) == [1_024])
            for (path, body, code) in [
                (put, largest.replacing("\"x", with: "\"xx"), "too_large"), (put, "{", "malformed_json"),
                ("\(Self.path)/00000000000000ff", "1", "not_found"),
                ("/v1/spaces/home/presence/u/\(session)", "1", "not_found"),
                ("\(Self.path)/12", "1", "invalid_argument"),
                ("/v1/spaces/home/presence/a%2Fb/\(session)", "1", "invalid_name"),
                ("/v1/spaces/away/presence/t/\(session)", "1", "unknown_space"),
            ] {
                let answer = try await request("PUT", path, body: body)
                #expect(answer.code == code, "\(path)")
                let error = try answer.value(ErrorResponse.self).controlError
                #expect(!error.hint.isEmpty, "\(path)")
            }
            #expect(live.agent.present(in: "t").map(\.value.bytes.count) == [1_024])
            for (path, code) in [
                ("/v1/spaces/home/presence/\(String(repeating: "t", count: 129))", "invalid_name"),
                ("/v1/spaces/home/presence/%1B", "invalid_name"), ("/v1/spaces/away/presence/t", "unknown_space"),
            ] {
                #expect(try await request("GET", path).code == code, "\(path)")
            }
            live.agent.leavePresence(session)
            #expect(try await request("PUT", put, body: "1").code == "not_found")
        }
    }

    @Test func `a value too deep for a line is refused, and left out where a peer sends it`() async throws {
        try await Road.router.withAgent { request, live async throws in
            let session = try live.agent.joinPresence("t")
            func nested(_ depth: Int) -> String {
                String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            }
            let put = "\(Self.path)/\(session)"
            #expect(try await request("PUT", put, body: nested(128)).code == "too_deep")
            #expect(try await request("PUT", put, body: nested(127)).status == 200)
            let present = live.agent.present(in: "t")
            #expect(present.map(\.value.description) == [nested(127)])
            let line = JSONEncoding.bytes(PresenceLine.present(present[0]))
            #expect(try JSONDecoding.value(PresenceLine.self, from: line, unknownKeys: .refuse) == .present(present[0]))
            // As it comes from a peer, unchecked.
            try live.agent.presence.set(Array(nested(128).utf8), of: session.rawValue, in: ExactString("t"))
            #expect(live.agent.present(in: "t").isEmpty)
        }
    }

    @Test func `a device has so many sessions, and so many bytes of values`() async throws {
        try await Road.router.withAgent { request, live async throws in
            let value = "\"" + String(repeating: "x", count: 1_022) + "\""
            let sessions = try (0..<64).map { _ in try live.agent.joinPresence("t") }
            let full = try await request("GET", Self.path)
            #expect(full.status == 409 && full.code == "limit_reached")
            var taken = 0
            for session in sessions {
                let answer = try await request("PUT", "\(Self.path)/\(session)", body: value)
                if answer.status == 200 { taken += 1 } else { #expect(answer.code == "limit_reached") }
            }
            // 32 KiB of entries, each with its topic and its session.
            #expect(taken == 31 && live.agent.present(in: "t").count == 31)
            live.agent.leavePresence(sessions[0])
            #expect(try await request("PUT", "\(Self.path)/\(sessions[40])", body: value).status == 200)
        }
    }

    @Test func `a paired agent is shown what is present here, and a clean stop takes it away`() async throws {
        try await LiveServer.with { server async throws in
            let watcher = try await Member(server)
            try await server.live.withPeer { peer async throws in
                let session = try peer.agent.joinPresence("t")
                _ = try peer.agent.setPresence(try JSONText("\"attic\""), of: session, in: "t", space: "home")
                try await watcher.sees(["\"attic\""])
                let there = server.live.agent.present(in: "t")
                #expect(there.map(\.name) == ["attic"] && there.map(\.isThisDevice) == [false])
            }
            // Well before the 15 s after which the value of a lost device goes.
            let ended = ContinuousClock.now
            try await watcher.sees([])
            #expect(ContinuousClock.now - ended < .seconds(10))
            await watcher.end()
        }
    }
}
