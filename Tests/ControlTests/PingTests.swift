import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import Testing

@Suite(.timeLimit(.minutes(20))) struct PingTests {
    private func object(_ run: CommandRun) throws -> [String: Any] {
        try #require(try run.json() as? [String: Any], "\(run.output)\(run.errors)")
    }

    @Test func `a ping measures the session and the other disk, and writes nothing`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { peer async throws in
                try await server.live.put("note/n", #"{"a":1}"#)
                try await server.live.converge(with: peer)
                let before = try await server.client.status().spaces[0].versionVector
                for name in ["attic", peer.device, peer.shortID.lowercased()] {
                    let answer = try await server.client.ping(name, timeoutMilliseconds: 30_000)
                    #expect(answer.id == peer.device && answer.name == "attic" && answer.connected)
                    #expect(try #require(answer.rttMilliseconds) > 0)
                    #expect(try #require(answer.durableMilliseconds) > 0)
                    #expect(answer.address != nil && answer.nextAttempt == nil)
                }
                #expect(try await server.client.status().spaces[0].versionVector == before)
            }
        }
    }

    @Test func `rounds are shown one by one and summed up, as text and as JSON`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "at\u{202E}tic") { peer async throws in
                let arguments = ["ping", peer.shortID, "--count", "2", "--interval", "100ms", "--timeout", "30s"]
                let run = try await CommandRun.lanyard(arguments, socket: server.socketPath)
                #expect(run.exitCode == 0, "\(run.errors)")
                #expect(run.lines.filter { $0.hasPrefix("at\u{FFFD}tic  127.0.0.1:") }.count == 2, "\(run.output)")
                let sum = try #require(run.lines.first { $0.hasPrefix("2 rounds, 2 answered; rtt min/avg/max ") })
                #expect(sum.contains("; durable min/avg/max "))
                #expect(!run.output.contains("\u{202E}"))

                let json = try await CommandRun.lanyard(arguments + ["--json"], socket: server.socketPath)
                let answer = try object(json)
                #expect(answer["path"] as? String == "127.0.0.1:\(peer.agent.listenPort)")
                #expect(answer["rounds"] as? Int == 2 && answer["answered"] as? Int == 2)
                #expect(try #require(answer["rttMilliseconds"] as? Double) > 0)
                let durable = try #require(answer["durable"] as? [String: Double])
                let average = try #require(answer["durableMilliseconds"] as? Double)
                #expect(try #require(durable["minimum"]) <= average + 0.001)
                #expect(average <= (try #require(durable["maximum"])) + 0.001)
            }
        }
    }

    @Test func `a device without a session, an unknown and an unpaired one each give a code of their own`()
        async throws
    {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "attic")
            let away = try await CommandRun.lanyard(
                ["ping", "attic", "-c", "1", "--json"], socket: server.socketPath)
            #expect(away.exitCode == 1)
            #expect(try object(away)["connected"] as? Bool == false)
            #expect(try object(away)["rttMilliseconds"] is NSNull)
            #expect(try object(away)["tcpMilliseconds"] is NSNull)
            #expect(try object(away)["tcpFailure"] as? String == "connection_refused")
            #expect(away.errors.contains(#""code":"unreachable""#) && away.errors.contains("lanyard why attic"))
            let own = try await CommandRun.lanyard(["ping", server.live.shortID], socket: server.socketPath)
            #expect(own.exitCode == 2 && own.errors.contains("is this device itself"), "\(own.errors)")
            let unknown = try await CommandRun.lanyard(["ping", "cellar"], socket: server.socketPath)
            #expect(unknown.exitCode == 3 && unknown.output.isEmpty)
            #expect(unknown.errors.contains("lanyard peers"))
            _ = try await server.client.addPeer(try HostPort(parsing: "127.0.0.1:1"))
            let unpaired = try await CommandRun.lanyard(["ping", "127.0.0.1:1"], socket: server.socketPath)
            #expect(unpaired.exitCode == 4, "\(unpaired.errors)")
        }
    }

    @Test func `without a session a TCP connection shows the round trip`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { attic async throws in
                let address = "127.0.0.1:\(attic.agent.listenPort)"
                // It refuses the session, and listens.
                try await attic.apart(from: server.live) {
                    let answer = try await server.client.ping("attic", timeoutMilliseconds: 30_000)
                    #expect(!answer.connected && answer.rttMilliseconds == nil && answer.address == address)
                    #expect(try #require(answer.tcpMilliseconds) > 0 && answer.tcpFailure == nil)
                    let run = try await CommandRun.lanyard(
                        ["ping", "attic", "-c", "2", "-i", "100ms"], socket: server.socketPath)
                    #expect(run.exitCode == 1 && run.errors.contains("lanyard why attic"), "\(run.errors)")
                    let rounds = run.lines.filter {
                        $0.hasPrefix("attic  no session; a TCP connection to \(address) took ")
                    }
                    #expect(rounds.count == 2, "\(run.output)")
                    #expect(run.output.contains("2 rounds, 0 answered; TCP min/avg/max "), "\(run.output)")
                    // This one blocks the other: it has nothing to do with it.
                    let none = try await attic.agent.ping("desk", timeoutMilliseconds: 30_000)
                    #expect(!none.connected && none.tcpMilliseconds == nil && none.tcpFailure == nil)
                }
            }
            let away = try await CommandRun.lanyard(["ping", "attic", "-c", "1"], socket: server.socketPath)
            #expect(away.exitCode == 1)
            #expect(away.lines.first?.contains(": connection refused") == true, "\(away.output)")
        }
    }

    @Test(arguments: [["--count", "-1"], ["--interval", "1ms"], ["--timeout", "2m"], ["--timeout", "0s"]])
    func `what cannot be meant is refused`(option: [String]) async throws {
        let run = try await CommandRun.lanyard(["ping", "attic"] + option)
        #expect(run.exitCode == 2, "\(run.errors)")
    }

    @Test(arguments: Road.allCases) func `the route refuses what it cannot do`(road: Road) async throws {
        try await road.with { request async throws in
            #expect(try await request("GET", "/v1/peers/cellar/ping").code == "unknown_peer")
            for query in ["timeoutMilliseconds=0", "timeoutMilliseconds=60001", "rounds=2"] {
                #expect(try await request("GET", "/v1/peers/cellar/ping?\(query)").status == 400, "\(query)")
            }
        }
    }
}
