import ControlAPI
import LanyardClient
import Testing

/// Words that are nearly right, and other names that people type.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CommandWordTests {
    @Test(arguments: [
        (["statsu"], "Unknown command \"statsu\". Did you mean \"status\"?"),
        (["--json", "statsu"], "Unknown command \"statsu\". Did you mean \"status\"?"),
        (["peers", "ad", "h:1"], "Unknown command \"peers ad\". Did you mean \"peers add\"?"),
        (["devices", "retrie", "x"], "Unknown command \"devices retrie\". Did you mean \"devices retire\"?"),
        (["frobnicate"], "Unknown command \"frobnicate\". See: lanyard --help"),
        (["recovery", "creat"], "Unknown command \"recovery creat\". Did you mean \"recovery create\"?"),
        (["snapshot", "frobnicate"], "Unknown command \"snapshot frobnicate\". See: lanyard snapshot --help"),
        (["--json"], "There is no command. See: lanyard --help"),
    ])
    func `a command that is not there is named, with the one that is nearest`(
        arguments: [String], message: String
    ) async throws {
        let run = try await CommandRun.lanyard(arguments)
        #expect(run.exitCode == 2)
        if arguments.contains("--json") {
            let error = try JSONDecoding.value(ErrorResponse.self, from: Array(run.errors.utf8), unknownKeys: .refuse)
                .controlError
            #expect("\(error.message) \(error.hint)" == message)
        } else {
            #expect(run.errors == "lanyard: \(message)\n")
        }
    }

    @Test func `an option that is not there is named, with the one that is nearest`() async throws {
        let run = try await CommandRun.lanyard(["list", "note", "--limt", "3"])
        #expect(run.exitCode == 2)
        #expect(run.errors.contains("--limt") && run.errors.contains("--limit"))
    }

    @Test(arguments: [
        [], ["status"], ["peers"], ["why"], ["wait"], ["devices"], ["devices", "retire"], ["join"], ["spaces", "set"],
        ["streams", "set"], ["put"], ["attach"], ["fetch"], ["pin"], ["events"], ["backup"], ["import"], ["compact"],
    ])
    func `help calls a device a device`(command: [String]) async throws {
        let help = try await CommandRun.lanyard(command + ["--help"])
        #expect(help.exitCode == 0)
        for word in help.output.split(whereSeparator: { !$0.isLetter }) {
            #expect(
                !["machine", "machines", "node", "nodes", "member", "members"].contains(word), "\(command): \(word)")
        }
    }

    @Test func `short names do what the long ones do`() async throws {
        try await LiveServer.with { server async throws in
            func lanyard(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(arguments, socket: server.socketPath)
            }
            for id in ["a", "b"] { _ = try await lanyard("put", "note/\(id)", "{}") }
            let listed = try await lanyard("ls", "note", "-n", "1")
            #expect(listed.exitCode == 0)
            #expect(try await lanyard("rm", "note/a", "-y").output == "note/a deleted.\n")
            #expect(try await lanyard("--json", "peers", "rm", "h:1").exitCode == 3)
        }
    }
}

/// What a shell offers, asked as the completion scripts ask.
@Suite(.serialized, .timeLimit(.minutes(20))) struct CompletionTests {
    @Test func `names that only the agent knows are offered`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "attic")
            let address = try HostPort(parsing: "127.0.0.1:1")
            _ = try await server.client.addPeer(address)
            for id in ["a", "b"] {
                _ = try await server.client.put(ObjectPut(collection: "note", id: id, fields: try JSONText("{}")))
            }
            func offered(_ command: [String], _ word: String) async throws -> [String] {
                // As lanyard.bash: ---completion SUBCOMMAND… -- ARGUMENT INDEX CURSOR WORD…
                let words = ["lanyard"] + command + [word]
                return try await CommandRun.lanyard(
                    ["---completion"] + command + ["--", "positional@0", "\(words.count - 1)", "\(word.count)"] + words,
                    socket: server.socketPath, environment: ["SAP_SHELL": "bash", "SAP_SHELL_VERSION": "5.2"]
                ).lines
            }
            #expect(try await offered(["list"], "") == ["note"])
            #expect(try await offered(["get"], "") == ["note/"])
            #expect(try await offered(["get"], "note/") == ["note/a", "note/b"])
            #expect(try await offered(["devices", "retire"], "").contains("attic"))
            #expect(try await offered(["devices", "block"], "").contains("attic"))
            #expect(try await offered(["peers", "remove"], "") == ["\(address)"])
            #expect(try await offered(["spaces", "set"], "") == ["home"])
            let id = try await server.live.attach(Array("x".utf8), named: "x.txt", to: "note/a").record.id
            for command in ["fetch", "detach", "pin", "unpin"] {
                #expect(try await offered([command], "") == [String(id.prefix(8))])
                #expect(try await offered([command], String(id.prefix(9))) == [id])
            }
            let alone = try await CommandRun.lanyard(
                ["---completion", "list", "--", "positional@0", "2", "0", "lanyard", "list", ""],
                socket: "/nonexistent/control.sock")
            #expect(alone.output.split(separator: "\n").isEmpty)
        }
    }
}
