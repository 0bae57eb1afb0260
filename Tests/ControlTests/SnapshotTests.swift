import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

/// Saving, listing and restoring snapshots, from the routes up to the command.
@Suite(.timeLimit(.minutes(5))) struct SnapshotTests {
    private static let base = "/v1/spaces/home/streams/s/snapshots"

    @Test(arguments: Road.allCases)
    func `a state is saved with its consumer and schema version, and listed by them`(road: Road) async throws {
        let agent = MemoryAgent()
        try await road.with(agent) { request async throws in
            let type = [("Content-Type", "application/octet-stream")]
            for schema in [1, 2, 2] {
                let answer = try await request(
                    "POST", Self.base + "?consumer=c&schema=\(schema)&position=7", headers: type, body: "state")
                #expect(answer.status == 200)
            }
            let all = try (try await request("GET", "/v1/spaces/home/snapshots")).value([SnapshotEntry].self)
            #expect(all.map(\.schema) == [2, 2, 1])
            let second = try (try await request("GET", Self.base + "?schema=2")).value([SnapshotEntry].self)
            #expect(second.count == 2)
            let pruned = try await request(
                "POST", Self.base + "?consumer=c&schema=2&keepMostRecent=1", headers: type, body: "x")
            #expect(try pruned.value(SavedSnapshot.self).removed.count == 3)
        }
        let drafts = await agent.snapshots.drafts
        #expect(drafts.first?.position == .arrival(7) && drafts.last?.keepMostRecent == 1)
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

    @Test func `a restore hands over the bytes, and only then moves the consumer`() async throws {
        try await LiveServer.with { server async throws in
            let bytes = [UInt8](repeating: 7, count: 200_000)
            let saved = try await server.client.saveSnapshot(
                OneChunk(bytes: bytes), SnapshotSaveRequest(of: "s", consumer: "c", schema: 3))
            var restored: [UInt8] = []
            var order: [String] = []
            let answer = try await server.client.restoreSnapshot(
                RestoreRequest(stream: "s", schema: 3), consumer: "new", { restored += $0 },
                keep: {
                    order = await server.agent.snapshots.finished
                    order.append("kept")
                })
            #expect(restored == bytes && answer.snapshot.id == saved.snapshot.id)
            #expect(order == ["kept"])
            #expect(await server.agent.snapshots.finished == ["new"])
        }
    }

    @Test func `a restore that fails on its way is not finished`() async throws {
        try await LiveServer.with { server async throws in
            let saved = try await server.client.saveSnapshot(
                OneChunk(bytes: [UInt8](repeating: 7, count: 200_000)),
                SnapshotSaveRequest(of: "s", consumer: "c", schema: 3))
            await server.agent.damage(saved.snapshot.id, at: 70_000)
            await #expect(throws: ControlError.self) {
                _ = try await server.client.restoreSnapshot(
                    RestoreRequest(stream: "s", schema: 3), consumer: "new", { _ in })
            }
            #expect(await server.agent.snapshots.finished.isEmpty)
            #expect(await server.agent.snapshots.begun == ["new": saved.snapshot.id])
        }
    }

    @Test func `the command saves, lists and restores, and says by its exit code whose turn it is`() async throws {
        try await LiveServer.with { server async throws in
            func run(_ arguments: String..., input: String = "") async throws -> CommandRun {
                try await CommandRun.lanyard(arguments, socket: server.socketPath, input: input)
            }
            let file = server.directory + "/state"
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
        let agent = MemoryAgent()
        for number in 1...3 {
            _ = try await agent.emit(
                space: "home", stream: "s", events: [.init(type: nil, payload: JSONText("\(number)"))])
        }
        await agent.rewindNextPage(to: .canonical("c@2"))
        try await LiveServer.with(agent) { server async throws in
            var told: [String] = []
            let reading = EventReadRequest(stream: "s", order: .canonical, follow: true)
            struct Stop: Error {}
            _ = try? await server.client.readEvents(
                reading, rewinding: { told.append("rewind \($0.position.text)") }
            ) { events in
                told += events.map(\.payload.description)
                if told.count >= 4 { throw Stop() }
            }
            #expect(told == ["rewind c@2", "3", "2", "1"])
        }
        await agent.rewindNextPage(to: .canonical("c@2"))
        try await LiveServer.with(agent) { server async throws in
            _ = await #expect(throws: ControlError.cannotRewind) {
                try await server.client.readEvents(
                    EventReadRequest(stream: "s", order: .canonical, follow: true)
                ) { _ in }
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
