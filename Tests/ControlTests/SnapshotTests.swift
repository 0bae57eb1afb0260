import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

/// Saving, listing and restoring snapshots, from the routes up to the command.
@Suite(.timeLimit(.minutes(20))) struct SnapshotTests {
    private static let base = "/v1/spaces/home/streams/s/snapshots"

    /// Writes events to the stream `s`, which the consumer `c` has read.
    private func writeEvents(_ live: LiveAgent) async throws -> EventPosition {
        let events = try (1...3).map { EventDraft(type: nil, payload: try JSONText("\($0)")) }
        _ = try await live.agent.emit(space: "home", stream: "s", events: events)
        let page = try await live.agent.events(EventQuery(space: "home", stream: "s", consumer: "c"), limit: 10)
        let last = try #require(page.events.last).position
        try await live.agent.acknowledge(space: "home", consumer: "c", stream: "s", position: last)
        return last
    }

    @Test(arguments: Road.allCases)
    func `a state is saved with its consumer and schema version, and listed by them`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            let position = try await writeEvents(live).text
            let type = [("Content-Type", "application/octet-stream")]
            for schema in [1, 2, 2] {
                let answer = try await request(
                    "POST", Self.base + "?consumer=c&schema=\(schema)&position=\(position)", headers: type,
                    body: "state")
                #expect(answer.status == 200, "\(answer.text)")
            }
            let all = try (try await request("GET", "/v1/spaces/home/snapshots")).value([SnapshotEntry].self)
            #expect(all.map(\.schema) == [2, 2, 1] && all.allSatisfy { $0.consumer == "c" && $0.size == 5 })
            let second = try (try await request("GET", Self.base + "?schema=2")).value([SnapshotEntry].self)
            #expect(second.count == 2)
            let pruned = try await request(
                "POST", Self.base + "?consumer=c&schema=2&keepMostRecent=1", headers: type, body: "x")
            #expect(try Set(pruned.value(SavedSnapshot.self).removed) == Set(second.map(\.id)))
            let left = try (try await request("GET", Self.base)).value([SnapshotEntry].self)
            #expect(left.map(\.schema) == [2, 1])
        }
    }

    @Test(
        arguments: Road.allCases,
        [
            ("POST", base + "?consumer=c", 400, "invalid_argument"),
            ("POST", base + "?schema=1", 400, "invalid_argument"),
            ("POST", base + "?consumer=c&schema=-1", 400, "invalid_argument"),
            ("POST", base + "?consumer=c&schema=1&keepMostRecent=0", 400, "invalid_argument"),
            ("POST", base + "?consumer=a%2Fb&schema=1", 400, "invalid_name"),
            ("POST", base + "?consumer=c&schema=1&position=x%20y", 400, "invalid_argument"),
            ("POST", base + "?consumer=stranger&schema=1", 404, "unknown_consumer"),
            ("GET", base + "?schema=one", 400, "invalid_argument"), ("GET", base + "?scheme=1", 400, "unknown_key"),
        ] as [(String, String, Int, String)])
    func `bad input is refused before a byte is taken`(
        road: Road, sample: (method: String, path: String, status: Int, code: String)
    ) async throws {
        try await road.with { request async throws in
            let answer = try await request(sample.method, sample.path, body: "x")
            #expect(answer.status == sample.status && answer.code == sample.code)
        }
    }

    private func reader(_ name: String, _ server: LiveServer) async throws -> ConsumerEntry? {
        try await server.client.consumers().first { $0.name == name }
    }

    @Test func `a restore hands over the bytes, and only then moves the consumer`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await writeEvents(server.live)
            let bytes = [UInt8](repeating: 7, count: 200_000)
            let saved = try await server.client.saveSnapshot(
                OneChunk(bytes: bytes), SnapshotSaveRequest(of: "s", consumer: "c", schema: 3))
            var restored: [UInt8] = []
            var inside: ConsumerEntry?
            let answer = try await server.client.restoreSnapshot(
                RestoreRequest(stream: "s", schema: 3), consumer: "new", { restored += $0 },
                keep: { inside = try await reader("new", server) })
            #expect(restored == bytes && answer.snapshot.id == saved.snapshot.id)
            #expect(inside?.restoring == true && inside?.behind == 3)
            let after = try await reader("new", server)
            #expect(after?.restoring == false && after?.behind == 0)
        }
    }

    @Test func `a restore that fails on its way is not finished`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await writeEvents(server.live)
            let saved = try await server.client.saveSnapshot(
                OneChunk(bytes: [UInt8](repeating: 7, count: 600_000)),
                SnapshotSaveRequest(of: "s", consumer: "c", schema: 3))
            try server.live.damage(try await server.client.attachment(saved.snapshot.id), at: 400_000)
            let error = await #expect(throws: ControlError.self) {
                _ = try await server.client.restoreSnapshot(
                    RestoreRequest(stream: "s", schema: 3), consumer: "new", { _ in })
            }
            #expect(error?.code == .damaged)
            let reader = try await reader("new", server)
            #expect(reader?.restoring == true && reader?.behind == 3)
        }
    }

    @Test func `the command saves, lists and restores, and says by its exit code whose turn it is`() async throws {
        try await LiveServer.with { server async throws in
            func run(_ arguments: String..., input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(arguments, socket: server.socketPath, input: input)
            }
            let file = server.directory + "/state"
            _ = try await writeEvents(server.live)
            let none = try await run("snapshot", "restore", "s", "--consumer", "c", "--schema", "1", "-o", file)
            #expect(none.exitCode == 3 && none.errors.contains("begin from nothing"))
            let saved = try await run(
                "snapshot", "save", "s", "--consumer", "c", "--schema", "1", "-", "--json", input: "42")
            #expect(saved.exitCode == 0)
            let entry = try JSONDecoding.value(
                SavedSnapshot.self, from: Array(saved.output.utf8), unknownKeys: .ignore)
            #expect(entry.snapshot.schema == 1 && entry.snapshot.size == 2)
            let other = try await run("snapshot", "restore", "s", "--consumer", "c", "--schema", "2", "-o", file)
            #expect(other.exitCode == 4 && other.errors.contains("schema version 1"))
            #expect(!FileManager.default.fileExists(atPath: file))
            let listed = try await run("snapshot", "list", "s")
            #expect(listed.lines.count == 2 && listed.lines[0].hasPrefix("ID") && listed.lines[1].contains("present"))
            #expect(try await run("snapshot", "list", "other", "--json").output == "[]\n")
            let restored = try await run("snapshot", "restore", "s", "--consumer", "c", "--schema", "1", "-o", file)
            #expect(restored.exitCode == 0)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "42")
            let again = try await run("snapshot", "restore", "s", "--consumer", "c", "--schema", "1", "-o", file)
            #expect(again.exitCode == 4 && again.errors.contains("--force"))
            let piped = try await run("snapshot", "restore", "s", "--consumer", "c", "--schema", "1", "-o", "-", "-q")
            #expect(piped.output == "42")
            #expect(try await run("snapshot", "save", "s", "--schema", "1", file).exitCode == 2)
            #expect(try await run("snapshot", "save", "s", "--consumer", "c", "--schema", "-1", file).exitCode == 2)
            let unread = try await run("snapshot", "save", "s", "--consumer", "stranger", "--schema", "1", file)
            #expect(unread.exitCode == 3)
        }
    }

    @Test func `a rewind stands between the events, on every road`() async throws {
        let line = RewindLine(stream: "s", position: .canonical("c@2"))
        #expect(JSONEncoding.bytes(line).starts(with: RewindLine.prefix))
        struct Stop: Error {}
        try await LiveServer.with { server async throws in
            func emit(_ number: Int, on live: LiveAgent) async throws {
                let event = EventDraft(type: nil, payload: try JSONText("\(number)"))
                _ = try await live.agent.emit(space: "home", stream: "s", events: [event])
            }
            let reading = EventReadRequest(stream: "s", order: .canonical, follow: true)
            try await server.live.withPeer { peer async throws in
                let (numbers, see) = AsyncStream<String>.makeStream()
                let follower = Task {
                    try await server.client.readEvents(reading, rewinding: { _ in see.yield("rewind") }) { events in
                        for event in events { see.yield(event.payload.description) }
                    }
                }
                let unprepared = Task { try await server.client.readEvents(reading) { _ in see.yield("read") } }
                var seen: [String] = []
                // The peer's event is the earlier one, and comes when the later one was read.
                try await server.live.apart(from: peer) {
                    try await emit(1, on: peer)
                    let written = WallClock.milliseconds
                    while WallClock.milliseconds <= written { await Task.yield() }
                    try await emit(2, on: server.live)
                    for await next in numbers {
                        seen.append(next)
                        if seen.count(where: { $0 == "2" || $0 == "read" }) == 2 { break }
                    }
                }
                for await next in numbers {
                    seen.append(next)
                    if next == "2", seen.contains("rewind") { break }
                }
                #expect(seen.filter { $0 != "read" } == ["2", "rewind", "1", "2"])
                _ = await #expect(throws: ControlError.cannotRewind) { try await unprepared.value }
                follower.cancel()
                _ = try? await follower.value
            }
        }
    }
}

private struct OneChunk: AsyncSequence, Sendable {
    let bytes: [UInt8]

    struct Iterator: AsyncIteratorProtocol {
        var bytes: [UInt8]?

        mutating func next() async throws -> [UInt8]? {
            defer { bytes = nil }
            return bytes
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }
}
