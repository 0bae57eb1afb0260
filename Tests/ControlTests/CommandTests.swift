import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import Testing

@Suite(.timeLimit(.minutes(20))) struct CommandTests {
    @Test func `a first status ends with the next thing to type`() async throws {
        try await LiveServer.with { server async throws in
            let space = try #require(try await server.client.status().spaces.first)
            let run = try await CommandRun.lanyard(["status"], socket: server.socketPath)
            #expect(run.exitCode == 0)
            let shown = run.output.replacing(/up \d+ (?:s|min)/, with: "up 0 s")
                .replacing(/store      .*,/, with: "store      4.0 KiB,")
                .replacing(/127\.0\.0\.1:\d+/, with: "127.0.0.1:1")
            let expected = """
                No other device is paired with this one.

                device     desk  \(server.live.shortID)
                agent      lanyard \(LanyardVersion.current), up 0 s
                address    127.0.0.1:1
                discovery  off (devices are dialled at addresses given with: lanyard peers add)
                peers      0 connected, 0 discovered, 0 paired
                store      4.0 KiB, ok
                space      home  0 changes, 0 objects, 0 events, 0 attachments, digest \(space.digest.prefix(12))

                Alone so far. To add another device, type on both:  lanyard pair

                """
            #expect(shown == expected)
            let quiet = try await CommandRun.lanyard(["-q", "status"], socket: server.socketPath)
            #expect(!quiet.output.contains("lanyard invite"))
            _ = try await server.client.emit(try JSONText("1"), to: "s")
            let later = try await CommandRun.lanyard(["status"], socket: server.socketPath)
            #expect(!later.output.contains("lanyard invite"))
        }
    }

    @Test func `status says what to type while no device is connected or nothing is written`() async throws {
        try await LiveServer.with { server async throws in
            func last() async throws -> String? {
                try await CommandRun.lanyard(["status"], socket: server.socketPath).lines.last
            }
            try await server.live.withPeer { _ async throws in
                #expect(try await last() == #"Nothing is written yet. To begin:  lanyard emit hello '{"text":"hi"}'"#)
            }
            #expect(try await last() == "No other device is connected. To see what is in the way:  lanyard why")
        }
    }

    @Test func `a device is let go by name or id, never the one of the user, and never two`() async throws {
        try await LiveServer.with { server async throws in
            func retire(_ device: String) async throws -> CommandRun {
                try await CommandRun.lanyard(["devices", "retire", device, "--yes"], socket: server.socketPath)
            }
            _ = try await server.live.addAwayMember(named: "attic")
            let hall = try await server.live.addAwayMember(named: "hall")
            _ = try await server.live.addAwayMember(named: "hall")
            let gone = try await retire("attic")
            #expect(gone.exitCode == 0, "\(gone.errors)")
            #expect(gone.output.hasPrefix("attic was retired."))
            let listed = try await CommandRun.lanyard(["devices", "--json"], socket: server.socketPath)
            #expect(listed.output.contains(#""state":"retired""#))
            #expect(try await retire("attic").exitCode == 0)
            #expect(try await retire(hall.shortID.dropLast().lowercased()).exitCode == 0)
            #expect(try await retire("hall").exitCode == 2)
            #expect(try await retire("cellar").exitCode == 3)
            #expect(try await retire("desk").exitCode == 4)
        }
    }

    @Test func `a device is blocked by its id, whatever another one is called, and the ways that are left are named`()
        async throws
    {
        try await LiveServer.with { server async throws in
            let attic = try await server.live.addAwayMember(named: "attic")
            // The thief gave the device that it stole the id of another one for a name.
            let stolen = try await server.live.addAwayMember(named: attic.device)
            let hall = try await server.live.addAwayMember(named: "hall")
            func devices(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(["devices"] + arguments, socket: server.socketPath)
            }
            let ways = try await server.client.devices().filter { [stolen.device, hall.device].contains($0.id) }
            #expect(ways.map(\.name).sorted() == [attic.device, "hall"].sorted())
            let blocked = try await devices("block", attic.device, "--yes")
            #expect(
                blocked.output == """
                    attic (\(attic.shortID)) is blocked on this device.
                    What it writes can still come through \(ways.map(\.name).joined(separator: ", ")): block it there, too.

                    """)
            #expect(try await devices("--json").output.contains(#""state":"blocked""#))
            let again = try await devices("block", stolen.shortID, "--yes", "--json")
            let answer = try JSONDecoding.value(
                BlockedDevice.self, from: Array(again.output.utf8), unknownKeys: .ignore)
            #expect(answer.device.id == stolen.device && answer.through.map(\.id) == [hall.device])
            let undone = try await devices("unblock", "attic", "--yes")
            #expect(undone.output == "attic (\(attic.shortID)) is not blocked any more.\n")
            #expect(try await devices("block", "cellar", "--yes").exitCode == 3)
            #expect(try await devices("block", "desk", "--yes").exitCode == 4)
        }
    }

    @Test func `why shows the chain up to the first broken link, then what went wrong and what to do`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.client.addPeer(try HostPort(parsing: "127.0.0.1:1"))
            try await server.live.until { agent async throws in
                try await !agent.why(nil, space: nil).errors.isEmpty
            }
            let run = try await CommandRun.lanyard(["why"], socket: server.socketPath)
            let broken = try #require(run.lines.firstIndex { $0.hasPrefix("--") }, "\(run.output)")
            #expect(run.lines[broken].hasPrefix("--  dial       127.0.0.1:1 refuses the connection: "))
            #expect(run.lines.first == "No other device is paired with this one.")
            #expect(run.lines[1..<broken].allSatisfy { $0.hasPrefix("ok  ") })
            #expect(run.lines[1] == "ok  discovery  mDNS is off; addresses are given by hand")
            let rest = run.lines[(broken + 1)...]
            #expect(rest.first?.hasPrefix("    connection_refused: ") == true)
            #expect(rest.contains { $0.hasPrefix("Tries again ") })
            #expect(rest.last == "Start lanyardd there, or correct the port: lanyard peers add HOST:PORT")
        }
    }

    @Test func `tables are aligned`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "ca\u{202E}ve") { peer async throws in
                _ = try await server.client.addPeer(try HostPort(parsing: "127.0.0.1:1"))
                let run = try await CommandRun.lanyard(["peers"], socket: server.socketPath)
                let head = try #require(run.lines.first)
                #expect(head.split(separator: " ").first == "NAME" && run.lines.count == 3)
                let row = try #require(run.lines.first { $0.contains(peer.shortID) })
                #expect(row.hasPrefix("ca\u{FFFD}ve  \(peer.shortID)  connected"))
                for title in ["ID", "STATE", "ADDRESS", "VIA", "RTT", "BEHIND", "LAST SYNC", "VERSION"] {
                    let place = head.distance(from: head.startIndex, to: try #require(head.range(of: title)).lowerBound)
                    for line in run.lines.dropFirst() {
                        let characters = Array(line)
                        #expect(characters[place] != " " && characters[place - 1] == " ", "\(title): \(line)")
                    }
                }
            }
        }
    }

    @Test func `objects have the promised keys`() async throws {
        try await LiveServer.with { server async throws in
            let ticket = try await LiveServer.with(named: "attic") { inviter async throws in
                let ticket = try await inviter.client.invite().ticket
                for (arguments, keys) in [
                    (
                        ["status", "--json"],
                        [
                            "addresses", "backups", "device", "discovery", "logLevel", "peers", "spaces", "store",
                            "transfers", "upgrade", "uptimeSeconds", "version", "warnings",
                        ]
                    ),
                    (
                        ["--json", "why"],
                        ["chain", "errors", "hint", "inStep", "lackedBy", "lacking", "nextAttempt", "sentence"]
                    ),
                    (["id", "--json"], ["id", "name", "shortID"]),
                    (["invite", "--json"], ["expires", "role", "ticket", "until"]),
                    (["emit", "s", "1", "--json"], ["count", "first", "last"]),
                    (["wait", "--json"], ["inStep", "waitedSeconds", "waitingFor", "writingAgain"]),
                    (["version", "--json"], ["agent", "version"]),
                    (["join", ticket, "--json"], ["device", "role", "space"]),
                ] {
                    let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
                    #expect(run.exitCode == 0)
                    #expect(run.errors.isEmpty)
                    #expect(try #require(try run.json() as? [String: Any]).keys.sorted() == keys)
                }
                return ticket
            }
            #expect(!ticket.isEmpty)
        }
    }

    @Test func `rows have the promised keys`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.client.addPeer(try HostPort(parsing: "127.0.0.1:1"))
            _ = try await server.client.emit(try JSONText("1"), to: "s")
            for (arguments, keys) in [
                (
                    ["peers"],
                    [
                        "address", "behind", "bytesIn", "bytesOut", "connectedSince", "id", "lastSync", "name",
                        "paired", "rttMilliseconds", "shortID", "state", "version", "via",
                    ]
                ),
                (
                    ["devices"],
                    [
                        "addedAt", "addedBy", "heard", "id", "lastSeen", "name", "revokedAt", "revokedBy", "role",
                        "state", "until", "waitingFor", "wipedAt",
                    ]
                ),
                (["doctor"], ["check", "detail", "hint", "state"]),
                (
                    ["streams"],
                    [
                        "begins", "events", "lastEvent", "latestOnly", "letGo", "name", "overdue", "position",
                        "retainSeconds",
                    ]
                ),
                (["events", "s"], ["device", "dot", "payload", "position", "redelivered", "stream", "time", "type"]),
            ] {
                let run = try await CommandRun.lanyard(arguments + ["--json"], socket: server.socketPath)
                let value = try run.json()
                let row = try #require((value as? [[String: Any]])?.first ?? value as? [String: Any])
                #expect(row.keys.sorted() == keys)
            }
        }
    }

    @Test func `events are emitted and read back byte for byte`() async throws {
        try await LiveServer.with { server async throws in
            let one = try await CommandRun.lanyard(["emit", "s", #"{"n":1.0e5}"#], socket: server.socketPath)
            let typed = try await CommandRun.lanyard(["emit", "s", "t", "--json", "null"], socket: server.socketPath)
            let lines = try await CommandRun.lanyard(
                ["emit", "s", "u", "-"], socket: server.socketPath, input: "[1]\n[2]")
            let negative = try await CommandRun.lanyard(["emit", "s", "--", "-5"], socket: server.socketPath)
            #expect(negative.exitCode == 0)
            var events: [EventLine] = []
            try await server.client.readEvents(EventReadRequest(stream: "s")) { events += $0 }
            try #require(events.count == 5)
            #expect(one.output == "\(events[0].dot)\n")
            let dot = "\"\(events[1].dot)\""
            #expect(typed.output == "{\"count\":1,\"first\":\(dot),\"last\":\(dot)}\n")
            #expect(lines.output == "2 events, last \(events[3].dot)\n")
            let read = try await CommandRun.lanyard(["events", "s"], socket: server.socketPath)
            #expect(read.lines.count == 5)
            #expect(read.lines[0].contains(#""type":null,"payload":{"n":1.0e5},"#))
            #expect(read.lines[2].contains(#""type":"u","payload":[1],"#))
            let after = try await CommandRun.lanyard(
                ["events", "s", "--after", events[3].position.text], socket: server.socketPath)
            #expect(after.lines == [read.lines[4]])
            let canonical = try await CommandRun.lanyard(
                ["events", "s", "--order", "canonical"], socket: server.socketPath)
            #expect(canonical.lines.first?.contains(#""payload":{"n":1.0e5}"#) == true)
        }
    }

    @Test func `a bad line stops the upload and says what was written`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(
                ["emit", "s", "-"], socket: server.socketPath, input: "1\n2\noops\n3\n")
            #expect(run.exitCode == 1)
            #expect(run.errors.hasPrefix("lanyard: Line 3: "))
            #expect(run.errors.contains("2 events before it were written"))
            #expect(run.errors.split(separator: "\n").count == 1)
            let json = try await CommandRun.lanyard(
                ["emit", "s", "-", "--json"], socket: server.socketPath, input: "oops")
            let error = try JSONDecoding.value(ErrorResponse.self, from: Array(json.errors.utf8), unknownKeys: .ignore)
            #expect(error.controlError.line == 1)
            #expect(error.controlError.written == 0)
        }
    }

    @Test func `a consumer reads each line once`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await CommandRun.lanyard(["emit", "s", "-"], socket: server.socketPath, input: "1\n2\n3")
            let first = try await CommandRun.lanyard(["events", "s", "--consumer", "c"], socket: server.socketPath)
            #expect(first.lines.count == 3)
            let second = try await CommandRun.lanyard(["events", "s", "--consumer", "c"], socket: server.socketPath)
            #expect(second.lines.isEmpty)
            var places: [String] = []
            try await server.client.readEvents(EventReadRequest(stream: "s")) { places += $0.map(\.position.text) }
            let set = try await CommandRun.lanyard(["consumers", "set", "c", places[0]], socket: server.socketPath)
            #expect(set.output == "c is at \(places[0]) in s, 2 events behind.\n")
            let again = try await CommandRun.lanyard(["events", "s", "--consumer", "c"], socket: server.socketPath)
            #expect(again.lines.count == 2)
            #expect(again.lines.allSatisfy { $0.hasSuffix("\"redelivered\":true}") })
            let table = try await CommandRun.lanyard(["consumers"], socket: server.socketPath)
            let last = places[2].padding(toLength: 8, withPad: " ", startingAt: 0)
            #expect(
                table.output
                    == "NAME  STREAM  ORDER    POSITION  BEHIND  STATE\nc     s       arrival  \(last)  0       reads\n"
            )
        }
    }

    @Test func `lines that could not be written are not acknowledged`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await CommandRun.lanyard(["emit", "s", "-"], socket: server.socketPath, input: "1\n2\n3")
            let full = try await CommandRun.program(
                "/bin/sh", ["-c", "exec \"$0\" events s --consumer c > /dev/full", CommandRun.lanyardPath],
                environment: ["LANYARD_SOCKET": server.socketPath])
            #expect(full.exitCode == 1)
            #expect(try await server.client.consumers().map(\.behind) == [3])
            let again = try await CommandRun.lanyard(["events", "s", "--consumer", "c"], socket: server.socketPath)
            #expect(again.lines.count == 3)
        }
    }

    @Test func `a reader that goes away ends the command quietly`() async throws {
        try await LiveServer.with { server async throws in
            let input = (0..<20_000).map(String.init).joined(separator: "\n")
            _ = try await CommandRun.lanyard(["emit", "s", "-"], socket: server.socketPath, input: input)
            let run = try await CommandRun.program(
                "/bin/bash", ["-c", "set -o pipefail; \"$0\" events s | head -1", CommandRun.lanyardPath],
                environment: ["LANYARD_SOCKET": server.socketPath, "PATH": "/usr/bin:/bin"])
            #expect(run.exitCode == 0)
            #expect(run.lines.count == 1)
            #expect(run.errors.isEmpty)
        }
    }

    @Test func `an unknown stream prints nothing but a hint`() async throws {
        try await LiveServer.with { server async throws in
            let run = try await CommandRun.lanyard(["events", "nothing"], socket: server.socketPath)
            #expect(run.exitCode == 0)
            #expect(run.output.isEmpty)
            #expect(run.errors.contains("lanyard emit nothing"))
        }
    }

    @Test func `a ticket is read from standard input`() async throws {
        try await LiveServer.with(named: "attic") { inviter async throws in
            let ticket = try await inviter.client.invite().ticket
            try await LiveServer.with { server async throws in
                let run = try await CommandRun.lanyard(
                    ["join", "-"], socket: server.socketPath, input: "  \(ticket)\n")
                #expect(run.exitCode == 0, "\(run.errors)")
            }
            try await LiveServer.with(named: "late") { server async throws in
                let again = try await CommandRun.lanyard(["join", ticket], socket: server.socketPath)
                #expect(again.exitCode == 4)
            }
        }
    }

    private static let failing: [(arguments: [String], code: Int32)] = [
        (["nonsense"], 2), (["status", "--nonsense"], 2), (["emit"], 2), (["emit", "s", "t", "1", "2"], 2),
        (["emit", "a/b", "1"], 2), (["emit", "s", "{"], 1), (["events", "s", "--order", "random"], 2),
        (["events", "s", "--after", "-"], 2), (["wait", "--timeout", "soon"], 2),
        (["wait", "--peers", "5", "--timeout", "1s"], 6), (["peers", "add", "nowhere"], 2),
        (["peers", "remove", "h:1"], 3), (["consumers", "remove", "x"], 3), (["consumers", "set", "x", "1"], 3),
        (["status", "--space", "other"], 3), (["status", "--space", ""], 2), (["why", "bob"], 3),
        (["completion", "tcsh"], 2), (["get", "a/b"], 3), (["get", "a"], 2), (["put", "a"], 2),
        (["put", "a/b/c", "{}"], 2), (["put", "a/b", "{"], 1), (["put", "a/b", "[]"], 1),
        (["put", "a/b", "{}", "--if-version", "x"], 2), (["put", "a/b", "{}", "--if-version", "r:1"], 4),
        (["put", "a/b", "{}", "--if-version", "r:1", "--if-absent"], 2), (["list", "nothing"], 3),
        (["list", "a", "--where", "x"], 2), (["list", "a", "--limit", "0"], 2), (["edit", "a/b", "n+=1"], 3),
        (["edit", "a/b", "n.frob=1"], 2), (["edit", "a/b"], 2), (["edit", "a/b", "n+=x", "--create"], 1),
        (["edit", "a/b", "x.insert@3=1", "--create"], 1), (["history", "a/b"], 3), (["delete", "a"], 2),
        (["history", "a/b", "--at", "r:1"], 3), (["watch", "--after", "x"], 2), (["schema", "show", "a"], 3),
        (["schema", "set", "a", "/nonexistent"], 3), (["conflicts", "resolve", "a/b", "keep"], 3),
        (["conflicts", "resolve", "a/b", "maybe"], 2), (["streams", "set", "s"], 2),
        (["streams", "set", "s", "--retain", "soon"], 2), (["undelete", "a/b"], 2),
    ]

    @Test func `exit codes are the promised ones, and errors are one line`() async throws {
        try await LiveServer.with { server async throws in
            for (arguments, code) in Self.failing {
                let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
                #expect(run.exitCode == code, "\(arguments): \(run.errors)")
                #expect(run.errors.split(separator: "\n").count == 1, "\(arguments): \(run.errors)")
                #expect(run.errors.hasPrefix("lanyard: "))
                let json = try await CommandRun.lanyard(["--json"] + arguments, socket: server.socketPath)
                #expect(json.exitCode == code, "\(arguments): \(json.errors)")
                let error = try JSONDecoding.value(
                    ErrorResponse.self, from: Array(json.errors.utf8), unknownKeys: .refuse)
                #expect(error.controlError.code.exitCode.rawValue == code)
            }
        }
    }

    @Test func `without an agent commands say how to start one`() async throws {
        let temporary = try TemporaryDirectory()
        let directory = temporary.path
        for command in [["status"], ["peers"], ["emit", "s", "1"], ["events", "s"], ["wait"], ["devices"]] {
            let run = try await CommandRun.lanyard(command + ["--data-dir", directory])
            #expect(run.exitCode == 5)
            #expect(run.errors.contains("lanyardd --data-dir \(directory)"))
        }
        let why = try await CommandRun.lanyard(["why", "--json", "--data-dir", directory])
        #expect(why.exitCode == 0)
        let answer = try JSONDecoding.value(WhyResponse.self, from: Array(why.output.utf8), unknownKeys: .refuse)
        #expect(!answer.inStep)
        #expect(answer.errors.first?.code == "agent_not_running")
        #expect(answer.hint.contains("lanyardd --data-dir \(directory)"))
        let doctor = try await CommandRun.lanyard(["doctor", "--json", "--data-dir", directory])
        #expect(doctor.exitCode == 1)
        let checks = try JSONDecoding.value([DoctorCheck].self, from: Array(doctor.output.utf8), unknownKeys: .refuse)
        #expect(checks.count >= 10)
        #expect(checks.first { $0.check == "agent" }?.state == .failed)
        #expect(checks.first { $0.check == "durable_write" }?.state == .ok)
        #expect(checks.allSatisfy { $0.state == .ok || !$0.hint.isEmpty })
        let version = try await CommandRun.lanyard(["version", "--data-dir", directory])
        #expect(version.exitCode == 0)
        #expect(version.output.contains("not running"))
    }

    @Test func `doctor names a data directory that others can read`() async throws {
        let temporary = try TemporaryDirectory()
        _ = FileManager.default.createFile(atPath: "\(temporary.path)/identity.pem", contents: Data())
        chmod("\(temporary.path)/identity.pem", 0o644)
        chmod(temporary.path, 0o755)
        let run = try await CommandRun.lanyard(["doctor", "--json", "--data-dir", temporary.path])
        let checks = try JSONDecoding.value([DoctorCheck].self, from: Array(run.output.utf8), unknownKeys: .refuse)
        #expect(checks.first { $0.check == "data_directory" }?.hint == "Close it: chmod 700 \(temporary.path)")
        #expect(checks.first { $0.check == "key_files" }?.state == .failed)
    }

    @Test func `the log is shown from its end, without an agent`() async throws {
        let temporary = try TemporaryDirectory()
        let missing = try await CommandRun.lanyard(["logs", "--data-dir", temporary.path])
        #expect(missing.exitCode == 3)
        let lines = (1...5_000).map { "line \($0)" }
        let text = lines.joined(separator: "\n") + "\n"
        _ = FileManager.default.createFile(atPath: "\(temporary.path)/agent.log", contents: Data(text.utf8))
        let newest = try await CommandRun.lanyard(["logs", "--lines", "2", "--data-dir", temporary.path])
        #expect(newest.lines == ["line 4999", "line 5000"])
        let all = try await CommandRun.lanyard(["logs", "--lines", "9000", "--data-dir", temporary.path])
        #expect(all.lines == lines)
    }

    @Test func `help lists what is built and nothing else`() async throws {
        let help = try await CommandRun.lanyard(["--help"])
        #expect(help.exitCode == 0)
        let built = [
            "status", "peers", "why", "invite", "pair", "join", "devices", "emit", "events", "streams", "consumers",
            "wait",
            "doctor", "logs", "version", "completion", "put", "get", "list", "edit", "delete", "deleted", "history",
            "watch", "conflicts", "schema", "attach", "attachments", "fetch", "detach", "pin", "unpin", "spaces",
            "compact", "backup", "restore", "export", "import", "snapshot", "ping", "top", "run", "undo",
            "restore-point", "dashboard", "recovery", "reload", "id",
        ]
        let listed = help.lines.filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") && !$0.hasPrefix("  -") }
            .compactMap { $0.split { $0 == " " || $0 == "," }.first.map(String.init) }.filter { $0 != "See" }
        #expect(Set(listed) == Set(built))
        for command in built {
            // These only have subcommands.
            let word = ["conflicts": "list", "schema": "show", "snapshot": "save"][command]
            let run = try await CommandRun.lanyard([command] + (word.map { [$0] } ?? []) + ["--help"])
            #expect(run.exitCode == 0)
            #expect(run.output.contains("--json"))
            #expect(run.output.contains("--data-dir"))
        }
    }

    @Test func `help calls what holds the data a device, whatever it is called elsewhere`() async throws {
        let commands = [
            [], ["status"], ["peers"], ["why"], ["wait"], ["spaces"], ["spaces", "set"], ["compact"], ["doctor"],
            ["logs"], ["dashboard"],
            ["invite"], ["join"], ["devices"], ["devices", "log"], ["devices", "retire"], ["devices", "block"],
            ["devices", "unblock"], ["devices", "role"], ["devices", "revoke"], ["recovery"], ["recovery", "create"],
            ["recovery", "use"], ["recovery", "use", "revoke"], ["recovery", "use", "role"],
            ["delete"], ["history"], ["watch"], ["conflicts", "resolve"], ["schema", "set"], ["attach"], ["fetch"],
            ["detach"], ["pin"], ["emit"], ["events"], ["streams", "set"], ["consumers"], ["snapshot"],
            ["snapshot", "save"], ["snapshot", "restore"], ["backup"], ["restore"], ["export"], ["import"],
            ["ping"], ["top"], ["run"], ["undo"], ["restore-point"], ["reload"], ["id"],
        ]
        for command in commands {
            let run = try await CommandRun.lanyard(command + ["--help"])
            let words = run.output.lowercased().split { !$0.isLetter }
            for other in ["machine", "machines", "node", "nodes", "member", "members", "peer"] {
                #expect(!words.contains(Substring(other)), "lanyard \(command.joined(separator: " ")) --help: \(other)")
            }
        }
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completion scripts name the commands`(shell: String) async throws {
        let run = try await CommandRun.lanyard(["completion", shell])
        #expect(run.exitCode == 0)
        #expect(run.output.contains("consumers"))
    }
}
