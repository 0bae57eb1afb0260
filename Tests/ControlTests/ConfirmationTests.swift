import ControlAPI
import LanyardClient
import Testing

/// What destroys is done only for somebody who said so.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ConfirmationTests {
    private static let asking = [
        ["delete", "note/n"], ["conflicts", "resolve", "note/u", "delete"], ["devices", "retire", "attic"],
        ["rm", "note/n"],
    ]

    /// An agent with an object, an object that waits for a decision, and a member that is away.
    private func withServer(_ body: (LiveServer) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer { peer async throws in
                try await server.live.makeUndecided("u", with: peer)
                try await server.live.put("note/n", "{}")
            }
            try await body(server)
        }
    }

    private func isUntouched(_ server: LiveServer) async throws -> Bool {
        _ = try await server.client.object(ObjectName(parsing: "note/n"))
        let isMember = try await server.client.devices().allSatisfy { $0.state != "retired" }
        return try await server.client.conflicts().count == 1 && isMember
    }

    @Test(arguments: asking) func `without a terminal nothing is asked and nothing is done`(
        command: [String]
    ) async throws {
        try await withServer { server async throws in
            for input in ["", "n\n", "y\n"] {
                for flags in [[], ["--json"], ["-q"]] {
                    let run = try await CommandRun.lanyard(command + flags, socket: server.socketPath, input: input)
                    #expect(run.exitCode == 2)
                    #expect(run.errors.contains("--yes"))
                    #expect(run.output.isEmpty)
                }
            }
            #expect(try await isUntouched(server))
        }
    }

    @Test(arguments: asking) func `any answer but yes does nothing, and no answer neither`(
        command: [String]
    ) async throws {
        try await withServer { server async throws in
            for typed in ["n\n", "\n", "\u{4}", "yess\n"] {
                let run = try await CommandRun.lanyardAtTerminal(command, socket: server.socketPath, typed: typed)
                #expect(run.exitCode == 4)
                #expect(run.errors.contains("[y/N]"))
                #expect(run.errors.contains("Nothing was done."))
            }
            #expect(try await isUntouched(server))
        }
    }

    @Test(arguments: ["y\n", "YES\n"]) func `yes does it`(typed: String) async throws {
        try await withServer { server async throws in
            let run = try await CommandRun.lanyardAtTerminal(
                ["delete", "note/n"], socket: server.socketPath, typed: typed)
            #expect(run.exitCode == 0)
            #expect(try await server.client.listCount("note") == 0, "note/u is not listed before it is decided")
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
