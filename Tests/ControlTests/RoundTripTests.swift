import ControlAPI
import ControlServer
import Foundation
import LanyardClient
import SyncAgent
import SyncModel
import Testing

/// The round trip between two other devices, as one of them measured it.
@Suite(.timeLimit(.minutes(20))) struct RoundTripTests {
    /// Runs `body` with attic and kitchen, members that have a session with each other.
    private func withThree(_ body: (LiveServer, LiveAgent, LiveAgent) async throws -> Void) async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { attic async throws in
                try await server.live.withPeer(named: "kitchen") { kitchen async throws in
                    _ = try await attic.agent.addPeer(kitchen.address)
                    try await attic.converge(with: kitchen)
                    try await body(server, attic, kitchen)
                }
            }
        }
    }

    @Test func `a device tells what it measured to a third one, and to the one that asks`() async throws {
        try await withThree { server, attic, kitchen async throws in
            _ = try await attic.agent.ping("kitchen", timeoutMilliseconds: 30_000)
            _ = try await attic.agent.ping("desk", timeoutMilliseconds: 30_000)
            for (to, id) in [("kitchen", kitchen.device), ("desk", server.live.device)] {
                let answer = try await server.client.roundTrip(to: to, from: "attic", timeoutMilliseconds: 30_000)
                #expect(answer.from == .init(id: attic.device, name: "attic"))
                #expect(answer.to == .init(id: id, name: to))
                #expect(answer.connected)
                #expect(try #require(answer.rttMilliseconds) > 0)
            }
            let run = try await CommandRun.lanyard(
                ["ping", "kitchen", "--from", attic.shortID, "--timeout", "30s"], socket: server.socketPath)
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(run.output.hasPrefix("attic to kitchen  rtt ") && run.output.hasSuffix(" ms\n"), "\(run.output)")
            let json = try await CommandRun.lanyard(
                ["ping", "kitchen", "--from", "attic", "--timeout", "30s", "--json"], socket: server.socketPath)
            let answer = try #require(try json.json() as? [String: Any], "\(json.output)")
            #expect(answer["connected"] as? Bool == true && answer["rttMilliseconds"] is Double)
        }
    }

    @Test func `without a session between the two it says so, and nothing is left present afterwards`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "kitchen")
            try await server.live.withPeer(named: "attic") { attic async throws in
                let answer = try await server.client.roundTrip(
                    to: "kitchen", from: "attic", timeoutMilliseconds: 30_000)
                #expect(!answer.connected && answer.rttMilliseconds == nil)
                let run = try await CommandRun.lanyard(
                    ["ping", "kitchen", "--from", "attic", "--timeout", "30s"], socket: server.socketPath)
                #expect(run.exitCode == 1 && run.errors.contains("attic has no session with kitchen"), "\(run.errors)")
                for live in [server.live, attic] {
                    for topic in [LinkQuestion.topic, LinkQuestion.answerTopic] {
                        try await live.until { agent async throws in agent.presence.participants(in: topic).isEmpty }
                    }
                }
            }
        }
    }

    @Test func `without a session between the two, the one that is asked measures a TCP connection`() async throws {
        try await withThree { server, attic, kitchen async throws in
            try await attic.apart(from: kitchen) {
                let answer = try await server.client.roundTrip(
                    to: "attic", from: "kitchen", timeoutMilliseconds: 30_000)
                #expect(!answer.connected && answer.rttMilliseconds == nil && answer.tcpFailure == nil)
                #expect(answer.address == "127.0.0.1:\(attic.agent.listenPort)")
                #expect(try #require(answer.tcpMilliseconds) > 0)
                let run = try await CommandRun.lanyard(
                    ["ping", "attic", "--from", "kitchen", "--timeout", "30s"], socket: server.socketPath)
                #expect(run.exitCode == 1)
                let sentence = "kitchen has no session with attic; from there, a TCP connection to 127.0.0.1:"
                #expect(run.errors.contains(sentence) && run.errors.contains("lanyard why attic"), "\(run.errors)")
                // Attic has blocked kitchen: it does not dial it, whichever device asks.
                let blocked = try await server.client.roundTrip(
                    to: "kitchen", from: "attic", timeoutMilliseconds: 30_000)
                #expect(!blocked.connected && blocked.address == nil && blocked.tcpMilliseconds == nil)
            }
        }
    }

    @Test func `many questions about one device cost one connection, and agents from before read the answers`()
        async throws
    {
        /// As it was before handshakes were measured.
        struct EarlierAnswer: Decodable {
            let asker: String
            let connected: Bool
            let roundTripMicroseconds: Int64?
        }
        try await LiveServer.with { server async throws in
            let (desk, attic) = (server.live.agent.device, try await server.live.addAwayMember(named: "attic"))
            try await server.live.withPeer(named: "kitchen") { kitchen async throws in
                let listener = try MuteListener(port: attic.agent.listenPort)
                defer { listener.close() }
                let board = kitchen.agent.presence
                let sessions = try (0..<8).map { _ in try board.join(LinkQuestion.topic) }
                let start = ContinuousClock.now
                for session in sessions {
                    let question = LinkQuestion(asked: desk, peer: attic.agent.device)
                    try board.set(question.value, of: session, in: LinkQuestion.topic)
                }
                try await kitchen.until { agent async throws in
                    sessions.allSatisfy { session in
                        let answer = board.linkAnswer(of: desk, to: session, asker: agent.device)
                        return answer?.tcpMicroseconds != nil && answer?.isMeasuring == nil
                    }
                }
                try await kitchen.until { _ async throws in listener.emptyConnections > 0 }
                // One a second at most, and the questions may come over several on a machine that is busy.
                let connections = listener.emptyConnections
                let seconds = Int((ContinuousClock.now - start).components.seconds)
                #expect(connections <= 1 + seconds)
                let values = board.participants(in: LinkQuestion.answerTopic).map(\.value)
                #expect(values.count == 8 && values.allSatisfy { $0.count < 300 })
                for value in values {
                    let answer = try JSONDecoder().decode(EarlierAnswer.self, from: Data(value))
                    #expect(answer.asker == kitchen.device && !answer.connected && answer.roundTripMicroseconds == nil)
                }
            }
        }
    }

    @Test func `a device that is away does not answer, and names are checked`() async throws {
        try await LiveServer.with { server async throws in
            _ = try await server.live.addAwayMember(named: "attic")
            _ = try await server.live.addAwayMember(named: "kitchen")
            let run = try await CommandRun.lanyard(
                ["ping", "kitchen", "--from", "attic", "--timeout", "100ms"], socket: server.socketPath)
            #expect(run.exitCode == 6 && run.errors.contains("attic did not answer in time"), "\(run.errors)")
            for (to, from, exit) in [
                ("kitchen", "cellar", 3), ("cellar", "attic", 3), ("kitchen", "desk", 2), ("attic", "attic", 2),
            ] {
                let run = try await CommandRun.lanyard(["ping", to, "--from", from], socket: server.socketPath)
                #expect(run.exitCode == exit, "\(to) \(from): \(run.errors)")
            }
            let rounds = try await CommandRun.lanyard(
                ["ping", "kitchen", "--from", "attic", "--count", "2"], socket: server.socketPath)
            #expect(rounds.exitCode == 2 && rounds.errors.contains("--from asks once"))
        }
    }

    @Test(arguments: Road.allCases) func `the route names what is missing, and topics of the agent are its own`(
        road: Road
    ) async throws {
        try await road.with { request async throws in
            let missing = try await request("GET", "/v1/peers/attic/round-trip")
            #expect(missing.code == "invalid_argument")
            #expect(try await request("GET", "/v1/peers/attic/round-trip?from=cellar").code == "unknown_peer")
            let topic = "/v1/spaces/home/presence/lanyard:link-answer"
            #expect(try await request("GET", topic).code == "invalid_name")
        }
    }

    @Test func `what another device calls a question may be anything`() async throws {
        try await LiveServer.with { server async throws in
            try await server.live.withPeer(named: "attic") { attic async throws in
                let board = server.live.agent.presence
                for text in ["7", "{", #"{"asked":7}"#, #"{"asked":"\#(attic.device)","peer":"\u{202E}"}"#] {
                    let session = try board.join(LinkQuestion.topic)
                    try board.set(Array(text.utf8), of: session, in: LinkQuestion.topic)
                }
                // More than a device answers at once; the questions stay.
                for _ in 0..<20 {
                    let session = try board.join(LinkQuestion.topic)
                    let question = LinkQuestion(asked: attic.agent.device, peer: attic.agent.device)
                    try board.set(question.value, of: session, in: LinkQuestion.topic)
                }
                try await server.live.until { agent async throws in
                    agent.presence.participants(in: LinkQuestion.answerTopic).count == 8
                }
                try await server.live.put("note/n", #"{"a":1}"#)
                try await server.live.converge(with: attic)
                #expect(server.live.agent.presence.participants(in: LinkQuestion.answerTopic).count == 8)
            }
        }
    }
}
