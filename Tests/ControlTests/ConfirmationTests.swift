import ControlAPI
import LanyardClient
import Testing

/// What destroys is done only for somebody who said so.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ConfirmationTests {
    private static let asking = [
        ["delete", "note/n"], ["conflicts", "resolve", "note/n", "delete"], ["devices", "retire", "attic"],
        ["rm", "note/n"],
    ]

    private func withServer(_ body: (LiveServer) async throws -> Void) async throws {
        let attic = Peer(id: "BBBBBBB-X", shortID: "BBBBBBB", name: "attic", state: .offline, paired: true)
        let agent = MemoryAgent(peers: [attic])
        await agent.show([try ConflictRouteTests.conflict("n", .undecided)])
        try await LiveServer.with(agent) { server async throws in
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            try await body(server)
        }
    }

    private func isUntouched(_ server: LiveServer) async throws -> Bool {
        _ = try await server.client.object(ObjectName(parsing: "note/n"))
        let isMember = try await server.client.devices().allSatisfy { $0.state != "retired" }
        return try await server.client.conflicts().count == 1 && isMember
    }

    @Test(arguments: asking, ["", "n\n", "y\n"])
    func `without a terminal nothing is asked and nothing is done`(command: [String], input: String) async throws {
        try await withServer { server async throws in
            for flags in [[], ["--json"], ["-q"]] {
                let run = try await CommandRun.lanyard(command + flags, socket: server.socketPath, input: input)
                #expect(run.exitCode == 2)
                #expect(run.errors.contains("--yes"))
                #expect(run.output.isEmpty)
            }
            #expect(try await isUntouched(server))
        }
    }

    @Test(arguments: asking, ["n\n", "\n", "\u{4}", "yess\n"])
    func `any answer but yes does nothing, and no answer neither`(command: [String], typed: String) async throws {
        try await withServer { server async throws in
            let run = try await CommandRun.lanyardAtTerminal(command, socket: server.socketPath, typed: typed)
            #expect(run.exitCode == 4)
            #expect(run.errors.contains("[y/N]"))
            #expect(run.errors.contains("Nothing was done."))
            #expect(try await isUntouched(server))
        }
    }

    @Test(arguments: ["y\n", "YES\n"]) func `yes does it`(typed: String) async throws {
        try await withServer { server async throws in
            let run = try await CommandRun.lanyardAtTerminal(
                ["delete", "note/n"], socket: server.socketPath, typed: typed)
            #expect(run.exitCode == 0)
            #expect(try await server.client.listCount("note") == 0)
        }
    }
}

extension LanyardClient {
    /// How many objects a collection holds.
    fileprivate func listCount(_ collection: String) async throws -> Int {
        var count = 0
        try await listObjects(collection) { count += $0.count }
        return count
    }
}
