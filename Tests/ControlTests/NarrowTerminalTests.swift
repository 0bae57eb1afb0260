import ControlAPI
import LanyardClient
import Testing

/// Terminals that are narrower than what there is to say.
@Suite(.serialized, .timeLimit(.minutes(20))) struct NarrowTerminalTests {
    @Test func `tables fit, and keep what matters most`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            _ = try await server.client.emit(try JSONText("1"), to: "a-rather-long-name-of-a-stream")
            _ = try await server.client.addPeer(try HostPort(parsing: "[fd00:1234:5678::9abc]:21817"))
            try await server.live.withPeer(named: "the kitchen's large computer") { _ async throws in
                for columns in [24, 40, 60, 100] {
                    for command in [["peers"], ["devices"], ["streams"], ["spaces"]] {
                        let run = try await CommandRun.lanyard(
                            command, socket: server.socketPath, environment: ["COLUMNS": "\(columns)"])
                        #expect(run.exitCode == 0)
                        #expect(run.lines.allSatisfy { $0.count <= columns }, "\(command) \(columns):\n\(run.output)")
                        #expect(run.lines.first?.hasPrefix("NAME") == true)
                    }
                }
                let peers = try await CommandRun.lanyard(
                    ["peers"], socket: server.socketPath, environment: ["COLUMNS": "40"])
                #expect(peers.lines.first?.contains("STATE") == true)
                let wide = try await CommandRun.lanyard(["peers"], socket: server.socketPath)
                #expect(wide.output.contains("the kitchen's large computer") && wide.output.contains("LAST SYNC"))
            }
        }
    }

    @Test(arguments: [40, 60]) func `sentences are broken between words, commands are not torn from their name`(
        columns: Int
    ) async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "phone")
            try await server.live.put("note/n", "{}")
            for command in [["status"], ["doctor"], ["why"]] {
                let run = try await CommandRun.lanyard(
                    command, socket: server.socketPath, environment: ["COLUMNS": "\(columns)"])
                for line in run.lines where line.count > columns {
                    #expect(!line.drop { $0 == " " }.contains(" "), "\(command) \(columns): \(line)")
                }
                #expect(run.lines.allSatisfy { !$0.hasSuffix("lanyard") })
                // How long a check of the doctor takes differs, and so do ages; a store grows by what the agent notes meanwhile.
                guard command == ["status"] else { continue }
                let whole = try await CommandRun.lanyard(command, socket: server.socketPath)
                let words = { (text: String) in
                    text.replacing(/up\s+\d+\s+(?:s|min)/, with: "up")
                        .replacing(/store\s+[\d.]+\s+\w+,/, with: "store")
                        .split { $0 == " " || $0 == "\n" }.map(String.init)
                }
                #expect(words(run.output) == words(whole.output), "nothing is lost")
            }
            let error = try await CommandRun.lanyardAtTerminal(
                ["get", "note/none"], socket: server.socketPath, typed: "", columns: UInt16(columns))
            let lines = error.errors.split(whereSeparator: \.isNewline)
            #expect(lines.count > 1 && lines.allSatisfy { $0.count <= columns }, "\(error.errors)")
            let piped = try await CommandRun.lanyard(["get", "note/none"], socket: server.socketPath)
            #expect(piped.errors.split(separator: "\n").count == 1)
        }
    }
}
