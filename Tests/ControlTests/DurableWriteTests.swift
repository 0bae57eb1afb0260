import ControlAPI
import ControlServer
import Foundation
import SyncAgent
import Testing

/// Writes that wait for the disks of other devices.
@Suite(.timeLimit(.minutes(20))) struct DurableWriteTests {
    private func durableOn(_ run: CommandRun) throws -> [String] {
        try #require((try run.json() as? [String: Any])?["durableOn"] as? [String], "\(run.output)\(run.errors)")
    }

    @Test func `put and emit return when another device has the write on its disk, and name both`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { peer async throws in
                let both = [server.live.device, peer.device]
                let writes = [
                    ["put", "note/n", #"{"a":1}"#], ["put", "note", #"{"a":2}"#], ["emit", "lights", "1"],
                    ["emit", "lights", "switched", "2"],
                ]
                for write in writes {
                    let run = try await CommandRun.lanyard(
                        write + ["--wait-for", "2", "--timeout", "60s", "--json"], socket: server.socketPath)
                    #expect(run.exitCode == 0, "\(write): \(run.errors)")
                    #expect(try durableOn(run) == both)
                }
                let lines = try await CommandRun.lanyard(
                    ["emit", "lights", "-", "--wait-for", "2", "--json"], socket: server.socketPath, input: "3\n4\n")
                #expect(try durableOn(lines) == both)
                #expect(lines.output.contains(#""count":2"#))
                // Its last event is there: so are all before it.
                let there = try await peer.agent.status(space: nil).spaces[0]
                #expect(there.events == 4 && there.objects == 2)
                let people = try await CommandRun.lanyard(
                    ["put", "note/n", #"{"a":3}"#, "--wait-for", "2"], socket: server.socketPath)
                #expect(people.output.hasPrefix("note/n  version "))
                #expect(people.errors == "Durable on desk, attic.\n")
            }
        }
    }

    @Test func `a write that too few devices confirm in time stays, and the command says how to ask again`()
        async throws
    {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "attic")
            let run = try await CommandRun.lanyard(
                ["put", "note/n", #"{"a":1}"#, "--wait-for", "2", "--timeout", "10ms", "--json"],
                socket: server.socketPath)
            #expect(run.exitCode == 6)
            #expect(try durableOn(run) == [server.live.device])
            let version = try #require((try run.json() as? [String: Any])?["version"] as? String)
            let error = try JSONDecoding.value(
                ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .ignore
            ).controlError
            #expect(error.code == .timedOut && error.message.contains("The write stays"))
            let command = "lanyard wait --written \(version) --wait-for 2"
            #expect(error.hint.contains(command))
            let object = try await CommandRun.lanyard(["get", "note/n"], socket: server.socketPath)
            #expect(object.exitCode == 0)

            let again = command.split(separator: " ").dropFirst().map(String.init)
            let late = try await CommandRun.lanyard(again + ["--timeout", "10ms"], socket: server.socketPath)
            #expect(late.exitCode == 6)
            #expect(late.errors.contains("1 of 2 (desk)"), "\(late.errors)")
            let alone = try await CommandRun.lanyard(
                ["wait", "--written", version, "--wait-for", "1", "--json"], socket: server.socketPath)
            #expect(alone.exitCode == 0)
            #expect(alone.output.contains(#""reached":true"#))
        }
    }

    @Test func `lines that were all there already are no success of a wait`() async throws {
        try await LiveServer.with { server async throws in
            let put = ["put", "note", "-", "--wait-for", "1", "--json"]
            let lines = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n"
            let first = try await CommandRun.lanyard(put, socket: server.socketPath, input: lines)
            #expect(first.exitCode == 0, "\(first.errors)")
            let again = try await CommandRun.lanyard(put, socket: server.socketPath, input: lines)
            #expect(again.exitCode == 6 && again.errors.contains("lanyard wait --written VERSION"), "\(again.errors)")
            let nothing = try await CommandRun.lanyard(put, socket: server.socketPath, input: "")
            #expect(!nothing.errors.contains("Nothing was written"), "\(nothing.errors)")
        }
    }

    @Test func `what the terminal would obey in a device's name is shown as text`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "at\u{202E}tic") { _ async throws in
                let run = try await CommandRun.lanyard(
                    ["emit", "lights", "1", "--wait-for", "2"], socket: server.socketPath)
                #expect(run.errors == "Durable on desk, at\u{FFFD}tic.\n")
            }
        }
    }

    @Test(arguments: [
        ["put", "note/n", "{}", "--timeout", "5s"], ["emit", "s", "1", "--wait-for", "0"],
        ["emit", "s", "1", "--wait-for", "2", "--timeout", "2d"], ["wait", "--wait-for", "2"],
        ["wait", "--written", "nothing", "--timeout", "1s"],
    ])
    func `a wait that cannot be meant is refused before anything is written`(arguments: [String]) async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
            #expect(run.exitCode == 2, "\(run.errors)")
            let space = try await server.live.agent.status(space: nil).spaces[0]
            #expect(space.events == 0 && space.objects == 0)
        }
    }
}
