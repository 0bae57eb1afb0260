import ControlAPI
import Foundation
import LanyardClient
import Testing

/// The log of trust: the route, the client and the command.
@Suite(.timeLimit(.minutes(20))) struct DeviceLogTests {
    private static let log = "/v1/spaces/home/devices/log"

    @Test(arguments: Road.allCases)
    func `each side of a pairing is a line, with both clocks, and pages go behind a place`(road: Road) async throws {
        try await road.withAgent { request, live async throws in
            #expect(try await request("GET", Self.log).text == "[]")
            let begin = Timestamp(millisecondsSinceEpoch: Int64(Date().timeIntervalSince1970 * 1_000) - 1)
            let attic = try await live.addAwayMember(named: "attic")
            let entries = try (try await request("GET", Self.log)).value([TrustEntry].self)
            #expect(Set(entries.map(\.action)) == ["admitted", "joined"] && entries.count == 2)
            let admitted = try #require(entries.first { $0.action == "admitted" })
            let joined = try #require(entries.first { $0.action == "joined" })
            #expect(admitted.author == live.device && admitted.authorName == "desk")
            #expect(admitted.device == attic.device && admitted.deviceName == "attic" && admitted.role == .writer)
            #expect(joined.author == attic.device && joined.device == live.device && joined.deviceName == "desk")
            for entry in entries {
                #expect(entry.inEffect && entry.reason == nil)
                #expect(try #require(entry.at) > begin)
                #expect(try #require(entry.knownSince) > begin)
            }
            let first = try await request("GET", Self.log + "?limit=1")
            #expect(try first.value([TrustEntry].self) == [entries[0]])
            let next = try #require(first.headers["lanyard-next"])
            #expect(
                try (try await request("GET", Self.log + "?after=\(next)")).value([TrustEntry].self) == [entries[1]])
            let lines = try await request("GET", Self.log, headers: [("Accept", "application/x-ndjson")])
            #expect(lines.text.split(separator: "\n").count == 2)
            for wrong in ["?after=x", "?after=-1", "?limit=0", "?before=1"] {
                #expect(try await request("GET", Self.log + wrong).status == 400, "\(wrong)")
            }
            #expect(try await request("GET", "/v1/spaces/other/devices/log").status == 404)
        }
    }

    @Test func `what was decided stays, and says why it does not hold any more`() async throws {
        try await LiveServer.with { server async throws in
            let attic = try await server.live.addAwayMember(named: "attic")
            func log() async throws -> [TrustEntry] {
                var all: [TrustEntry] = []
                try await server.client.readDeviceLog { all += $0 }
                return all
            }
            _ = try await server.client.block(device: attic.device)
            _ = try await server.client.block(device: attic.device)
            #expect(try await log().suffix(1).map(\.action) == ["blocked"])
            #expect(try await log().last?.inEffect == true)
            _ = try await server.client.unblock(device: attic.device)
            let blocks = try await log().suffix(2)
            #expect(blocks.map(\.action) == ["blocked", "unblocked"] && blocks.map(\.inEffect) == [false, true])
            #expect(blocks.map(\.reason) == ["undone", nil])
            #expect(blocks.allSatisfy { $0.author == server.live.device && $0.device == attic.device })
            _ = try await server.client.retire(device: attic.device)
            let all = try await log()
            #expect(all.count == 5 && all.last?.action == "retired" && all.last?.inEffect == true)
            #expect(all.first { $0.action == "admitted" }?.reason == "retired")
            #expect(all.last?.role == nil && all.last?.deviceName == "attic")
        }
    }

    @Test func `the command shows who did what to whom, with names that cannot draw`() async throws {
        try await LiveServer.with { server async throws in
            func lanyard(_ arguments: String...) async throws -> CommandRun {
                try await CommandRun.lanyard(["devices", "log"] + arguments, socket: server.socketPath)
            }
            let none = try await lanyard()
            #expect(none.exitCode == 0 && none.output.isEmpty)
            #expect(try await lanyard("--json").output == "[]\n")
            let attic = try await server.live.addAwayMember(named: "at\u{202E}tic")
            let run = try await lanyard("--format", "who,did,whom,in-effect", "--no-headers")
            #expect(run.exitCode == 0, "\(run.errors)")
            #expect(
                Set(run.lines) == [
                    "desk    let in          at\u{FFFD}tic  yes", "at\u{FFFD}tic  joined through  desk    yes",
                ])
            let joined = try await lanyard("--where", "action = joined", "--json")
            let entries = try JSONDecoding.value(
                [TrustEntry].self, from: Array(joined.output.utf8), unknownKeys: .ignore)
            #expect(entries.map(\.author) == [attic.device])
            #expect(try await lanyard("--where", "actoin = joined").exitCode == 3)
            #expect(try await lanyard("--format", "whom,what").exitCode == 2)
            let full = try await lanyard()
            #expect(full.lines.count == 3 && full.lines[0].hasPrefix("WHEN"), "\(full.output)")
            _ = try await server.client.retire(device: attic.device)
            let retired = try await lanyard("--format", "did,in-effect", "--no-headers").lines
            #expect(retired.contains("let in          no: retired") && retired.contains("retired         yes"))
        }
    }
}
