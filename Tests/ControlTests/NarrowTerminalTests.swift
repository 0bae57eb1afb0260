import ControlAPI
import LanyardClient
import Testing

/// Terminals that are narrower than what there is to say.
@Suite(.serialized, .timeLimit(.minutes(5))) struct NarrowTerminalTests {
    @Test(arguments: [40, 60, 100]) func `tables fit, and keep what matters most`(columns: Int) async throws {
        let agent = MemoryAgent(peers: [
            Peer(
                id: "BBBBBBB-X", shortID: "BBBBBBB", name: "the kitchen's large computer", state: .connected,
                paired: true,
                address: "[fd00:1234:5678::9abc]:21817", via: .mdns, rttMilliseconds: 0.42,
                behind: .init(us: 0, them: 0)),
            Peer(id: nil, shortID: nil, name: "hall", state: .discovered, paired: false),
        ])
        try await LiveServer.with(agent) { server async throws in
            _ = try await server.client.put(ObjectPut(collection: "note", id: "n", fields: try JSONText("{}")))
            _ = try await server.client.emit(try JSONText("1"), to: "a-rather-long-name-of-a-stream")
            for command in [["peers"], ["devices"], ["streams"], ["spaces"]] {
                let run = try await CommandRun.lanyard(
                    command, socket: server.socketPath, environment: ["COLUMNS": "\(columns)"])
                #expect(run.exitCode == 0)
                #expect(run.lines.allSatisfy { $0.count <= columns }, "\(command) \(columns):\n\(run.output)")
                #expect(run.lines.first?.hasPrefix("NAME") == true)
            }
            let peers = try await CommandRun.lanyard(
                ["peers"], socket: server.socketPath, environment: ["COLUMNS": "40"])
            #expect(peers.lines.first?.contains("STATE") == true)
            let wide = try await CommandRun.lanyard(["peers"], socket: server.socketPath)
            #expect(wide.output.contains("the kitchen's large computer") && wide.output.contains("LAST SYNC"))
        }
    }
}
